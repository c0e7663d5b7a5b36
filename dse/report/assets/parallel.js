// Parallel coordinates: the choices that each design is made of, and what it costs.

const parallel = { box: find("chart-parallel"), axes: [], lines: [], hidden: new Set() };
const LINES = 900; // more would be a carpet
const NAMED = 24; // different values that each get a place of their own

const compared = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));

/** An axis: `place` of a design between 0 (bottom) and 1 (top), and what is written where. */
function axisOf(label, group, value, designs) {
  const values = designs.map(value).filter((v) => v !== null && v !== undefined);
  const different = [...new Set(values)].sort(compared);
  const of = (design) => {
    const found = value(design);
    return found === undefined ? null : found;
  };
  if (group !== "cost" && different.length <= NAMED) {
    const last = Math.max(1, different.length - 1);
    const places = new Map(different.map((v, n) => [v, different.length > 1 ? n / last : 0.5]));
    const ticks = different.map((v) => [String(v), places.get(v)]);
    return { label, group, ticks, place: (d) => places.get(of(d)) ?? null };
  }
  const logarithmic = values.every((v) => v > 0) && group !== "use";
  const [low, high] = [different[0], different[different.length - 1]];
  const line = scale(low, high > low ? high : low * 1.01 + 1e-9, 0, 1, logarithmic);
  const ticks = line.ticks.map((v) => [brief(v), line.at(v)]);
  return { label, group, ticks, place: (d) => (of(d) === null ? null : line.at(of(d))) };
}

function allAxes(designs) {
  const chosen = data.axes.map((axis, n) =>
    axisOf(axis.label, axis.group, (d) => d.chosen && d.chosen[n], designs));
  const costs = data.labels.map((label, n) => axisOf(label, "cost", (d) => d.uses[n], designs));
  const every = [...chosen, ...costs, axisOf("cycles", "cost", (d) => d.latency, designs)];
  return every.filter((axis) => new Set(designs.map(axis.place)).size > 1);
}

const shownAxes = () => parallel.axes.filter((axis) => !parallel.hidden.has(axis.group));

function drawParallel() {
  const axes = shownAxes();
  const width = Math.max(parallel.box.clientWidth, axes.length * 84 + 60);
  const height = 400;
  const size = { left: 64, right: width - 70, top: 66, bottom: height - 22 };
  const step = axes.length > 1 ? (size.right - size.left) / (axes.length - 1) : 0;
  axes.forEach((axis, n) => {
    axis.x = size.left + n * step;
    axis.y = (place) => size.bottom - place * (size.bottom - size.top);
  });
  const chart = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const lines = svg("g", { class: parallel.lines.length > 150 ? "lines many" : "lines" });
  for (const line of parallel.lines) {
    line.places = axes.map((axis) => axis.place(line.design));
    line.node = svg("path", { d: pathOf(axes, line.places) });
    line.node.style.stroke = `color-mix(in oklab, var(--slow) ${Math.round(line.rank * 100)}%, var(--fast))`;
    lines.append(line.node);
  }
  parallel.over = svg("path", { class: "over-line", visibility: "hidden" });
  parallel.chosen = svg("path", { class: "chosen-line", visibility: "hidden" });
  chart.append(lines, parallel.chosen, parallel.over, ...axes.map((axis) => axisPicture(axis, size)));
  parallel.box.replaceChildren(chart);
  Object.assign(parallel, { size, step });
  markParallel();
}

function pathOf(axes, places) {
  let path = "";
  let pen = "M";
  axes.forEach((axis, n) => {
    if (places[n] === null) {
      pen = "M";
      return;
    }
    path += `${pen}${axis.x.toFixed(1)} ${axis.y(places[n]).toFixed(1)}`;
    pen = "L";
  });
  return path;
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function axisPicture(axis, size) {
  const found = svg("g", { class: `par-axis ${axis.group}` });
  found.append(svg("line", { x1: axis.x, x2: axis.x, y1: size.top, y2: size.bottom }));
  let before = Infinity;
  for (const [text, place] of axis.ticks) {
    const at = axis.y(place);
    if (before - at < 15) continue;
    before = at;
    found.append(svg("line", { x1: axis.x - 3, x2: axis.x + 3, y1: at, y2: at }));
    found.append(svg("text", { x: axis.x + 7, y: at + 4, class: "tick" },
      svg("title", {}, text), short(text, 12)));
  }
  const prefix = { order: "order of", copies: "copies of", banks: "banks of" }[axis.group] || "";
  const name = svg("g", { class: "par-name", tabindex: 0, role: "button",
    "aria-label": `${prefix} ${axis.label}: keep what the selected design has` },
    svg("text", { x: axis.x, y: size.top - 34, class: "tick middle" }, prefix),
    svg("text", { x: axis.x, y: size.top - 18, class: "axis middle" },
      svg("title", {}, axis.label), short(axis.label, 13)));
  name.addEventListener("click", () => keepChosen(axis));
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      keepChosen(axis);
    }
  });
  const hold = svg("rect", { class: "hold", x: axis.x - 12, width: 24, y: size.top - 8,
    height: size.bottom - size.top + 16 });
  hold.addEventListener("pointerdown", (event) => startBrush(axis, event, size));
  axis.brush = svg("rect", { class: "brush", x: axis.x - 8, width: 16, visibility: "hidden" });
  found.append(hold, axis.brush, name);
  return found;
}

