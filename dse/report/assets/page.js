// The page around the charts: the selected design, tables, copying, dark and light.

const card = find("card");
const articles = [...document.querySelectorAll("article.design")];

/** The figures of the selected design next to the chart. */
function showCard() {
  const design = byKey.get(state.selected);
  if (!design) {
    card.replaceChildren(html("p", { class: "muted" }, "Nothing is selected."));
    return;
  }
  const rows = [["latency", `${whole(design.latency)} cycles`], ["time", duration(design.latency)]];
  if (data.bound) rows.push(["to the bound", ratio(design.latency / data.bound)]);
  if (data.plain) rows.push(["speed-up", ratio(data.plain / design.latency)]);
  data.labels.forEach((label, n) => {
    const limit = data.limits[n];
    const use = design.uses[n];
    if (use === null) return;
    rows.push([label, limit ? `${whole(use)} (${Math.round((100 * use) / limit)}%)` : whole(use)]);
  });
  const list = html("dl", { class: "pairs" }, ...rows.map(([name, value]) =>
    html("div", {}, html("dt", {}, name), html("dd", {}, value))));
  const place = design.ok ? (design.front ? "on the front" : "behind the front") : design.why;
  card.replaceChildren(html("h3", {}, "Design ", html("code", {}, design.key.slice(0, 8))),
    html("p", { class: "muted" }, place), list, wayTo(design));
}

function wayTo(design) {
  if (design.told) return html("a", { href: `#d-${design.key}`, class: "button" }, "Loops and schedule");
  return html("p", { class: "muted" }, "Its schedule: ",
    html("code", {}, `weft ${data.makes} RUN --point ${design.key.slice(0, 12)}`));
}

function showArticle() {
  const chosen = articles.some((a) => a.id === `d-${state.selected}`);
  for (const article of articles) {
    const mine = article.id === `d-${state.selected}`;
    if (chosen) article.hidden = !mine;
  }
  for (const button of document.querySelectorAll("button.pick")) {
    const mine = button.dataset.key === state.selected;
    button.setAttribute("aria-pressed", String(mine));
    button.closest("tr").classList.toggle("chosen", mine);
  }
}

// ----------------------------------------------------------------------------------------- tables

/** Click on a head: sort by that column; again: the other way round. */
function sortable(table) {
  table.querySelectorAll("th").forEach((head, column) => {
    const button = html("button", { type: "button" }, head.textContent);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const rows = [...body.rows].sort((a, b) =>
        compared(cellValue(a.cells[column]), cellValue(b.cells[column])));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
}

const UNITS = { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9 };

function cellValue(cell) {
  const found = /^([\d,.]+)\s*(s|ms|µs|ns)?[×%]?$/.exec(cell.textContent.trim());
  return found ? Number(found[1].replaceAll(",", "")) * (UNITS[found[2]] || 1) : cell.textContent;
}

// ------------------------------------------------------------------------------------------ copy

async function copy(button) {
  const code = button.parentElement.querySelector("code");
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(`${code.textContent}\n`);
    button.textContent = "Copied";
  } catch {
    // Some browsers keep the clipboard from local files: select, so that Ctrl-C does it.
    const range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "Press Ctrl-C";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

// ------------------------------------------------------------------------------------------ theme

function startTheme() {
  const button = find("theme");
  const root = document.documentElement;
  let dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const show = () => {
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(dark));
  };
  button.addEventListener("click", () => {
    dark = !dark;
    root.dataset.theme = dark ? "dark" : "light";
    show();
  });
  show();
}

function start() {
  startTheme();
  startFront();
  startConverge();
  startParallel();
  listen(showCard);
  listen(showArticle);
  document.querySelectorAll("button.copy").forEach((b) => b.addEventListener("click", () => copy(b)));
  document.querySelectorAll("button.pick").forEach((b) =>
    b.addEventListener("click", () => select(b.dataset.key)));
  if (find("front-table")) sortable(find("front-table"));
  const asked = location.hash.startsWith("#d-") ? location.hash.slice(3) : null;
  // Where nothing keeps to the limits, the first that is told of comes nearest to them.
  const nearest = articles.length ? byKey.get(articles[0].id.slice(2)) : null;
  const first = data.designs.find((d) => d.front) || nearest || data.designs[0];
  select(byKey.has(asked) ? asked : first ? first.key : null);
  window.addEventListener("hashchange", () => {
    const key = location.hash.slice(3);
    if (location.hash.startsWith("#d-") && byKey.has(key)) select(key);
  });
  document.documentElement.dataset.ready = "yes";
}

start();
