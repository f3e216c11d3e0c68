/* A small chart of the response over load: band, line, limit and the load asked for. The response
   has a logarithmic axis; dashed is what lies beyond the trials. */
window.sizebookCurve = (function () {
  "use strict";

  const HEIGHT = 260;
  const EDGE = { left: 64, right: 12, top: 12, bottom: 46 };

  function draw(name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    element.textContent = text || "";
    return element;
  }

  // a power of ten each; the ends are whole decades, so that a mark is always there
  function decades(values) {
    const [low, high] = [Math.min(...values), Math.max(...values)].map(Math.log10);
    const first = Math.floor(low);
    const last = Math.max(first + 1, Math.ceil(high));
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  }

  // about five round numbers from 0 to the top
  function rounds(top) {
    const unit = Math.pow(10, Math.floor(Math.log10(top / 4)));
    const step = [1, 2, 5, 10].map((each) => each * unit).find((each) => top / each <= 5);
    return Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
  }

  const plain = (value) => String(Number(value.toPrecision(6)));

  return function curve(course, { title, axes, limit, amount, width }) {
    const points = course.filter((each) => Number.isFinite(each.high));
    const top = course[course.length - 1].amount;
    const marks = decades([limit, ...points.flatMap((each) => [each.low, each.high])]);
    const [least, most] = [marks[0], marks[marks.length - 1]];
    const x = (value) => EDGE.left + ((width - EDGE.left - EDGE.right) * value) / top;
    const y = (seconds) =>
      EDGE.top + ((HEIGHT - EDGE.top - EDGE.bottom) * (most - Math.log10(seconds))) / (most - least);
    const path = (each, key) => `${x(each.amount).toFixed(1)},${y(each[key]).toFixed(1)}`;
    const line = (some, className) =>
      draw("polyline", { class: className, points: some.map((each) => path(each, "seconds")).join(" ") });
    const picture = draw("svg", {
      viewBox: `0 0 ${width} ${HEIGHT}`,
      width,
      height: HEIGHT,
      role: "img",
      "aria-label": title,
    });
    const [right, bottom] = [width - EDGE.right, HEIGHT - EDGE.bottom];
    for (const power of marks) {
      const at = y(Math.pow(10, power));
      picture.append(draw("line", { class: "sb-grid", x1: EDGE.left, x2: right, y1: at, y2: at }));
      picture.append(draw("text", { x: EDGE.left - 6, y: at + 4, "text-anchor": "end" }, plain(1e3 * Math.pow(10, power))));
    }
    for (const value of rounds(top)) {
      picture.append(draw("text", { x: x(value), y: bottom + 18, "text-anchor": "middle" }, plain(value)));
    }
    const band = [...points.map((each) => path(each, "high")), ...points.map((each) => path(each, "low")).reverse()];
    picture.append(draw("polygon", { class: "sb-band", points: band.join(" ") }));
    const beyond = points.findIndex((each) => !each.measured);
    const known = beyond < 0 ? points.length : beyond;
    picture.append(line(points.slice(0, known), "sb-line"));
    picture.append(line(points.slice(Math.max(0, known - 1)), "sb-line sb-beyond"));
    picture.append(draw("line", { class: "sb-limit", x1: EDGE.left, x2: right, y1: y(limit), y2: y(limit) }));
    picture.append(draw("text", { x: EDGE.left + 4, y: y(limit) - 5 }, axes.limit));
    picture.append(draw("line", { class: "sb-asked", x1: x(amount), x2: x(amount), y1: EDGE.top, y2: bottom }));
    picture.append(draw("text", { x: x(amount) - 4, y: bottom - 6, "text-anchor": "end" }, axes.asked));
    picture.append(draw("text", { x: (EDGE.left + right) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, axes.load));
    const middle = (EDGE.top + bottom) / 2;
    picture.append(
      draw("text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, axes.response),
    );
    const box = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    box.className = "sb-course";
    box.append(picture, caption);
    return box;
  };
})();