// ---------------------------------------------------------------------------------------- filters

function keepChosen(axis) {
  const design = byKey.get(state.selected);
  const place = design ? axis.place(design) : null;
  if (state.filters.has(axis) || place === null) state.filters.delete(axis);
  else state.filters.set(axis, [place - 0.004, place + 0.004]);
  changed();
}

function startBrush(axis, event, size) {
  event.preventDefault();
  const place = (e) => {
    const y = inside(parallel.box, e)[1];
    return Math.min(1.02, Math.max(-0.02, (size.bottom - y) / (size.bottom - size.top)));
  };
  const from = place(event);
  const move = (e) => {
    const ends = [from, place(e)].sort((a, b) => a - b);
    if (ends[1] - ends[0] > 0.02) state.filters.set(axis, ends);
    else state.filters.delete(axis);
    changed();
  };
  const done = () => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", done);
  };
  move(event);
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", done);
}

function markParallel() {
  let shown = 0;
  for (const line of parallel.lines) {
    const out = !kept(line.design);
    line.node.classList.toggle("out", out);
    shown += out ? 0 : 1;
  }
  for (const axis of shownAxes()) {
    const found = state.filters.get(axis);
    axis.brush.setAttribute("visibility", found ? "visible" : "hidden");
    if (!found) continue;
    const [top, bottom] = [axis.y(found[1]), axis.y(found[0])];
    axis.brush.setAttribute("y", top - 2);
    axis.brush.setAttribute("height", bottom - top + 4);
  }
  const design = byKey.get(state.selected);
  trace(parallel.chosen, design);
  find("filters").hidden = !state.filters.size;
  find("filters").textContent = `Clear filters (${shown} of ${parallel.lines.length} designs kept)`;
}

function trace(node, design) {
  const axes = shownAxes();
  node.setAttribute("visibility", design && design.chosen ? "visible" : "hidden");
  if (design && design.chosen) node.setAttribute("d", pathOf(axes, axes.map((a) => a.place(design))));
}

/** The line that passes the pointer, between the two axes that it is in the middle of. */
function lineAt(x, y) {
  const axes = shownAxes();
  if (axes.length < 2) return null;
  const n = Math.min(axes.length - 2, Math.max(0, Math.floor((x - parallel.size.left) / parallel.step)));
  const along = (x - axes[n].x) / parallel.step;
  let best = null;
  let distance = 9;
  for (const line of parallel.lines) {
    const [from, to] = [line.places[n], line.places[n + 1]];
    if (from === null || to === null || line.node.classList.contains("out")) continue;
    const away = Math.abs(axes[n].y(from + (to - from) * along) - y);
    if (away < distance) [best, distance] = [line, away];
  }
  return best;
}

/** The pointer's place in the drawing, which may be wider than its box. */
function inDrawing(event) {
  const [x, y] = inside(parallel.box, event);
  return [x + parallel.box.scrollLeft, y];
}

function hoverParallel(event) {
  const line = lineAt(...inDrawing(event));
  trace(parallel.over, line ? line.design : null);
  parallel.box.classList.toggle("pointing", Boolean(line));
  if (line) hint(event.clientX, event.clientY, told(line.design));
  else unhint();
}

function startParallel() {
  let designs = data.designs.filter((d) => d.ok && d.chosen);
  if (!designs.length) designs = data.designs.filter((d) => d.chosen);
  if (designs.length < 2) {
    parallel.box.replaceChildren(html("p", { class: "muted" }, "There are not two designs to compare."));
    return;
  }
  const sorted = [...designs].sort((a, b) => a.latency - b.latency);
  const some = [...sorted.filter((d) => d.front), ...sorted.filter((d) => !d.front)].slice(0, LINES);
  const ranks = new Map(sorted.map((d, n) => [d, n / Math.max(1, sorted.length - 1)]));
  // The fastest come last, on top.
  parallel.lines = some.map((design) => ({ design, rank: ranks.get(design) }))
    .sort((a, b) => b.rank - a.rank);
  parallel.axes = allAxes(some);
  if (parallel.axes.length > 12) parallel.hidden.add("banks");
  for (const box of document.querySelectorAll(".axis-group")) {
    box.checked = !parallel.hidden.has(box.dataset.group);
    box.addEventListener("change", () => {
      parallel.hidden[box.checked ? "delete" : "add"](box.dataset.group);
      for (const axis of parallel.axes) if (parallel.hidden.has(axis.group)) state.filters.delete(axis);
      drawParallel();
      changed();
    });
  }
  drawn(parallel.box, drawParallel);
  listen(() => { if (parallel.size) markParallel(); });
  find("filters").addEventListener("click", () => {
    state.filters.clear();
    changed();
  });
  parallel.box.addEventListener("pointermove", hoverParallel);
  parallel.box.addEventListener("pointerleave", () => { unhint(); trace(parallel.over, null); });
  parallel.box.addEventListener("click", (event) => {
    const line = lineAt(...inDrawing(event));
    if (line && !event.target.closest(".par-axis")) select(line.design.key);
  });
}
