/* For the pages of trials, which are not Sphinx's: the theme that the reader chose in the book,
   and the list of trials that can be sorted and filtered. Without this script both stay legible. */
(function () {
  "use strict";

  const MODES = ["auto", "light", "dark"];
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // the same keys as the theme's own switch; a browser may refuse to store anything
  function stored() {
    try {
      return localStorage.getItem("mode") || "auto";
    } catch (error) {
      return "auto";
    }
  }

  function apply(mode) {
    const page = document.documentElement.dataset;
    page.mode = MODES.includes(mode) ? mode : "auto";
    page.theme = page.mode === "auto" ? (dark.matches ? "dark" : "light") : page.mode;
  }

  function offerTheme() {
    const button = document.querySelector("button.sb-theme");
    const show = () => {
      button.textContent = document.documentElement.dataset.mode;
      button.title = "Colours: " + document.documentElement.dataset.mode;
    };
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      const next = MODES[(MODES.indexOf(document.documentElement.dataset.mode) + 1) % MODES.length];
      apply(next);
      try {
        localStorage.setItem("mode", next);
        localStorage.setItem("theme", document.documentElement.dataset.theme);
      } catch (error) {
        /* the choice then holds for this page alone */
      }
      show();
    });
    dark.addEventListener("change", () => apply(document.documentElement.dataset.mode));
  }

  function offerFilter() {
    const form = document.querySelector("form.sb-filter");
    if (!form) {
      return;
    }
    const rows = Array.from(document.querySelectorAll(".sb-sortable tbody tr"));
    const wanted = new URLSearchParams(location.search);
    const filter = () => {
      const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase() + row.querySelector("a").getAttribute("href").toLowerCase();
        const fits =
          (!form.elements.chapter.value || row.dataset.chapter === form.elements.chapter.value) &&
          (!form.elements.verdict.value || row.dataset.verdict === form.elements.verdict.value) &&
          words.every((word) => text.includes(word));
        row.hidden = !fits;
        shown += fits ? 1 : 0;
      }
      form.querySelector("output").textContent = shown + " of " + rows.length;
    };
    for (const name of ["chapter", "verdict", "words"]) {
      if (wanted.has(name)) {
        form.elements[name].value = wanted.get(name);
      }
    }
    form.hidden = false;
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    filter();
  }

  function offerSorting() {
    const table = document.querySelector(".sb-sortable");
    if (!table) {
      return;
    }
    const value = (row, column) => row.cells[column].dataset.sort || row.cells[column].textContent;
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("th[aria-sort]").forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = Array.from(table.tBodies[0].rows);
        rows.sort((a, b) => (down ? -1 : 1) * compare(value(a, column), value(b, column)));
        table.tBodies[0].append(...rows);
      });
    });
  }

  apply(stored());
  document.addEventListener("DOMContentLoaded", () => {
    offerTheme();
    offerFilter();
    offerSorting();
  });
})();
