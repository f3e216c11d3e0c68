/* The calculator of a sizing page: the same steps in the same order as stats/sizing.py and
   report/calculator.py, with the texts that come with the model. A test compares the two. Without
   this script the table of standard answers stays. */
(function () {
  "use strict";

  const STEPS = 64;
  const MIB = 1048576;

  const cost = (response, nodes) => (nodes > 1 ? response.node_cost : 1);

  function secondsAt(response, rate, cores, nodes) {
    const times = cost(response, nodes);
    const load = (rate * times) / (response.capacity_per_s * cores);
    if (!(load < 1)) {
      return Infinity;
    }
    const waiting = response.wait_s
      ? (response.wait_s * Math.pow(cores, -response.exponent) * Math.pow(load, response.power)) / (1 - load)
      : 0;
    return times * (response.base_s + response.work_s / cores + waiting);
  }

  function rateOf(response, users, think, cores, nodes) {
    const times = cost(response, nodes);
    const bearable = (response.capacity_per_s * cores) / times;
    const idle = think + times * (response.base_s + response.work_s / cores);
    const waits = times * response.wait_s * Math.pow(cores, -response.exponent);
    let low = 0;
    let high = Math.min(bearable, users / idle);
    for (let step = 0; step < STEPS; step += 1) {
      const middle = 0.5 * (low + high);
      const load = middle / bearable;
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
    return { rate, mean, p95: model.tail[0] * Math.pow(mean, model.tail[1]) };
  }

  function kept(model, asked, cores, nodes) {
    const found = predict(model, asked, cores, nodes);
    return asked.statistic === "mean" ? found.mean : found.p95;
  }

  function fewestCores(model, asked, nodes, limit) {
    let [low, high] = model.domain.cores;
    if (!(kept(model, asked, high, nodes) <= limit)) {
      return null;
    }
    if (kept(model, asked, low, nodes) <= limit) {
      return low;
    }
    for (let step = 0; step < STEPS; step += 1) {
      const middle = 0.5 * (low + high);
      if (kept(model, asked, middle, nodes) <= limit) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  function mostLoad(model, asked, cores, nodes) {
    const name = asked.users !== null ? "users" : "rate_per_s";
    let low = 0;
    let high = asked[name];
    for (let step = 0; step < STEPS; step += 1) {
      const middle = 0.5 * (low + high);
      const tried = Object.assign({}, asked, { [name]: middle });
      if (middle > 0 && kept(model, tried, cores, nodes) <= asked.limit_s) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  function heapOf(model, rate) {
    const heap = model.heap;
    if (heap === null || rate === null) {
      return null;
    }
    const least = heap.live_bytes * heap.least_ratio;
    return [heap.pause_s, heap.pause_low_s, heap.pause_high_s].map((pause) =>
      Math.ceil(Math.max(least, heap.live_bytes + (heap.room_bytes * pause * rate) / heap.overhead) / MIB),
    );
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
    const mean =
      asked.statistic === "p95" ? Math.pow(asked.limit_s / model.tail[0], 1 / model.tail[1]) : asked.limit_s;
    look("response_s", mean, domain.response_s[0], domain.response_s[1]);
    return found;
  }

  function size(model, asked) {
    const nodes = 1 + asked.spare_nodes;
    const band = model.bands[asked.statistic];
    const [cores, low, high] = [asked.limit_s, asked.limit_s * band, asked.limit_s / band].map((limit) =>
      fewestCores(model, asked, nodes, limit),
    );
    const rate = cores === null ? null : predict(model, asked, cores, nodes).rate;
    return {
      nodes,
      cores,
      low,
      high,
      rate,
      heap: heapOf(model, rate),
      most: cores === null ? mostLoad(model, asked, model.domain.cores[1], nodes) : null,
      outside: outsideOf(model, asked, nodes, rate, cores, high),
    };
  }

  function shown(value) {
    const places = value < 10 ? 2 : value < 100 ? 1 : 0;
    const scale = Math.pow(10, places);
    const rounded = Math.floor(value * scale + 0.5) / scale;
    return rounded.toFixed(rounded === Math.floor(rounded) ? 0 : places);
  }

  const fill = (text, numbers) => text.replace(/\{([a-z0-9_]+)\}/g, (_, name) => String(numbers[name]));

  function answer(data, asked) {
    const model = data.model;
    const texts = data.texts;
    const found = size(model, asked);
    const parts = {};
    if (found.cores === null) {
      parts.cores = fill(texts["cores-none"], { most: shown(model.domain.cores[1]) });
    } else {
      const numbers = { cores: shown(found.cores), low: shown(found.low || found.cores) };
      if (found.high === null) {
        parts.cores = fill(texts["cores-from"], numbers);
      } else if (found.high <= model.domain.cores[0]) {
        parts.cores = fill(texts["cores-least"], numbers);
      } else {
        parts.cores = fill(texts.cores, Object.assign(numbers, { high: shown(found.high) }));
      }
    }
    parts.nodes = fill(texts[asked.spare_nodes ? "nodes-spare" : "nodes"], { nodes: found.nodes });
    parts.heap = found.heap
      ? fill(texts.heap, { heap: found.heap[0], low: found.heap[1], high: found.heap[2] })
      : texts["heap-none"];
    parts.rate = found.rate === null ? texts["rate-none"] : fill(texts.rate, { rate: shown(found.rate) });
    if (found.cores === null) {
      parts.response = texts["response-none"];
    } else {
      const expected = predict(model, asked, found.cores, found.nodes);
      parts.response = fill(texts.response, { mean: shown(1e3 * expected.mean), p95: shown(1e3 * expected.p95) });
    }
    const outside = found.outside.map((one) => {
      const scale = one.key === "response_s" ? 1e3 : 1;
      const show = one.key === "nodes" ? (value) => value.toFixed(0) : (value) => shown(scale * value);
      const numbers = { found: show(one.found), low: show(one.low), high: show(one.high) };
      numbers.up_to = one.high <= one.low ? "" : fill(data.up_to, numbers);
      numbers.most = found.most === null ? "" : shown(Math.floor(found.most));
      numbers.kind = data.kinds[asked.users !== null ? "users" : "rate"];
      return fill(data.outside[one.key], numbers);
    });
    return { parts, outside };
  }

  // what the form asks, or null while a field holds no number that can be answered
  function read(form) {
    const field = (name) => form.elements[name].valueAsNumber;
    const byUsers = form.elements.kind.value === "users";
    const asked = {
      statistic: form.elements.statistic.value,
      limit_s: field("limit") / 1000,
      users: byUsers ? field("users") : null,
      think_s: byUsers ? field("think") : 0,
      rate_per_s: byUsers ? null : field("rate"),
      spare_nodes: form.elements.spare.checked ? 1 : 0,
    };
    const amount = byUsers ? asked.users : asked.rate_per_s;
    return amount > 0 && asked.limit_s > 0 && asked.think_s >= 0 ? asked : null;
  }

  function show(box, data) {
    const form = box.querySelector("form");
    const asked = read(form);
    const byUsers = form.elements.kind.value === "users";
    form.querySelectorAll("[data-kind]").forEach((each) => {
      each.hidden = (each.dataset.kind === "users") !== byUsers;
    });
    const output = box.querySelector("output");
    const list = document.createElement("dl");
    const notes = document.createElement("ul");
    if (asked !== null) {
      const said = answer(data, asked);
      for (const key of Object.keys(data.labels)) {
        const term = document.createElement("dt");
        const words = document.createElement("dd");
        term.textContent = data.labels[key];
        words.textContent = said.parts[key];
        words.dataset.part = key;
        list.append(term, words);
      }
      for (const words of said.outside) {
        const note = document.createElement("li");
        note.textContent = data.outside_title + words;
        notes.append(note);
      }
    }
    output.replaceChildren(list, ...(notes.children.length ? [notes] : []));
    box.classList.toggle("sb-outside", notes.children.length > 0);
  }

  function start() {
    for (const box of document.querySelectorAll(".sb-calculator")) {
      const data = JSON.parse(box.querySelector("script.sb-model").textContent);
      const form = box.querySelector("form");
      form.addEventListener("input", () => show(box, data));
      form.addEventListener("submit", (event) => event.preventDefault());
      form.hidden = false;
      box.sbAnswer = (asked) => answer(data, asked);
      show(box, data);
    }
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
})();
