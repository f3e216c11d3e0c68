/* The calculator of a sizing page: form, words and chart. sizing.js computes; the texts come with
   the model, from report/calculator_words.py and its neighbours. A test compares what both say.
   Without this script the table of standard answers stays. */
(function () {
  "use strict";

  const sizing = window.sizebookSizing;
  const POINTS = 60;

  function shown(value) {
    const places = value < 10 ? 2 : value < 100 ? 1 : 0;
    const scale = Math.pow(10, places);
    const rounded = Math.floor(value * scale + 0.5) / scale;
    return rounded.toFixed(rounded === Math.floor(rounded) ? 0 : places);
  }

  const fill = (text, numbers) => text.replace(/\{([a-z0-9_]+)\}/g, (_, name) => String(numbers[name]));
  const percent = (share) => shown(100 * share);
  const ms = (seconds) => shown(1e3 * seconds);
  const kindOf = (data, asked) => data.kinds[asked.users !== null ? "users" : "rate"];

  function grownWords(data, asked, prepared) {
    const { texts } = data;
    const growth = { growth: percent(asked.growth), months: shown(12 * asked.years) };
    return fill(texts.grown, {
      amount: shown(sizing.amountOf(prepared.question)),
      kind: kindOf(data, asked),
      today: shown(sizing.amountOf(asked)),
      growth: asked.growth && asked.years ? fill(texts["grown-rate"], growth) : "",
      headroom: asked.headroom ? fill(texts["grown-headroom"], { headroom: percent(asked.headroom) }) : "",
    });
  }

  function coresWords(texts, model, found) {
    if (found.cores === null) {
      return fill(texts["cores-none"], { most: shown(model.domain.cores[1]) });
    }
    const numbers = { cores: shown(found.cores), low: shown(found.low || found.cores) };
    if (found.high === null) {
      return fill(texts["cores-from"], numbers);
    }
    const key = found.high <= model.domain.cores[0] ? "cores-least" : "cores";
    return fill(texts[key], { ...numbers, high: shown(found.high) });
  }

  function partsOf(data, asked, prepared, found) {
    const { texts } = data;
    const { expected, heap } = found;
    const parts = prepared.factor === 1 ? {} : { grown: grownWords(data, asked, prepared) };
    parts.cores = coresWords(texts, prepared.model, found);
    parts.unit = asked.cpu_worth === 1 ? texts.unit : fill(texts["unit-worth"], { worth: shown(asked.cpu_worth) });
    parts.nodes = fill(texts[asked.spare_nodes ? "nodes-spare" : "nodes"], {
      nodes: found.nodes,
      spare: asked.spare_nodes,
    });
    parts.heap = heap ? fill(texts.heap, { heap: heap[0], low: heap[1], high: heap[2] }) : texts["heap-none"];
    if (expected === null) {
      parts.rate = texts["rate-none"];
      parts.use = texts["use-none"];
      parts.response = texts["response-none"];
      return parts;
    }
    parts.rate = fill(texts.rate, { rate: shown(expected.rate) });
    parts.use = fill(texts[asked.ceiling === null ? "use" : "use-ceiling"], {
      use: percent(expected.use),
      ceiling: percent(asked.ceiling || 0),
    });
    parts.response = fill(texts.response, { mean: ms(expected.mean), p95: ms(expected.p95) });
    return parts;
  }

  function outsideWords(data, asked, found, one) {
    const scale = one.key === "response_s" ? 1e3 : 1;
    const show = one.key === "nodes" ? (value) => value.toFixed(0) : (value) => shown(scale * value);
    const numbers = { found: show(one.found), low: show(one.low), high: show(one.high) };
    return fill(data.outside[one.key], {
      ...numbers,
      up_to: one.high <= one.low ? "" : fill(data.up_to, numbers),
      most: found.most === null ? "" : shown(Math.floor(found.most)),
      kind: kindOf(data, asked),
    });
  }

  function verdictOf(texts, model, asked, one) {
    if (one.rejected !== null) {
      return fill(texts["rejected-" + one.rejected], {
        ceiling: percent(asked.ceiling || 0),
        needed: shown(one.needed || 0),
        most: Math.max(...model.domain.nodes),
        least: shown(model.domain.cores[0]),
      });
    }
    const counted = fill(texts["fits-counted"], { counted: shown(one.counted) });
    return texts[one.robust ? "fits" : "fits-estimate"] + (one.left * one.cpus > one.counted ? counted : "");
  }

  function rowOf(words, model, asked, offer, one) {
    const { texts } = words;
    const row = { size: fill(texts.size, { nodes: one.nodes, cpus: shown(one.cpus) }) };
    const unknown = one.rejected === "nodes" || one.rejected === "cores";
    const said = (text, value) => (unknown || value === null ? texts.none : text(value));
    const { found } = one;
    row.memory = said((memory) => fill(texts.memory, { memory: shown(memory) }), one.memory);
    row.use = said((use) => fill(texts.use, { use: percent(use) }), found.use);
    row.response = said(
      (mean) => fill(texts.response, { mean: ms(mean), p95: ms(found.p95) }),
      Number.isFinite(found.mean) ? found.mean : null,
    );
    row.carries = said((most) => shown(asked.users !== null ? Math.floor(most) : most), one.most.amount);
    row.limit = said((limit) => words.limits[limit], one.most.limit);
    if (sizing.isPriced(offer)) {
      row.price = one.price !== null && one.rejected === null ? shown(one.price) : texts.none;
    }
    row.verdict = verdictOf(texts, model, asked, one);
    return row;
  }

  // all that is said of a question: parts, bounds that it is beyond, candidates, a curve
  function answer(data, asked, offer) {
    const prepared = sizing.prepare(data.model, asked);
    const { model, question } = prepared;
    const found = sizing.size(model, question);
    const offered = sizing.candidates(model, question, offer);
    const [cores, nodes] = sizing.shownCpus(model, question, offered, found);
    const statistic = data.statistics[asked.statistic];
    return {
      parts: partsOf(data, asked, prepared, found),
      outside: found.outside.map((one) => outsideWords(data, question, found, one)),
      rows: offered.map((one) => rowOf(data.candidates, model, question, offer, one)),
      title: fill(data.course.title, { statistic, cores: shown(cores), nodes, level: percent(data.model.level) }),
      course: sizing.course(model, question, cores, nodes, POINTS),
      question,
    };
  }

  const numbersIn = (text) => text.split(/[\s,;]+/).filter(Boolean).map(Number);
  const areSizes = (sizes) => sizes.every((each) => each > 0 && each < Infinity);

  // what the form asks, or null while a field holds no number that can be answered
  function read(form, data) {
    if (!form.checkValidity()) {
      return null;
    }
    const field = (name) => form.elements[name].valueAsNumber;
    const text = (name) => numbersIn(form.elements[name].value);
    const byUsers = form.elements.kind.value === "users";
    const asked = {
      statistic: form.elements.statistic.value,
      limit_s: field("limit") / 1000,
      users: byUsers ? field("users") : null,
      think_s: byUsers ? field("think") : 0,
      rate_per_s: byUsers ? null : field("rate"),
      spare_nodes: field("failures"),
      growth: field("growth") / 100,
      years: field("months") / 12,
      headroom: field("headroom") / 100,
      ceiling: field("ceiling") < 100 ? field("ceiling") / 100 : null,
      cpu_worth: field("worth"),
    };
    const offer = {
      cpus: text("cpus"),
      memory_gib: text("memory"),
      price_per_cpu: field("price_cpu"),
      price_per_gib: field("price_gib"),
      price_per_node: field("price_node"),
      beside_heap_mib: data.candidates.beside_heap_mib,
    };
    const grown = sizing.amountOf(sizing.prepare(data.model, asked).question);
    const needed = [grown, asked.limit_s, asked.cpu_worth, offer.cpus.length];
    return areSizes([...needed, ...offer.cpus, ...offer.memory_gib]) ? { asked, offer } : null;
  }

  function make(name, text, ...inside) {
    const element = document.createElement(name);
    element.textContent = text;
    element.append(...inside);
    return element;
  }

  function partList(data, parts) {
    const list = make("dl", "");
    for (const key of Object.keys(data.labels).filter((each) => each in parts)) {
      const words = make("dd", parts[key]);
      words.dataset.part = key;
      list.append(make("dt", data.labels[key]), words);
    }
    return list;
  }

  function candidateTable(words, rows) {
    const keys = Object.keys(words.columns).filter((key) => key in rows[0]);
    const head = make("tr", "", ...keys.map((key) => make("th", words.columns[key])));
    const body = rows.map((row) => {
      const line = make("tr", "", ...keys.map((key) => make("td", row[key])));
      line.className = row.verdict.startsWith(words.texts.fits) ? "sb-fits" : "";
      return line;
    });
    head.querySelectorAll("th").forEach((each) => (each.scope = "col"));
    const table = make("table", "", make("thead", "", head), make("tbody", "", ...body));
    const scroller = make("div", "", table);
    scroller.className = "sb-candidates";
    scroller.tabIndex = 0;
    scroller.setAttribute("role", "group");
    scroller.setAttribute("aria-label", words.title);
    const title = make("p", words.title);
    title.className = "sb-note";
    return [title, scroller];
  }

  function show(box, data) {
    const form = box.querySelector("form");
    const byUsers = form.elements.kind.value === "users";
    form.querySelectorAll("[data-kind]").forEach((each) => {
      each.hidden = (each.dataset.kind === "users") !== byUsers;
      each.querySelectorAll("input").forEach((field) => (field.disabled = each.hidden));
    });
    const given = read(form, data);
    const output = box.querySelector("output");
    const more = box.querySelector(".sb-more");
    if (given === null) {
      output.replaceChildren();
      more.replaceChildren();
      return;
    }
    const said = answer(data, given.asked, given.offer);
    const notes = make("ul", "", ...said.outside.map((words) => make("li", data.outside_title + words)));
    output.replaceChildren(partList(data, said.parts), ...(said.outside.length ? [notes] : []));
    box.classList.toggle("sb-outside", said.outside.length > 0);
    const axes = {
      load: fill(data.course.axes.load, { kind: kindOf(data, said.question) }),
      response: fill(data.course.axes.response, { statistic: data.statistics[said.question.statistic] }),
      limit: data.course.axes.limit,
      asked: data.course.axes.asked,
    };
    const drawn = window.sizebookCurve(said.course, {
      title: said.title,
      axes,
      limit: said.question.limit_s,
      amount: sizing.amountOf(said.question),
      width: Math.max(280, form.clientWidth - 34),
    });
    more.replaceChildren(...candidateTable(data.candidates, said.rows), drawn);
  }

  function start() {
    for (const box of document.querySelectorAll(".sb-calculator")) {
      const data = JSON.parse(box.querySelector("script.sb-model").textContent);
      const form = box.querySelector("form");
      form.addEventListener("input", () => show(box, data));
      form.addEventListener("submit", (event) => event.preventDefault());
      form.hidden = false;
      box.sbAnswer = (asked, offer) => answer(data, asked, offer);
      show(box, data);
      let width = form.clientWidth;
      new ResizeObserver(() => {
        if (form.clientWidth === width) return;
        width = form.clientWidth;
        show(box, data);
      }).observe(form);
    }
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
})();
