import { ask, make, number, plural, say } from "./common.js";
import { bars } from "./plots.js";

const get = (id) => document.getElementById(id);
const LIMIT = 50;
let offset = 0;

async function showInfo() {
  try {
    const info = await ask("/api/library");
    const facts = {
      Documents: number(info.documents),
      Papers: number(info.papers),
      Spans: number(info.spans),
      Size: `${(info.bytes / 1e6).toFixed(1)} MB`,
      Encoder: info.encoder.split("@")[0],
      Place: info.path,
    };
    get("info").replaceChildren(
      ...Object.entries(facts).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    );
    await Promise.all([showDocuments(), showFigures()]);
  } catch (error) {
    get("info").replaceChildren(make("div", {}, make("dd", {}, error.message)));
  }
}

async function showDocuments() {
  const query = get("search").elements.query.value;
  const page = await ask(`/api/library/documents?${new URLSearchParams({ offset, limit: LIMIT, query })}`);
  get("rows").replaceChildren(...page.documents.map(row));
  const last = Math.min(offset + LIMIT, page.total);
  say(get("place"), page.total ? `${number(offset + 1)} to ${number(last)} of ${number(page.total)}` : "none");
  get("back").disabled = offset === 0;
  get("on").disabled = last >= page.total;
}

function row(entry) {
  const title = entry.title || entry.path;
  const remove = make("button", { type: "button", "aria-label": `Remove ${title}` }, "Remove");
  let sure = false;
  remove.addEventListener("click", async () => {
    if (!sure) {
      sure = true;
      remove.textContent = "Really remove?";
      return;
    }
    remove.disabled = true;
    try {
      await ask(`/api/library/documents/${entry.id}`, { method: "DELETE" });
      await showInfo();
    } catch (error) {
      say(get("state"), error.message, true);
    }
  });
  remove.addEventListener("blur", () => {
    sure = false;
    remove.textContent = "Remove";
  });
  return make(
    "tr",
    {},
    make("td", {}, title, entry.title ? make("div", { class: "dim" }, entry.path) : null),
    make("td", {}, entry.year ? String(entry.year) : "–"),
    make("td", {}, number(entry.citations)),
    make("td", {}, entry.added.slice(0, 10)),
    make("td", {}, remove),
  );
}

async function showFigures() {
  const figures = await ask("/api/library/statistics");
  const years = Object.entries(figures.years).map(([year, count]) => [Number(year), count]);
  get("years").replaceChildren(bars(years.filter(([year]) => year >= 1950), "Papers by year"));
  get("support").replaceChildren(bars(grouped(figures.support), "Papers by how often they are cited"));
  get("most").replaceChildren(
    ...figures.most_cited.map((one) =>
      make("li", {}, `${one.paper.title || one.paper.key}${one.paper.year ? `, ${one.paper.year}` : ""} `, make("span", { class: "dim" }, `(${plural(one.support, "place")})`)),
    ),
  );
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
  const sent = new FormData();
  for (const file of files) sent.append("files", file, file.webkitRelativePath || file.name);
  get("notes").replaceChildren();
  get("progress").classList.remove("hidden");
  get("progress").removeAttribute("value");
  say(get("state"), `Sending ${plural(files.length, "file")} …`);
  try {
    const { id } = await ask("/api/library/documents", { method: "POST", body: sent });
    follow(id, files.length);
  } catch (error) {
    over(error.message, true);
  }
}

function follow(id, files) {
  const events = new EventSource(`/api/library/uploads/${id}`);
  events.addEventListener("progress", (event) => {
    const told = JSON.parse(event.data);
    get("progress").max = Math.max(files, told.read);
    get("progress").value = told.read;
    say(get("state"), `${plural(told.read, "document")} read: ${told.reading}`);
  });
  events.addEventListener("done", (event) => {
    events.close();
    const told = JSON.parse(event.data);
    over(`${plural(told.added + told.replaced, "document")} added, ${told.unchanged} there already.`);
    const notes = [...told.skipped.map((one) => `${one.path}: ${one.reason}`), ...told.warnings.map((one) => `${one.path}: ${one.warning}`)];
    get("notes").replaceChildren(...notes.slice(0, 100).map((note) => make("li", {}, note)));
    offset = 0;
    showInfo();
  });
  events.addEventListener("failed", (event) => {
    events.close();
    over(JSON.parse(event.data).detail, true);
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) over("The connection broke off; reload the page to see what was added.", true);
  });
}

function over(text, wrong = false) {
  get("progress").classList.add("hidden");
  say(get("state"), text, wrong);
}

const drop = get("drop");
for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop") add([...event.dataTransfer.files]);
  });
}
get("files").addEventListener("change", (event) => {
  add([...event.target.files]);
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
