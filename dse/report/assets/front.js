// The Pareto front: latency against a resource, with the bound, the budget and all designs.

const front = { box: find("chart-front"), zoom: null, hidden: new Set(), spots: [] };

/** The designs that are not both slower and larger than another, in this resource alone. */
function lower(designs, resource) {
  const found = [];
  for (const design of [...designs].sort(
    (a, b) => a.uses[resource] - b.uses[resource] || a.latency - b.latency)) {
    if (!found.length || design.latency < found[found.length - 1].latency) found.push(design);
  }
  return found;
}

const kindOf = (design) => (design.front ? "best" : design.ok ? "behind" : "over");

function frontScales(resource, size) {
  const designs = data.designs.filter((d) => !front.hidden.has(kindOf(d)) && d.uses[resource] !== null);
  const logarithmic = find("front-log").checked && designs.every((d) => d.uses[resource] > 0);
  const limit = data.limits[resource];
  const most = Math.max(...designs.map((d) => d.uses[resource]), 1);
  // A budget that nothing comes near would only squeeze the points together.
  const shown = limit !== null && limit < 4 * most ? [limit] : [];
  const [left, right] = range([...designs.map((d) => d.uses[resource]), ...shown], logarithmic);
  const [low, high] = range([...designs.map((d) => d.latency), data.bound || null], true);
  const zoom = front.zoom || { x: [left, right], y: [low, high] };
  return {
    designs,
    limit: shown.length ? limit : null,
    x: scale(...zoom.x, size.left, size.right, logarithmic),
    y: scale(...zoom.y, size.bottom, size.top, true),
  };
}

function drawFront() {
  const resource = Number(find("front-x").value);
  const width = front.box.clientWidth;
  const height = 440;
  const size = { left: 68, right: width - 18, top: 34, bottom: height - 50 };
  const { designs, limit, x, y } = frontScales(resource, size);
  const clip = svg("clipPath", { id: "front-clip" },
    svg("rect", { x: size.left, y: size.top, width: size.right - size.left,
      height: size.bottom - size.top }));
  const area = svg("g", { "clip-path": "url(#front-clip)" });
  area.append(...boundShape(resource, x, y, size));
  if (limit !== null) area.append(...limitLine(limit, x, size));
  const line = lower(designs.filter((d) => d.ok), resource);
  area.append(svg("path", { class: "front-line", d: steps(line, resource, x, y, size) }));
  front.spots = designs.map((d) => ({ design: d, x: x.at(d.uses[resource]), y: y.at(d.latency) }))
    .filter((s) => s.x >= size.left - 1 && s.x <= size.right + 1
      && s.y >= size.top - 1 && s.y <= size.bottom + 1);
  for (const kind of ["over", "behind", "best"]) {
    for (const spot of front.spots) {
      if (kindOf(spot.design) === kind) area.append(spot.node = mark(spot, kind, designs.length > MANY));
    }
  }
  front.ring = svg("circle", { r: 10, class: "ring", visibility: "hidden" });
  front.brush = svg("rect", { class: "brush", visibility: "hidden" });
  area.append(front.ring, front.brush);
  const chart = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    clip, frame(x, y, size, [data.labels[resource], "latency, cycles"]), area);
  front.box.replaceChildren(chart);
  Object.assign(front, { x, y, size });
  find("front-reset").hidden = !front.zoom;
  markFront();
}

