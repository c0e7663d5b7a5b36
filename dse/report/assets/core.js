"use strict";
// The data of the page, elements, scales and numbers, and the state that all charts share.
// Text from the run only ever becomes text: nothing here parses markup.

const data = JSON.parse(document.getElementById("data").textContent);
const byKey = new Map(data.designs.map((design) => [design.key, design]));
const MANY = 600; // marks in one chart that are better smaller
const DSP = data.resources.indexOf("dsp");

// ------------------------------------------------------------------------------------- elements

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const svg = (name, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

const html = (name, attributes = {}, ...children) =>
  filled(document.createElement(name), attributes, children);

const find = (id) => document.getElementById(id);

// -------------------------------------------------------------------------------------- numbers

const whole = (value) => Math.round(value).toLocaleString("en-US");

/** Short enough for an axis: 1.2 k, 35 M. */
function brief(value) {
  const units = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];
  for (const [scale, unit] of units) {
    if (Math.abs(value) >= scale) return `${Number((value / scale).toPrecision(3))}${unit}`;
  }
  return String(Number(value.toPrecision(3)));
}

function ratio(value) {
  if (value >= 100) return `${whole(value)}×`;
  return value < 10 ? `${value.toFixed(2)}×` : `${value.toFixed(1)}×`;
}

/** So many cycles of the run's clock as a time. */
function duration(cycles) {
  const seconds = cycles * data.clock * 1e-9;
  for (const [unit, scale] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) {
    if (seconds >= scale) return `${Number((seconds / scale).toPrecision(4))} ${unit}`;
  }
  return `${Number((seconds / 1e-9).toPrecision(4))} ns`;
}

// --------------------------------------------------------------------------------------- scales

/** From a range of values to a range of pixels; `ticks` are values worth a label. */
function scale(low, high, from, to, logarithmic) {
  const bend = logarithmic ? Math.log10 : (value) => value;
  const first = bend(low);
  const width = bend(high) - first || 1;
  const at = (value) => from + ((bend(value) - first) / width) * (to - from);
  const value = (pixel) => {
    const bent = first + ((pixel - from) / (to - from)) * width;
    return logarithmic ? 10 ** bent : bent;
  };
  return { at, value, low, high, ticks: logarithmic ? decades(low, high) : evenly(low, high) };
}

function evenly(low, high, count = 6) {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high * (1 + 1e-12); n += 1) found.push(n * step);
  return found;
}

function decades(low, high) {
  const span = Math.log10(high / low);
  if (span < 0.7) return evenly(low, high);
  const steps = span > 4.5 ? [1] : span > 2 ? [1, 3] : [1, 2, 5];
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const step of steps) {
      const value = step * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found;
}

/** The range of values with some room around, whatever there is. */
function range(values, logarithmic, room = 0.06) {
  const usable = values.filter((v) => v !== null && v !== undefined && (!logarithmic || v > 0));
  if (!usable.length) return [1, 10];
  let low = usable.reduce((a, b) => Math.min(a, b));
  let high = usable.reduce((a, b) => Math.max(a, b));
  if (logarithmic) {
    const factor = Math.max(1.04, (high / low) ** room);
    return [low / factor, high * factor];
  }
  const around = (high - low || Math.abs(high) || 1) * room;
  return [low >= 0 ? Math.max(0, low - around) : low - around, high + around];
}

// ---------------------------------------------------------------------------------------- state

const state = { selected: null, filters: new Map(), listeners: [] };

/** Hear of changes of what is selected or filtered. */
const listen = (heard) => state.listeners.push(heard);
const changed = () => state.listeners.forEach((heard) => heard());

function select(key) {
  state.selected = key;
  changed();
}

/** Whether a design is within the ranges that are kept on the axes of choices. */
function kept(design) {
  for (const [axis, [low, high]] of state.filters) {
    const place = axis.place(design);
    if (place === null || place < low || place > high) return false;
  }
  return true;
}

// -------------------------------------------------------------------------------------- tooltip

const tip = find("tip");

/** Lines of text next to the pointer; the first is a heading. */
function hint(x, y, lines) {
  tip.replaceChildren(...lines.map((line, n) => html(n ? "div" : "b", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const right = x + 16 + box.width > window.innerWidth;
  const below = y + 16 + box.height > window.innerHeight;
  tip.style.left = `${right ? Math.max(4, x - box.width - 12) : x + 16}px`;
  tip.style.top = `${below ? Math.max(4, y - box.height - 12) : y + 16}px`;
}

const unhint = () => { tip.hidden = true; };

function told(design) {
  const lines = [`${whole(design.latency)} cycles = ${duration(design.latency)}`];
  if (data.bound) lines.push(`${ratio(design.latency / data.bound)} the lower bound`);
  const uses = data.labels.map((name, n) =>
    design.uses[n] === null ? null : `${name} ${whole(design.uses[n])}`);
  lines.push(uses.filter((use) => use !== null).join(", "));
  lines.push(`design ${design.key.slice(0, 8)}${design.trial === null ? "" : `, trial ${design.trial}`}`);
  if (!design.ok) lines.push(design.why);
  return lines;
}

// ---------------------------------------------------------------------------------------- charts

/** Draw now, and again whenever the width changes. */
function drawn(box, draw) {
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (box.clientWidth !== width && box.clientWidth > 0) {
      width = box.clientWidth;
      draw();
    }
  });
  observer.observe(box);
}

/** Grid, ticks and titles of a chart with an x and a y scale inside of a frame. */
function frame(x, y, size, titles) {
  const found = svg("g", { class: "frame" });
  const { left, right, top, bottom } = size;
  let before = -Infinity;
  for (const value of x.ticks) {
    const at = x.at(value);
    found.append(svg("line", { x1: at, x2: at, y1: top, y2: bottom }));
    if (at - before > 44) {
      found.append(svg("text", { x: at, y: bottom + 18, class: "tick middle" }, brief(value)));
      before = at;
    }
  }
  for (const value of y.ticks) {
    const at = y.at(value);
    found.append(svg("line", { x1: left, x2: right, y1: at, y2: at }));
    found.append(svg("text", { x: left - 8, y: at + 4, class: "tick end" }, brief(value)));
  }
  found.append(svg("text", { x: (left + right) / 2, y: bottom + 38, class: "axis middle" }, titles[0]));
  found.append(svg("text", { x: left - 54, y: top - 10, class: "axis" }, titles[1]));
  return found;
}

/** The nearest of some spots to a place, within reach. */
function nearest(spots, x, y, reach = 18) {
  let best = null;
  let distance = reach * reach;
  for (const spot of spots) {
    const away = (spot.x - x) ** 2 + (spot.y - y) ** 2;
    if (away <= distance) [best, distance] = [spot, away];
  }
  return best;
}

/** Where the pointer is inside of a chart. */
function inside(box, event) {
  const edge = box.getBoundingClientRect();
  return [event.clientX - edge.left, event.clientY - edge.top];
}
