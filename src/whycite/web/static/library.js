import { ask, dropping, formOf, get, make, number, plural, say } from "./common.js";
import { bars } from "./plots.js";

const LIMIT = 50;
const EARLIEST = 1950; // earlier years share one bar
let offset = 0;
let looked = 0;
let informed = 0;

async function showInfo() {
  const turn = ++informed;
  try {
    const { documents } = await ask("/api/health");
    if (turn !== informed) return;
    get("held").classList.toggle("hidden", !documents);
    if (!documents) {
      get("info").replaceChildren();
      get("empty").classList.remove("hidden");
      return;
    }
    get("empty").classList.add("hidden");
    const info = await ask("/api/library");
    if (turn !== informed) return;
    const facts = {
      Documents: number(info.documents),
      Papers: number(info.papers),
      Spans: number(info.spans),
      Size: `${(info.bytes / 1e6).toFixed(1)} MB`,
      Encoder: info.encoder.split("@")[0],
      Location: info.path,
    };
    get("info").replaceChildren(
      ...Object.entries(facts).map(([name, value]) => make("div", { class: name === "Location" ? "whole" : null }, make("dt", {}, name), make("dd", {}, value))),
    );
    await Promise.all([showDocuments(), showFigures()]);
  } catch (error) {
    if (turn === informed) say(get("state"), error.message, true);
  }
}

async function showDocuments() {
  const turn = ++looked;
  const query = get("search").elements.query.value;
  try {
    const page = await ask(`/api/library/documents?${new URLSearchParams({ offset, limit: LIMIT, query })}`);
    if (turn !== looked) return;
    if (offset && offset >= page.total) {
      offset = Math.max(0, offset - LIMIT);
      await showDocuments();
      return;
    }
    get("rows").replaceChildren(...page.documents.map(row));
    const last = Math.min(offset + LIMIT, page.total);
    say(get("place"), page.total ? `${number(offset + 1)}–${number(last)} of ${number(page.total)}` : "No documents match.");
    get("back").disabled = offset === 0;
    get("on").disabled = last >= page.total;
  } catch (error) {
    if (turn === looked) say(get("place"), error.message, true);
  }
}

function row(entry) {
  const title = entry.title || entry.path;
  const remove = make("button", { type: "button", "aria-label": `Remove ${title}` }, "Remove");
  let sure = false;
  const be = (certain) => {
    sure = certain;
    remove.textContent = sure ? "Confirm removal" : "Remove";
    remove.setAttribute("aria-label", sure ? `Press again to remove ${title}` : `Remove ${title}`);
  };
  remove.addEventListener("click", async () => {
    if (!sure) {
      be(true);
      return;
    }
    remove.disabled = true;
    try {
      await ask(`/api/library/documents/${entry.id}`, { method: "DELETE" });
      say(get("state"), `Removed ${title}.`);
      await showInfo();
      (get("rows").querySelector("button") || get("files")).focus();
    } catch (error) {
      say(get("state"), error.message, true);
      remove.disabled = false;
    }
  });
  remove.addEventListener("blur", () => be(false));
  return make(
    "tr",
    {},
    make("td", { dir: "auto" }, entry.status ? make("span", { class: "wrong" }, `[${entry.status}] `) : null, title, entry.title ? make("div", { class: "dim" }, entry.path) : null),
    make("td", {}, entry.year ? String(entry.year) : "–"),
    make("td", {}, number(entry.citations)),
    make("td", {}, entry.added.slice(0, 10)),
    make("td", {}, remove),
  );
}

async function showFigures() {
  const figures = await ask("/api/library/statistics");
  get("years").replaceChildren(bars(byYear(figures.years), "Papers by year"));
  get("support").replaceChildren(bars(grouped(figures.support), "Papers by number of citations"));
  get("most").replaceChildren(
    ...figures.most_cited.map((one) =>
      make("li", { dir: "auto" }, `${one.paper.title || one.paper.key}${one.paper.year ? `, ${one.paper.year}` : ""} `, one.paper.warning ? make("span", { class: "wrong" }, `${one.paper.warning} `) : null, make("span", { class: "dim" }, `(${plural(one.support, "citation")})`)),
    ),
  );
}

// One bar per year, including years without papers; early years share one bar.
function byYear(years) {
  const known = Object.entries(years).map(([year, count]) => [Number(year), count]);
  const older = known.filter(([year]) => year < EARLIEST).reduce((sum, [, count]) => sum + count, 0);
  const later = new Map(known.filter(([year]) => year >= EARLIEST));
  if (!later.size) return older ? [[`<${EARLIEST}`, older]] : [];
  const first = Math.min(...later.keys());
  const all = Array.from({ length: Math.max(...later.keys()) - first + 1 }, (_, at) => [first + at, later.get(first + at) || 0]);
  return older ? [[`<${EARLIEST}`, older], ...all] : all;
}

// 1, 2, 3 to 4, 5 to 8, 9 to 16, …
function grouped(support) {
  const groups = new Map();
  for (const [places, papers] of Object.entries(support)) {
    const top = 2 ** Math.ceil(Math.log2(Number(places)));
    const label = top <= 2 ? String(top) : `${top / 2 + 1}–${top}`;
    groups.set(label, (groups.get(label) || 0) + papers);
  }
  return [...groups];
}

async function add(files) {
  if (!files.length) return;
  get("notes").replaceChildren();
  get("progress").classList.remove("hidden");
  get("progress").removeAttribute("value");
  say(get("state"), `Uploading ${plural(files.length, "file")} …`);
  try {
    const { id } = await ask("/api/library/documents", { method: "POST", body: formOf(files) });
    follow(id, files.length);
  } catch (error) {
    over(error.message, true);
  }
}

function follow(id, files) {
  const events = new EventSource(`/api/library/uploads/${id}`);
  events.addEventListener("progress", (event) => {
    const told = JSON.parse(event.data);
    if (told.waiting) {
      say(get("state"), `Waiting: ${told.waiting}`);
      return;
    }
    get("progress").max = Math.max(files, told.read);
    get("progress").value = told.read;
    say(get("state"), told.read ? `Read ${plural(told.read, "document")}; now ${told.reading}` : "Reading …");
  });
  events.addEventListener("done", async (event) => {
    events.close();
    const told = JSON.parse(event.data);
    offset = 0;
    await showInfo(); // first, so that nothing moves after the upload is reported as finished
    over(`Added ${plural(told.added + told.replaced, "document")}; ${told.unchanged} unchanged.`);
    const notes = [...told.skipped.map((one) => `${one.path}: ${one.reason}`), ...told.warnings.map((one) => `${one.path}: ${one.warning}`)];
    get("notes").replaceChildren(...notes.slice(0, 100).map((note) => make("li", {}, note)));
  });
  events.addEventListener("failed", (event) => {
    events.close();
    over(JSON.parse(event.data).detail, true);
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) over("Connection lost. Reload the page to see what was added.", true);
  });
}

function over(text, wrong = false) {
  get("progress").classList.add("hidden");
  say(get("state"), text, wrong);
}

dropping(get("drop"), add);
get("files").addEventListener("change", (event) => {
  add([...event.target.files]);
  event.target.value = ""; // so that the same files can be selected again
});
get("search").addEventListener("submit", (event) => event.preventDefault());
get("search").addEventListener("input", () => {
  offset = 0;
  showDocuments();
});
get("back").addEventListener("click", () => {
  offset = Math.max(0, offset - LIMIT);
  showDocuments();
});
get("on").addEventListener("click", () => {
  offset += LIMIT;
  showDocuments();
});
showInfo();
