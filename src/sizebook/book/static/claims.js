/* Filters the ledger of claims by report, part, verdict and words. The address keeps the filter
   behind "#claims:", so that a link shows the same rows. Without this script all rows show. */
(function () {
  "use strict";

  const MARK = "#claims:";
  const CHOICES = ["source", "part", "verdict", "fidelity"];
  const FIELDS = [...CHOICES, "q"];

  function readAddress() {
    const kept = location.hash.startsWith(MARK) ? location.hash.slice(MARK.length) : "";
    return new URLSearchParams(kept);
  }

  function set(form, values) {
    for (const name of FIELDS) {
      const field = form.elements[name];
      field.value = values.get(name) || "";
      if (field.value === "" && field.localName === "select") {
        field.selectedIndex = 0;
      }
    }
  }

  function keep(form) {
    const values = new URLSearchParams();
    for (const name of FIELDS) {
      const value = form.elements[name].value.trim();
      if (value) {
        values.set(name, value);
      }
    }
    const text = values.toString();
    const address = location.pathname + location.search + (text ? MARK + text : "");
    if (text || location.hash.startsWith(MARK)) {
      history.replaceState(null, "", address);
    }
  }

  function show(ledger, form, rows) {
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const fits = CHOICES.every((name) => {
        const wanted = form.elements[name].value;
        return !wanted || row.line.dataset[name] === wanted;
      });
      row.line.hidden = !(fits && words.every((word) => row.text.includes(word)));
      count += row.line.hidden ? 0 : 1;
    }
    form.querySelector("output").textContent = `${count} of ${rows.length} claims`;
    ledger.dataset.shown = String(count);
  }

  function start(ledger) {
    const form = ledger.querySelector(".sb-ledger-controls");
    const rows = Array.from(ledger.querySelectorAll(".sb-ledger-rows tbody tr"), (line) => ({
      line,
      text: line.textContent.toLowerCase(),
    }));
    const update = () => {
      keep(form);
      show(ledger, form, rows);
    };
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", update);
    form.addEventListener("reset", () => setTimeout(update));
    for (const cell of ledger.querySelectorAll(".sb-ledger-counts td")) {
      if (cell.textContent === "0") {
        continue;
      }
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      button.setAttribute(
        "aria-label",
        `show ${cell.textContent} claims: ${cell.dataset.source || "all"}, ${cell.dataset.verdict || "any verdict"}`,
      );
      button.addEventListener("click", () => {
        set(form, new URLSearchParams(cell.dataset));
        update();
        form.scrollIntoView({ block: "nearest" });
      });
      cell.replaceChildren(button);
    }
    const follow = () => {
      if (location.hash.startsWith(MARK)) {
        set(form, readAddress());
        show(ledger, form, rows);
        ledger.scrollIntoView();
        return;
      }
      const target = location.hash && document.getElementById(location.hash.slice(1));
      if (target && target.hidden) {
        set(form, new URLSearchParams());
        show(ledger, form, rows);
        target.scrollIntoView();
      }
    };
    window.addEventListener("hashchange", follow);
    show(ledger, form, rows);
    follow();
  }

  document.querySelectorAll(".sb-ledger").forEach(start);
})();
