/* From a load to CPUs, nodes and heap: the same steps in the same order as stats/sizing/ in
   Python; a test compares the two. calculator.js says the results in words. */
window.sizebookSizing = (function () {
  "use strict";

  const STEPS = 64;
  const MIB = 1048576;
  const SHY = 1 - 1e-9;
  const BEYOND = 1.25;

  const costOf = (response, nodes) => (nodes > 1 ? response.node_cost : 1);
  const bearable = (response, cores, nodes) => (response.capacity_per_s * cores) / costOf(response, nodes);
  const amountOf = (asked) => (asked.users !== null ? asked.users : asked.rate_per_s);

  function withAmount(asked, amount) {
    const name = asked.users !== null ? "users" : "rate_per_s";
    return { ...asked, [name]: amount };
  }

  // the model in the CPUs that are asked for, and the question with the load grown
  function prepare(model, asked) {
    const factor = Math.pow(1 + asked.growth, asked.years) * (1 + asked.headroom);
    const grown = withAmount(asked, amountOf(asked) * factor);
    const question = { ...grown, growth: 0, years: 0, headroom: 0, cpu_worth: 1 };
    const worth = asked.cpu_worth;
    const old = model.response;
    const response = {
      ...old,
      capacity_per_s: old.capacity_per_s * worth,
      work_s: old.work_s / worth,
      wait_s: old.wait_s * Math.pow(worth, -old.exponent),
    };
    const domain = { ...model.domain, cores: model.domain.cores.map((each) => each / worth) };
    return { factor, question, model: { ...model, response, domain } };
  }

  function meanLimit(model, asked) {
    return asked.statistic === "mean"
      ? asked.limit_s
      : Math.pow(asked.limit_s / model.tail[0], 1 / model.tail[1]);
  }

  function secondsAt(response, rate, cores, nodes) {
    const load = rate / bearable(response, cores, nodes);
    if (!(load < 1)) {
      return Infinity;
    }
    const times = costOf(response, nodes);
    const waits = times * response.wait_s * Math.pow(cores, -response.exponent);
    return times * (response.base_s + response.work_s / cores) + (waits * Math.pow(load, response.power)) / (1 - load);
  }

  function rateOf(response, users, think, cores, nodes) {
    const times = costOf(response, nodes);
    const most = bearable(response, cores, nodes);
    const idle = think + times * (response.base_s + response.work_s / cores);
    const waits = times * response.wait_s * Math.pow(cores, -response.exponent);
    let low = 0;
    let high = Math.min(most, users / idle);
    for (let step = 0; step < STEPS; step += 1) {
      const middle = 0.5 * (low + high);
      const load = middle / most;
      const waiting = response.wait_s ? (waits * Math.pow(load, response.power)) / (1 - load) : 0;
      if (load < 1 && middle * (idle + waiting) <= users) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  function predict(model, asked, cores, nodes) {
    const byUsers = asked.users !== null;
    const rate = byUsers ? rateOf(model.response, asked.users, asked.think_s, cores, nodes) : asked.rate_per_s;
    const mean = byUsers ? asked.users / rate - asked.think_s : secondsAt(model.response, rate, cores, nodes);
    return {
      rate,
      mean,
      p95: model.tail[0] * Math.pow(mean, model.tail[1]),
      use: rate / bearable(model.response, cores, nodes),
    };
  }

  function isKept(model, asked, cores, nodes, [limit, ceiling]) {
    const found = predict(model, asked, cores, nodes);
    const kept = asked.statistic === "mean" ? found.mean : found.p95;
    return kept <= limit && found.rate <= ceiling * bearable(model.response, cores, nodes);
  }

  function fewestCores(model, asked, nodes, limits) {
    let [low, high] = model.domain.cores;
    if (!isKept(model, asked, high, nodes, limits)) {
      return null;
    }
    if (isKept(model, asked, low, nodes, limits)) {
      return low;
    }
    for (let step = 0; step < STEPS; step += 1) {
      const middle = 0.5 * (low + high);
      if (isKept(model, asked, middle, nodes, limits)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  function mostLoad(model, asked, cores, nodes) {
    const limit = meanLimit(model, asked);
    let low = 0;
    let high = bearable(model.response, cores, nodes);
    for (let step = 0; step < STEPS; step += 1) {
      const middle = 0.5 * (low + high);
      if (secondsAt(model.response, middle, cores, nodes) <= limit) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return SHY * (asked.users === null ? low : low * (asked.think_s + limit));
  }

  // the largest load that keeps criterion, ceiling and domain, and what limits it first
  function carried(model, asked, cores, nodes) {
    const { domain, response } = model;
    const loadAt = (rate, ...cpus) =>
      SHY * (asked.users === null ? rate : rate * (asked.think_s + secondsAt(response, rate, ...cpus)));
    const bounds = [["response", mostLoad(model, asked, cores, nodes)]];
    if (asked.ceiling !== null) {
      bounds.push(["utilization", loadAt(asked.ceiling * bearable(response, cores, nodes), cores, nodes)]);
    }
    if (domain.rate_per_s[1] < bearable(response, domain.cores[1], 1)) {
      bounds.push(["measured", loadAt(domain.rate_per_s[1], domain.cores[1], 1)]);
    }
    const [limit, amount] = bounds.reduce((least, each) => (each[1] < least[1] ? each : least));
    return { limit, amount };
  }

  function heapMib(heap, rate, pause) {
    const least = heap.live_bytes * heap.least_ratio;
    return Math.ceil(Math.max(least, heap.live_bytes + (heap.room_bytes * pause * rate) / heap.overhead) / MIB);
  }

  function outsideOf(model, asked, nodes, rate, cores, high) {
    const domain = model.domain;
    const found = [];
    const look = (key, value, low, top) => {
      if (!(low <= value && value <= (top === null ? Infinity : top))) {
        found.push({ key, found: value, low, high: top === null ? -1 : top });
      }
    };
    look("nodes", nodes, Math.min(...domain.nodes), Math.max(...domain.nodes));
    let offered;
    if (asked.users !== null) {
      look("users", asked.users, 1, domain.users[1]);
      look("think_s", asked.think_s, domain.think_s[0], domain.think_s[1]);
      offered = asked.think_s > 0 ? asked.users / asked.think_s : 0;
    } else {
      offered = asked.rate_per_s;
      if (domain.think_s[1] !== null) {
        found.push({ key: "open", found: offered, low: 0, high: 0 });
      }
    }
    if (cores === null) {
      found.push({ key: "cores", found: offered, low: domain.cores[0], high: domain.cores[1] });
    } else if (high === null) {
      found.push({ key: "cores_high", found: cores, low: domain.cores[0], high: domain.cores[1] });
    }
    if (rate !== null) {
      look("rate_per_s", rate, 0, domain.rate_per_s[1]);
    }
    look("response_s", meanLimit(model, asked), domain.response_s[0], domain.response_s[1]);
    return found;
  }

  // the answer to a prepared question
  function size(model, asked) {
    const nodes = 1 + asked.spare_nodes;
    const band = model.bands[asked.statistic];
    const wide = model.bands.rate;
    const ceiling = asked.ceiling === null ? Infinity : asked.ceiling;
    const [cores, low, high] = [
      [asked.limit_s, ceiling],
      [asked.limit_s * band, ceiling * wide],
      [asked.limit_s / band, ceiling / wide],
    ].map((limits) => fewestCores(model, asked, nodes, limits));
    const expected = cores === null ? null : predict(model, asked, cores, nodes);
    const rate = expected && expected.rate;
    const heap = model.heap;
    return {
      nodes,
      cores,
      low,
      high,
      expected,
      heap:
        heap === null || rate === null
          ? null
          : [heap.pause_s, heap.pause_low_s, heap.pause_high_s].map((pause) => heapMib(heap, rate, pause)),
      most: cores === null ? mostLoad(model, asked, model.domain.cores[1], nodes) : null,
      outside: outsideOf(model, asked, nodes, rate, cores, high),
    };
  }

  const isPriced = (offer) => Boolean(offer.price_per_cpu || offer.price_per_gib || offer.price_per_node);

  function priceOf(offer, cpus, nodes, memory) {
    if (!isPriced(offer) || (offer.price_per_gib && memory === null)) {
      return null;
    }
    return nodes * (offer.price_per_node + offer.price_per_cpu * cpus + offer.price_per_gib * (memory || 0));
  }

  function judge(model, asked, offer, cpus, nodes) {
    const left = nodes - asked.spare_nodes;
    const counted = Math.min(left * cpus, model.domain.cores[1]);
    const found = predict(model, asked, counted, nodes);
    const most = carried(model, asked, counted, nodes);
    const heap = model.heap === null ? null : heapMib(model.heap, found.rate / left, model.heap.pause_s);
    const needed = heap === null ? null : (heap + offer.beside_heap_mib) / 1024;
    const fitting = offer.memory_gib.filter((each) => each >= needed);
    const memory = needed === null || !offer.memory_gib.length ? needed : fitting.length ? Math.min(...fitting) : null;
    let rejected = null;
    if (nodes > Math.max(...model.domain.nodes)) {
      rejected = "nodes";
    } else if (counted < model.domain.cores[0]) {
      rejected = "cores";
    } else if (amountOf(asked) > most.amount) {
      rejected = most.limit;
    } else if (needed !== null && memory === null) {
      rejected = "memory";
    }
    const strict = {
      ...asked,
      limit_s: asked.limit_s / model.bands[asked.statistic],
      ceiling: asked.ceiling === null ? null : asked.ceiling / model.bands.rate,
    };
    const robust = rejected === null && amountOf(asked) <= carried(model, strict, counted, nodes).amount;
    const price = priceOf(offer, cpus, nodes, memory);
    return { nodes, cpus, left, counted, found, most, needed, memory, rejected, robust, price };
  }

  function byRank(one, other) {
    const rank = (each) => [each.price === null ? Infinity : each.price, each.nodes * each.cpus, each.nodes];
    const [first, second] = [rank(one), rank(other)];
    const place = first.findIndex((value, index) => value !== second[index]);
    return place < 0 ? 0 : first[place] - second[place];
  }

  // the best that fits of each size, best first, then the largest of each that does not
  function candidates(model, asked, offer) {
    const fit = [];
    const rejected = [];
    const least = 1 + asked.spare_nodes;
    for (const cpus of [...new Set(offer.cpus)].sort((one, other) => one - other)) {
      const tried = [];
      for (let nodes = least; nodes <= Math.max(least, ...model.domain.nodes); nodes += 1) {
        tried.push(judge(model, asked, offer, cpus, nodes));
      }
      const kept = tried.filter((each) => each.rejected === null).sort(byRank);
      const failed = tried.filter((each) => each.rejected !== null);
      fit.push(...kept.slice(0, 1));
      rejected.push(...failed.slice(-1));
    }
    return [...fit.sort(byRank), ...rejected];
  }

  function shownCpus(model, asked, offered, found) {
    if (offered.length && offered[0].rejected === null) {
      return [offered[0].counted, offered[0].nodes];
    }
    return [found.cores || model.domain.cores[1], found.nodes];
  }

  // the response as the load rises, with its band
  function course(model, asked, cores, nodes, points) {
    const top = BEYOND * Math.max(amountOf(asked), carried(model, asked, cores, nodes).amount);
    const band = model.bands[asked.statistic];
    return Array.from({ length: points }, (_, index) => {
      const amount = (top * (index + 1)) / points;
      const said = predict(model, withAmount(asked, amount), cores, nodes);
      const seconds = asked.statistic === "mean" ? said.mean : said.p95;
      const measured = said.rate <= model.domain.rate_per_s[1] && said.mean <= model.domain.response_s[1];
      return { amount, rate: said.rate, use: said.use, seconds, low: seconds / band, high: seconds * band, measured };
    });
  }

  return { prepare, size, candidates, shownCpus, course, isPriced, amountOf };
})();
