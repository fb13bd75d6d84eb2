import { ask, make, plural, post, say } from "./common.js";
import { layOut, shade, show } from "./heatmap.js";
import { card } from "./papers.js";

const get = (id) => document.getElementById(id);
let sent = null; // what was checked: it is sent again to be changed
let answer = null;
let elements = new Map();
const accepted = new Map(); // sentence -> key

function files(list) {
  const form = new FormData();
  for (const file of list) form.append("files", file, file.webkitRelativePath || file.name);
  return form;
}

async function check(list) {
  if (!list.length) return;
  sent = [...list];
  say(get("state"), "Reading the draft and looking for claims without a citation …");
  get("answer").classList.add("hidden");
  get("notes").replaceChildren();
  try {
    answer = await ask("/api/check", { method: "POST", body: files(sent) });
    accepted.clear();
    tell();
  } catch (error) {
    say(get("state"), error.message, true);
  }
}

function tell() {
  say(get("state"), "");
  get("title").textContent = answer.title || answer.path;
  get("notes").replaceChildren(...answer.warnings.slice(0, 20).map((warning) => make("li", {}, warning)));
  get("answer").classList.remove("hidden");
  elements = layOut(get("text"), answer.sections, answer.sentences, decorate);
  get("threshold").value = answer.threshold;
  paint();
  offer();
  get("title").scrollIntoView({ block: "start" });
}

function decorate(element, sentence) {
  const finding = sentence.finding;
  if (!finding) return;
  element.classList.toggle("cited", finding.kind === "cited");
  element.title = finding.kind === "cited" ? `cites ${finding.cites.join(", ")}` : `worthiness ${finding.worthiness.toFixed(2)}`;
  element.tabIndex = 0;
  element.setAttribute("role", "button");
  element.addEventListener("click", () => pick(sentence));
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pick(sentence);
    }
  });
}

function wanting() {
  const threshold = Number(get("threshold").value);
  return answer.sentences.filter((sentence) => sentence.score !== null && sentence.score >= threshold && !accepted.has(sentence.index));
}

function paint() {
  get("from").textContent = Number(get("threshold").value).toFixed(2);
  shade(elements, answer.sentences, Number(get("threshold").value), null);
  get("count").textContent = `${plural(wanting().length, "sentence")} without a citation`;
}

async function pick(sentence) {
  for (const [index, element] of elements) element.classList.toggle("picked", index === sentence.index);
  const panel = get("panel");
  const finding = sentence.finding;
  const head = [
    make("h3", {}, finding.kind === "cited" ? `Cites ${finding.cites.join(", ") || "something that could not be linked"}` : `Needs a citation: ${Math.round(100 * finding.worthiness)} %`),
    make("blockquote", { class: "why" }, finding.text),
  ];
  const list = make("ol", { class: "cards" });
  panel.replaceChildren(...head, list);
  panel.focus({ preventScroll: true });
  if (!finding.recommendations.length) {
    list.append(make("li", { class: "dim" }, "Looking …"));
    const question = { text: finding.text, title: answer.title, n: 3 };
    if (finding.section_type) question.section = finding.section_type;
    try {
      finding.recommendations = (await post("/api/cite", question)).recommendations;
    } catch (error) {
      list.replaceChildren(make("li", { class: "dim" }, error.message));
      return;
    }
  }
  list.replaceChildren(...finding.recommendations.map((one) => card(one, finding.text, acts(sentence, one))));
  if (!finding.recommendations.length) list.replaceChildren(make("li", { class: "dim" }, "Nothing fits: neither in the draft's own bibliography nor in your library."));
}

function acts(sentence, found) {
  if (sentence.finding.kind === "cited" || !found.cite_key) return [];
  const take = make("button", { type: "button", class: "main" }, accepted.get(sentence.index) === found.cite_key ? "Take back" : `Cite as ${found.cite_key}`);
  take.addEventListener("click", () => {
    if (accepted.get(sentence.index) === found.cite_key) accepted.delete(sentence.index);
    else accepted.set(sentence.index, found.cite_key);
    elements.get(sentence.index).classList.toggle("accepted", accepted.has(sentence.index));
    offer();
    paint();
    pick(sentence);
  });
  return [take];
}

function offer() {
  get("download").disabled = accepted.size === 0;
  get("download").textContent = accepted.size ? `Download with ${plural(accepted.size, "citation")} added` : "Download with accepted citations";
}

get("download").addEventListener("click", async () => {
  const form = files(sent);
  const choices = [...accepted].map(([index, key]) => {
    const finding = answer.sentences[index].finding;
    return { file: finding.file, start: finding.start, key };
  });
  form.append("choices", JSON.stringify(choices));
  say(get("state"), "Changing a copy of your files …");
  try {
    const reply = await fetch("/api/check/fix", { method: "POST", body: form });
    if (!reply.ok) throw new Error((await reply.json()).detail);
    const link = make("a", { href: URL.createObjectURL(await reply.blob()), download: "with-citations.zip" });
    link.click();
    URL.revokeObjectURL(link.href);
    const refused = JSON.parse(decodeURIComponent(reply.headers.get("x-refused") || "%5B%5D"));
    say(get("state"), refused.length ? `Downloaded; not changed: ${refused.join("; ")}` : "Downloaded: the changed files, all else as it was.");
  } catch (error) {
    say(get("state"), error.message, true);
  }
});

get("next").addEventListener("click", () => {
  const list = wanting();
  if (!list.length) return;
  const now = document.querySelector(".sentence.picked");
  const after = list.find((sentence) => now && now.compareDocumentPosition(elements.get(sentence.index)) & Node.DOCUMENT_POSITION_FOLLOWING);
  const next = after || list[0];
  show(elements.get(next.index));
  pick(next);
});

get("question").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = get("pasted").value;
  if (text.trim()) check([new File([text], "draft.md", { type: "text/markdown" })]);
  else if (get("files").files.length) check(get("files").files);
  else say(get("state"), "Choose a draft, or paste text.", true);
});
get("files").addEventListener("change", (event) => check(event.target.files));
get("threshold").addEventListener("input", paint);
const drop = get("drop");
for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop") check(event.dataTransfer.files);
  });
}
