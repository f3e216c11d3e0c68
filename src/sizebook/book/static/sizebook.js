/* Draws the charts when they come into view, again when the theme changes, and opens the fold
   that a link points to or into; "?evidence" opens that of the result, or all of them. One switch
   shows the code of a page. Without this script the static pictures stay, and folds open by hand. */
(function () {
  "use strict";

  const INK = "#e4e8ec";
  const FAINT = "#9aa5b1";
  const DOUBT = "#ffb26b";
  const AXIS = { labelColor: INK, titleColor: INK, domainColor: FAINT, tickColor: FAINT, gridColor: FAINT };
  const DARK = {
    axis: AXIS,
    legend: { labelColor: INK, titleColor: INK },
    title: { color: INK, subtitleColor: DOUBT },
    header: { labelColor: INK, titleColor: INK },
    text: { color: INK },
    rule: { color: FAINT },
  };

  const SCROLLERS =
    "figure.sb-table > div, figure.sb-table > figcaption > div, .sb-chart, .sb-wide, .sb-claim details, details.sb-evidence > div, .sb-sheet, table.sb-registry";

  const isDark = () => document.documentElement.dataset.theme === "dark";

  // a page with many small charts gives their common configuration once
  function sharedConfig() {
    const shared = document.getElementById("sb-config");
    return shared ? JSON.parse(shared.textContent) : {};
  }

  // a chart as wide as the page does not widen for its legend
  function cutLegend(place) {
    const right = (each) => each.getBoundingClientRect().right;
    const legends = Array.from(place.querySelectorAll(".role-legend"));
    return legends.find((each) => right(each) > right(place.querySelector("svg.marks")));
  }

  function themed(spec, columns) {
    const config = Object.assign(sharedConfig(), spec.config, { background: "transparent" });
    if (columns) {
      config.legend = Object.assign({}, config.legend, { columns });
    }
    if (isDark()) {
      for (const part of Object.keys(DARK)) {
        config[part] = Object.assign({}, config[part], DARK[part]);
      }
    }
    return Object.assign({}, spec, { config });
  }

  // the picture has the words that stand for it; the menu beside it has a name of its own
  function name(place, words) {
    const picture = place.querySelector("svg.marks");
    for (const attribute of ["role", "aria-roledescription", "aria-label"]) {
      picture.parentElement.removeAttribute(attribute);
    }
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", words);
    const menu = place.querySelector("summary");
    if (menu) {
      menu.setAttribute("aria-label", "Save this chart");
    }
  }

  async function draw(chart) {
    const turn = (chart.sbTurn = (chart.sbTurn || 0) + 1);
    const theme = isDark() ? "dark" : "light";
    try {
      const spec = JSON.parse(chart.querySelector("script.sb-spec").textContent);
      const place = document.createElement("div");
      place.className = "sb-canvas";
      chart.querySelector(".sb-live").appendChild(place);
      chart.classList.add("sb-ready");
      const embed = (columns) => window.vegaEmbed(place, themed(spec, columns), {
        mode: "vega-lite",
        renderer: "svg",
        actions: "quiet" in chart.dataset ? false : { export: true, source: false, compiled: false, editor: false },
      });
      let result = await embed(0);
      const entries = cutLegend(place)?.querySelectorAll(".role-legend-label text").length || 0;
      for (let columns = entries - 1; columns > 0 && cutLegend(place); columns -= 1) {
        result.finalize();
        result = await embed(columns);
      }
      if (turn !== chart.sbTurn) {
        result.finalize();
        place.remove();
        return;
      }
      name(place, chart.querySelector(".sb-live").dataset.words);
      if (chart.sbView) {
        chart.sbView.finalize();
        chart.sbPlace.remove();
      }
      chart.sbView = result;
      chart.sbPlace = place;
      chart.dataset.theme = theme;
    } catch (error) {
      chart.classList.remove("sb-ready");
      console.error("chart not drawn:", error);
    }
  }

  function watchCharts() {
    const charts = Array.from(document.querySelectorAll(".sb-chart"));
    const started = new Set();
    const start = (chart) => {
      if (!started.has(chart)) {
        started.add(chart);
        draw(chart);
      }
    };
    if (charts.length === 0) {
      return;
    }
    if ("IntersectionObserver" in window && !/[?&]charts=all\b/.test(location.search)) {
      const watcher = new IntersectionObserver(
        (entries) => entries.filter((each) => each.isIntersecting).forEach((each) => {
          watcher.unobserve(each.target);
          start(each.target);
        }),
        { rootMargin: "600px" },
      );
      charts.forEach((chart) => watcher.observe(chart));
    } else {
      charts.forEach(start);
    }
    new MutationObserver(() => started.forEach(draw)).observe(document.documentElement, {
      attributes: true,
      attributeFilter: ["data-theme"],
    });
  }

  const CODE = ".bd-content div.cell details.hide.above-input";

  function showCode(shown) {
    document.body.classList.toggle("sb-code-hidden", !shown);
    for (const fold of document.querySelectorAll(CODE)) {
      fold.open = shown;
    }
    const button = document.querySelector(".sb-code-switch");
    button.setAttribute("aria-pressed", String(shown));
    button.textContent = shown ? "Hide code" : "Show code";
  }

  // whoever reads sees no code; one switch below the title shows all of it
  function offerCode() {
    const title = document.querySelector(".bd-article h1");
    if (!title || !document.querySelector(CODE)) {
      return;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sb-code-switch";
    title.after(button);
    button.addEventListener("click", () => showCode(document.body.classList.contains("sb-code-hidden")));
    showCode(false);
  }

  function openTarget() {
    let name = "";
    try {
      name = decodeURIComponent(location.hash.slice(1));
    } catch (error) {
      return;
    }
    const target = name && document.getElementById(name);
    const folds = [];
    for (let each = target || null; each; each = each.parentElement) {
      if (each.localName === "details") {
        folds.push(each);
      }
    }
    if (/[?&]evidence\b/.test(location.search)) {
      folds.push(...(target || document).querySelectorAll("details.sb-evidence"));
    }
    if (folds.some((fold) => fold.matches(CODE))) {
      showCode(true);
    }
    const closed = folds.filter((fold) => !fold.open);
    for (const fold of closed) {
      fold.open = true;
    }
    if (target && closed.length > 0) {
      target.scrollIntoView();
    }
  }

  // a box that scrolls is a stop for keys
  function offerScrolling() {
    for (const box of document.querySelectorAll(SCROLLERS)) {
      const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
      if (!scrolls || box.hasAttribute("tabindex")) {
        continue;
      }
      box.tabIndex = 0;
      if (box.localName !== "table") {
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", "scrolls");
      }
    }
  }

  function start() {
    watchCharts();
    offerCode();
    openTarget();
    offerScrolling();
    window.addEventListener("load", offerScrolling);
    window.addEventListener("resize", offerScrolling);
    document.addEventListener("toggle", offerScrolling, true);
    window.addEventListener("hashchange", openTarget);
  }

  if (document.readyState === "loading") {
    document.addEventListener("DOMContentLoaded", start);
  } else {
    start();
  }
})();
