import { addPapers, showAdded, showNotes } from "./adding.js";
import { ask, choosing, dropping, get, here, make, number, paperAddress, plural, post, say, twice } from "./common.js";
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
      Papers: number(info.documents),
      "Cited papers": number(info.papers),
      Citations: number(info.citations),
      Size: `${(info.bytes / 1e6).toFixed(1)} MB`,
      Folder: info.path,
    };
    get("info").replaceChildren(
      ...Object.entries(facts).map(([name, value]) => make("div", { class: name === "Folder" ? "whole" : null }, make("dt", {}, name), make("dd", {}, value))),
    );
    await showCollections(wanted().collection || new URLSearchParams(location.search).get("collection") || "");
    await showDocuments();
    get("contents").classList.remove("loading");
    await showFigures();
  } catch (error) {
    if (turn === informed) say(get("state"), error.message, true);
  } finally {
    get("contents").classList.remove("loading");
  }
}

const chosen = new Map(); // ids of documents, and the keys of their papers

function wanted() {
  const { query, sort, collection } = get("search").elements;
  return { query: query.value, sort: sort.value, collection: collection.value };
}

async function showCollections(name = wanted().collection) {
  const { collections } = await ask("/api/library/collections");
  const choice = get("search").elements.collection;
  choice.replaceChildren(make("option", { value: "" }, "all papers"), ...collections.map((one) => make("option", { value: one.name }, `${one.name} (${number(one.papers.length)})`)));
  choice.value = collections.some((one) => one.name === name) ? name : "";
  get("names").replaceChildren(...collections.map((one) => make("option", { value: one.name })));
  get("deleting").replaceChildren(...(choice.value ? [twice("Delete collection", "Confirm: its papers stay", deleteCollection)] : []));
}

async function deleteCollection() {
  const name = wanted().collection;
  try {
    await ask(`/api/library/collections/${encodeURIComponent(name)}`, { method: "DELETE" });
    await showCollections("");
    await showDocuments();
    say(get("state"), `Deleted the collection “${name}”; its papers are still here.`);
    get("search").elements.collection.focus();
  } catch (error) {
    say(get("state"), error.message, true);
  }
}

// Puts the selected papers into a collection, or takes them out of it.
async function collect(name, kind) {
  const keys = [...chosen.values()].filter(Boolean);
  const count = plural(keys.length, "paper");
  try {
    const options = { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify({ [kind]: keys }) };
    await ask(`/api/library/collections/${encodeURIComponent(name)}`, options);
    await showCollections();
    await showDocuments();
    say(get("state"), kind === "add" ? `Added ${count} to “${name}”.` : `Took ${count} out of “${name}”.`);
    get("all").focus();
  } catch (error) {
    say(get("state"), error.message, true);
  }
}

function showChosen() {
  say(get("selected"), chosen.size ? `${plural(chosen.size, "paper")} selected` : "None selected: all papers that match are exported");
  const { collection } = wanted();
  for (const control of get("collecting").elements) control.disabled = !chosen.size; // always there, so that nothing moves
  get("leave").classList.toggle("hidden", !collection);
  get("removing").replaceChildren(
    ...(chosen.size ? [twice(`Remove ${plural(chosen.size, "paper")}`, `Confirm: remove ${plural(chosen.size, "paper")}`, removeChosen)] : []),
  );
}

async function removeChosen(button) {
  button.disabled = true;
  const count = chosen.size;
  try {
    await post("/api/library/documents/remove", { ids: [...chosen.keys()] });
    await showInfo();
    say(get("state"), `Removed ${plural(count, "paper")}.`);
    get("all").focus();
  } catch (error) {
    say(get("state"), error.message, true);
    button.disabled = false;
  }
}

async function showDocuments() {
  const turn = ++looked;
  const { query, sort, collection } = wanted();
  const address = new URLSearchParams(Object.entries({ query, collection, sort: sort === "added" ? "" : sort }).filter(([, value]) => value)).toString();
  history.replaceState(null, "", address ? `?${address}` : location.pathname);
  try {
    const page = await ask(`/api/library/documents?${new URLSearchParams({ offset, limit: LIMIT, query, sort, collection, descending: sort !== "title" })}`);
    if (turn !== looked) return;
    if (offset && offset >= page.total) {
      offset = Math.max(0, offset - LIMIT);
      await showDocuments();
      return;
    }
    chosen.clear();
    get("all").checked = false;
    get("rows").replaceChildren(...page.documents.map(row));
    showChosen();
    const last = Math.min(offset + LIMIT, page.total);
    say(get("place"), page.total ? `${number(offset + 1)}–${number(last)} of ${number(page.total)}` : "No papers match.");
    get("back").disabled = offset === 0;
    get("on").disabled = last >= page.total;
  } catch (error) {
    if (turn === looked) say(get("place"), error.message, true);
  }
}

function row(entry) {
  const file = entry.path.replace(/^<upload>\//, "");
  const title = entry.title || file;
  const remove = make("button", { type: "button", class: "small", "aria-label": `Remove ${title}` }, "Remove");
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
  const choose = make("input", { type: "checkbox", "aria-label": `Select ${title}` });
  choose.addEventListener("change", () => {
    if (choose.checked) chosen.set(entry.id, entry.key);
    else chosen.delete(entry.id);
    showChosen();
  });
  const name = entry.key ? make("a", { href: paperAddress(entry.key) }, title) : title;
  return make(
    "tr",
    {},
    make("td", { dir: "auto" }, choose, " ", entry.status ? make("span", { class: "wrong" }, `[${entry.status}] `) : null, name, entry.title ? make("div", { class: "dim" }, file) : null),
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
      make("li", { dir: "auto" }, make("a", { href: paperAddress(one.paper.key) }, one.paper.title || one.paper.key), one.paper.year ? `, ${one.paper.year} ` : " ", one.paper.warning ? make("span", { class: "wrong" }, `${one.paper.warning} `) : null, make("span", { class: "dim" }, `(${plural(one.support, "citation")})`)),
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

function add(files) {
  if (files && !files.length) return;
  showNotes({});
  addPapers(files, async (told) => {
    offset = 0;
    await showInfo();
    showNotes(told);
  });
}

get("zotero").addEventListener("click", () => add(null));
dropping(get("drop"), add);
choosing(get("files"), add);
get("search").addEventListener("submit", (event) => event.preventDefault());
get("search").addEventListener("input", () => {
  offset = 0;
  showDocuments();
});
get("all").addEventListener("change", () => {
  for (const box of get("rows").querySelectorAll("[type=checkbox]")) {
    if (box.checked !== get("all").checked) box.click();
  }
});
get("export").addEventListener("click", () => {
  const asked = new URLSearchParams({ format: get("format").value, query: wanted().query, collection: wanted().collection });
  for (const id of chosen.keys()) asked.append("id", id);
  make("a", { href: here(`/api/library/export?${asked}`), download: "" }).click();
});
get("collecting").addEventListener("submit", (event) => {
  event.preventDefault();
  collect(event.target.elements.name.value.trim(), "add");
});
get("leave").addEventListener("click", () => collect(wanted().collection, "remove"));
get("search").elements.collection.addEventListener("change", () => showCollections());
get("back").addEventListener("click", () => {
  offset = Math.max(0, offset - LIMIT);
  showDocuments();
});
get("on").addEventListener("click", () => {
  offset += LIMIT;
  showDocuments();
});
for (const [name, value] of new URLSearchParams(location.search)) {
  if (["query", "sort"].includes(name)) get("search").elements[name].value = value;
}
if (!get("search").elements.sort.value) get("search").elements.sort.value = "added";
showAdded();
showInfo();