/** A mark whose shape says what it is as well as its colour. */
function mark(spot, kind, many = false) {
  const { x, y } = spot;
  const r = (many ? 0.6 : 1) * 4;
  if (kind === "over") {
    const cross = `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;
    return svg("path", { class: "spot over", d: cross });
  }
  return svg("circle", { class: `spot ${kind}`, cx: x, cy: y, r: kind === "best" ? 5.5 : r });
}

/** The line that nothing lies below of: less of the resource is slower, from point to point. */
function steps(line, resource, x, y, size) {
  if (!line.length) return "";
  let path = `M${x.at(line[0].uses[resource])} ${size.top - 200}`;
  for (const design of line) {
    path += `V${y.at(design.latency)}`;
    const next = line[line.indexOf(design) + 1];
    path += `H${next ? x.at(next.uses[resource]) : size.right + 200}`;
  }
  return path;
}

/** Where no design can be: by its DSP where these are drawn, else for the whole budget. */
function boundShape(resource, x, y, size) {
  if (!data.bound) return [];
  let path = `M${size.left - 9} ${y.at(data.bound)}`;
  let edge = size.right + 9;
  if (resource === DSP && data.curve.length) {
    const start = data.curve[0][1];
    path = `M${size.left - 9} ${y.at(start)}`;
    for (const [dsp, cycles] of data.curve) path += `H${x.at(dsp)}V${y.at(cycles)}`;
    if (data.limits[DSP] !== null) edge = Math.min(edge, x.at(data.limits[DSP]));
  }
  path += `H${edge}`;
  const words = svg("text", { x: size.left + 12, y: size.bottom - 12, class: "bound-text" },
    "no design can be here");
  const closed = `${path}V${size.bottom + 300}H${size.left - 9}Z`;
  return [svg("path", { class: "bound-area", d: closed }),
    svg("path", { class: "bound-line", d: path }),
    y.at(resource === DSP && data.curve.length ? data.curve[0][1] : data.bound) < size.bottom - 34
      ? words : svg("g")];
}

function limitLine(limit, x, size) {
  const at = x.at(limit);
  return [svg("line", { class: "limit-line", x1: at, x2: at, y1: size.top, y2: size.bottom }),
    svg("text", { x: at - 6, y: size.top + 14, class: "limit-text end" }, `budget ${whole(limit)}`)];
}

/** What is selected and what is filtered, without drawing anew. */
function markFront() {
  for (const spot of front.spots) {
    spot.node.classList.toggle("out", !kept(spot.design));
    spot.node.classList.toggle("chosen", spot.design.key === state.selected);
  }
}

function legend() {
  const count = (kind) => data.designs.filter((d) => kindOf(d) === kind).length;
  const words = { best: "on the front", behind: "behind it", over: "over a limit" };
  for (const [kind, text] of Object.entries(words)) {
    if (!count(kind)) continue;
    const box = html("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      front.hidden[box.checked ? "delete" : "add"](kind);
      drawFront();
    });
    const picture = svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, mark({ x: 7, y: 7 }, kind));
    find("front-legend").append(html("label", {}, box, picture, ` ${text} (${whole(count(kind))})`));
  }
}

// ------------------------------------------------------------------------------------ interaction

function hoverFront(event) {
  const [x, y] = inside(front.box, event);
  if (front.from) return dragFront(x, y);
  const spot = nearest(front.spots, x, y);
  front.ring.setAttribute("visibility", spot ? "visible" : "hidden");
  front.box.classList.toggle("pointing", Boolean(spot));
  if (!spot) return unhint();
  front.ring.setAttribute("cx", spot.x);
  front.ring.setAttribute("cy", spot.y);
  return hint(event.clientX, event.clientY, told(spot.design));
}

function dragFront(x, y) {
  unhint();
  const [fromX, fromY] = front.from;
  const box = { x: Math.min(x, fromX), y: Math.min(y, fromY),
    width: Math.abs(x - fromX), height: Math.abs(y - fromY) };
  for (const [name, value] of Object.entries(box)) front.brush.setAttribute(name, value);
  front.brush.setAttribute("visibility", "visible");
}

function releaseFront(event) {
  if (!front.from) return;
  const [x, y] = inside(front.box, event);
  const [fromX, fromY] = front.from;
  front.from = null;
  front.brush.setAttribute("visibility", "hidden");
  if (Math.abs(x - fromX) > 8 && Math.abs(y - fromY) > 8) {
    const across = [x, fromX].sort((a, b) => a - b);
    const down = [y, fromY].sort((a, b) => b - a);
    front.zoom = { x: across.map(front.x.value), y: down.map(front.y.value) };
    drawFront();
    return;
  }
  const spot = nearest(front.spots, x, y);
  if (spot) select(spot.design.key);
}

/** Step through the front by the arrow keys. */
function stepFront(event) {
  const line = data.designs.filter((d) => d.front);
  const moves = { ArrowRight: -1, ArrowUp: -1, ArrowLeft: 1, ArrowDown: 1 };
  if (!(event.key in moves) || !line.length) return;
  event.preventDefault();
  const at = line.findIndex((d) => d.key === state.selected);
  const next = Math.min(line.length - 1, Math.max(0, at + moves[event.key]));
  select(line[at < 0 ? 0 : next].key);
}

function startFront() {
  if (!data.designs.length) {
    front.box.replaceChildren(html("p", { class: "muted" }, "No design has figures."));
    return;
  }
  legend();
  drawn(front.box, drawFront);
  listen(markFront);
  front.box.addEventListener("pointermove", hoverFront);
  front.box.addEventListener("pointerleave", () => {
    unhint();
    if (front.ring) front.ring.setAttribute("visibility", "hidden");
  });
  front.box.addEventListener("pointerdown", (event) => {
    if (event.button === 0) front.from = inside(front.box, event);
  });
  window.addEventListener("pointerup", releaseFront);
  front.box.addEventListener("keydown", stepFront);
  find("front-log").addEventListener("change", () => { front.zoom = null; drawFront(); });
  find("front-x").addEventListener("change", () => { front.zoom = null; drawFront(); });
  find("front-reset").addEventListener("click", () => { front.zoom = null; drawFront(); });
}
