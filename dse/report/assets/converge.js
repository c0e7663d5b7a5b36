// Convergence: what each trial found, the best so far, and what no design can beat.

const converge = { box: find("chart-converge"), spots: [] };

function convergeData() {
  const bySeconds = find("converge-x").value === "seconds";
  const ok = data.statuses.indexOf("ok");
  let best = Infinity;
  return data.trials.filter((trial) => trial[2] !== null).map(([number, seconds, latency, status]) => {
    if (status === ok) best = Math.min(best, latency);
    return { number, seconds, latency, status, best, at: bySeconds ? seconds : number + 1 };
  });
}

function drawConverge() {
  const trials = convergeData();
  const width = converge.box.clientWidth;
  const height = 320;
  const size = { left: 68, right: width - 18, top: 34, bottom: height - 50 };
  const values = [...trials.map((t) => t.latency), data.bound || null];
  const last = Math.max(...trials.map((t) => t.at), 1e-3);
  const x = scale(0, last * 1.02, size.left, size.right, false);
  const [low, high] = range(values, true, 0.1);
  const y = scale(low / 1.15, high, size.bottom, size.top, true); // room for the bound's label
  const title = find("converge-x").value === "seconds" ? "seconds at work" : "trials";
  const chart = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
    frame(x, y, size, [title, "latency, cycles"]));
  if (data.bound) chart.append(...boundOf(y, size));
  converge.spots = trials.map((t) => ({ ...t, x: x.at(t.at), y: y.at(t.latency) }));
  const ok = data.statuses.indexOf("ok");
  const again = data.statuses.indexOf("duplicate");
  for (const spot of converge.spots) {
    const kind = spot.status === ok || spot.status === again ? "behind" : "over";
    chart.append(mark(spot, kind, trials.length > MANY));
  }
  const found = converge.spots.filter((t) => t.best < Infinity);
  if (found.length) {
    let path = `M${found[0].x} ${y.at(found[0].best)}`;
    for (const spot of found) path += `H${spot.x}V${y.at(spot.best)}`;
    chart.append(svg("path", { class: "best-line", d: `${path}H${size.right}` }));
    const end = found[found.length - 1].best;
    const text = data.bound ? `${whole(end)} cycles, ${ratio(end / data.bound)} the bound` : whole(end);
    chart.append(svg("text", { x: size.right - 4, y: y.at(end) - 14, class: "best-text end" }, text));
  }
  converge.box.replaceChildren(chart);
}

function boundOf(y, size) {
  const at = y.at(data.bound);
  return [
    svg("rect", { class: "bound-area", x: size.left, y: at, width: size.right - size.left,
      height: Math.max(0, size.bottom - at) }),
    svg("line", { class: "bound-line", x1: size.left, x2: size.right, y1: at, y2: at }),
    svg("text", { x: size.left + 10, y: at + 16, class: "bound-text" },
      `lower bound ${whole(data.bound)}`),
  ];
}

function startConverge() {
  if (!data.trials.some((trial) => trial[2] !== null)) {
    converge.box.replaceChildren(html("p", { class: "muted" }, "No trial has figures."));
    return;
  }
  drawn(converge.box, drawConverge);
  find("converge-x").addEventListener("change", drawConverge);
  converge.box.addEventListener("pointermove", (event) => {
    const spot = nearest(converge.spots, ...inside(converge.box, event));
    if (!spot) return unhint();
    return hint(event.clientX, event.clientY, [`trial ${spot.number}`,
      `${whole(spot.latency)} cycles`, data.statuses[spot.status],
      `${spot.seconds.toFixed(1)} s after the start`]);
  });
  converge.box.addEventListener("pointerleave", unhint);
}
