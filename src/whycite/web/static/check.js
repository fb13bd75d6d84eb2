import { choosing, dropping, eventsOf, fetched, formOf, get, make, number, plural, post, roving, say } from "./common.js";
import { layOut, overview, shade } from "./heatmap.js";
import { card, inDraft, inLibrary } from "./papers.js";

let chosen = []; // the files that were chosen, to check them again
let sent = null; // the files that were checked, which are sent again to be fixed
let answer = null; // with the finding and score of each sentence
let running = null; // stops the check that is running
let from = null; // the threshold of the last check; null for the default of each section
let elements = new Map();
const accepted = new Map(); // sentence -> key
let unsaved = false; // accepted citations changed since the last download

async function check(list, threshold = null) {
  running?.abort();
  const stop = (running = new AbortController());
  const anew = threshold === null;
  const files = [...list];
  say(get("state"), anew ? "Reading the draft and looking for claims without a citation …" : "Searching …");
  say(get("said"), "");
  if (anew) {
    get("answer").classList.add("hidden");
    get("notes").replaceChildren();
  }
  const form = formOf(files);
  if (threshold !== null) form.append("threshold", threshold);
  try {
    const reply = await fetched("/api/check/stream", { method: "POST", body: form, signal: stop.signal });
    for await (const [kind, told] of eventsOf(reply)) {
      if (stop !== running) return;
      if (kind === "progress") showProgress(told);
      else if (kind === "draft") {
        [answer, sent, from] = [joined(told), files, threshold];
        if (anew) accepted.clear();
        tell(anew);
      } else if (kind === "findings") take(told);
      else if (kind === "failed") throw new Error(told.detail);
      else if (kind === "done") {
        note(told.warnings);
        finish(answer.sentences.length ? "" : "This draft has no text.");
        return;
      }
    }
    throw new Error("The connection was lost before the check was finished. Check the draft again.");
  } catch (error) {
    if (stop !== running) return;
    if (stop.signal.aborted) finish("Stopped. Sentences without papers are searched for when you select them.");
    else finish(error.message, true);
  }
}

// The answer, with the finding and score of each sentence; papers of those that need a citation are still to come.
function joined(told) {
  for (const sentence of told.sentences) {
    sentence.finding = sentence.finding === null ? null : told.findings[sentence.finding];
    sentence.score = sentence.finding && sentence.finding.kind !== "cited" ? sentence.finding.worthiness : null;
    sentence.pending = sentence.finding?.kind === "needs-citation";
  }
  return told;
}

function take({ start, findings }) {
  findings.forEach((finding, number) => Object.assign(answer.findings[start + number], finding));
  const complete = new Set(answer.findings.slice(start, start + findings.length));
  for (const sentence of answer.sentences) {
    if (complete.has(sentence.finding)) settle(sentence);
  }
}

// No more papers come for a sentence: show them if it is selected, without moving the focus.
function settle(sentence) {
  if (!sentence.pending) return;
  sentence.pending = false;
  const list = get("panel").querySelector("ol.cards");
  if (!list || !elements.get(sentence.index).classList.contains("picked")) return;
  list.replaceChildren();
  showPapers(sentence, list);
}

function showProgress({ stage, completed, total }) {
  get("working").classList.remove("hidden");
  say(get("state"), ""); // the stage says it now
  if (total) [get("progress").max, get("progress").value] = [total, completed];
  else get("progress").removeAttribute("value");
  get("stage").textContent = `${stage[0].toUpperCase()}${stage.slice(1)}${total ? `: ${number(completed)} of ${number(total)}` : ""} …`;
}

function finish(text, wrong = false) {
  running = null;
  get("working").classList.add("hidden");
  say(get("state"), text, wrong);
  answer?.sentences.forEach(settle);
}

function note(warnings) {
  get("notes").replaceChildren(...warnings.slice(0, 20).map((warning) => make("li", { dir: "auto" }, warning)));
}

function tell(anew) {
  get("title").textContent = answer.title || answer.path;
  note(answer.warnings);
  say(get("unwritable"), answer.unwritable ? `Citations cannot be added to this draft here: ${answer.unwritable}.` : "");
  get("unwritable").classList.toggle("hidden", !answer.unwritable);
  get("answer").classList.remove("hidden");
  elements = layOut(get("text"), answer.sections, answer.sentences, decorate);
  for (const index of accepted.keys()) elements.get(index).classList.add("accepted");
  const byElement = new Map([...elements].map(([index, element]) => [element, answer.sentences[index]]));
  roving(get("text"), [...elements.values()].filter((element) => "pick" in element.dataset), (element) => pick(byElement.get(element)));
  if (anew) {
    get("threshold").value = answer.threshold;
    get("panel").replaceChildren(make("p", { class: "dim" }, "Select a sentence to see what it could cite."));
  }
  paint();
  offer();
  if (anew) {
    get("title").scrollIntoView({ block: "start" });
    get("title").focus({ preventScroll: true });
  }
}

function decorate(element, sentence) {
  const finding = sentence.finding;
  if (!finding) return;
  element.classList.toggle("cited", finding.kind === "cited");
  element.classList.toggle("broken", Boolean(finding.problems));
  element.title = finding.problems ? problemsOf(finding).join("\n") : finding.kind === "cited" ? `cites ${finding.cites.join(", ")}` : `${chance(finding)} likely to need a citation`;
  element.dataset.pick = "";
  element.setAttribute("role", "button");
}

function chance(finding) {
  return `${Math.round(100 * finding.worthiness)}%`;
}

function problemsOf(finding) {
  return (finding.problems || []).map((problem) => `${problem.key}: ${problem.message}`);
}

function wanting() {
  const threshold = Number(get("threshold").value);
  return answer.sentences.filter((sentence) => sentence.score !== null && sentence.score >= threshold && !accepted.has(sentence.index));
}

function paint() {
  const threshold = Number(get("threshold").value);
  get("from").textContent = `${Math.round(100 * threshold)}%`;
  shade(elements, answer.sentences, threshold);
  overview(elements, get("strip"), get("text"));
  const left = wanting().length;
  get("count").textContent = `${plural(left, "sentence")} without a citation`;
  get("next").disabled = left === 0;
}

async function pick(sentence, where = "nearest") {
  for (const [index, element] of elements) element.classList.toggle("picked", index === sentence.index);
  const finding = sentence.finding;
  const said = finding.kind === "cited" ? `Cites ${finding.cites.join(", ") || "an unknown reference"}` : `${chance(finding)} likely to need a citation${finding.rule ? `, ${finding.rule}` : ""}`;
  const list = make("ol", { class: "cards" });
  get("panel").replaceChildren(make("h3", { tabindex: "-1", id: "picked" }, said), make("blockquote", { class: "why", dir: "auto" }, finding.clause ? `… ${finding.clause}` : finding.text), ...problemsOf(finding).map((problem) => make("p", { class: "wrong", role: "note", dir: "auto" }, problem)), list);
  get("panel").scrollTop = 0;
  get("picked").focus({ preventScroll: true });
  elements.get(sentence.index).scrollIntoView({ block: where }); // on a narrow screen the panel may cover it
  await showPapers(sentence, list);
}

async function showPapers(sentence, list) {
  const finding = sentence.finding;
  const claim = finding.clause || finding.text;
  if (sentence.pending) {
    list.append(make("li", { class: "dim" }, "Searching …"));
    return; // settle shows its papers once they come
  }
  let found = finding.recommendations;
  let doubtful = finding.doubtful;
  if (!found.length) {
    list.append(make("li", { class: "dim" }, "Searching …"));
    const question = { text: claim, title: answer.title.slice(0, 2000), n: 3 };
    if (finding.section_type) question.section = finding.section_type;
    try {
      ({ recommendations: found, doubtful } = await post("/api/cite", question));
    } catch (error) {
      list.replaceChildren(make("li", { class: "dim" }, error.message));
      return;
    }
  }
  if (answer.unwritable && found.length) list.before(make("p", { class: "dim" }, "Citations cannot be added to this draft here; copy the BibTeX instead."));
  const nothing = make("li", { class: "dim" }, "No matching papers in the draft's bibliography or your library.");
  if (doubtful) list.before(make("p", { class: "dim" }, "No paper is a clear match. The closest ones:"));
  const shown = inDraft(found, answer.title);
  const known = inLibrary(shown);
  list.replaceChildren(...(found.length ? shown.map((one, rank) => card(one, claim, acts(sentence, found[rank]), known)) : [nothing]));
}

function acts(sentence, found) {
  if (sentence.finding.kind === "cited" || !found.cite_key || answer.unwritable) return [];
  const taken = accepted.get(sentence.index) === found.cite_key;
  const take = make("button", { type: "button", class: "main" }, taken ? "Undo" : `Cite as ${found.cite_key}`);
  take.addEventListener("click", async () => {
    if (taken) accepted.delete(sentence.index);
    else accepted.set(sentence.index, found.cite_key);
    unsaved = true;
    say(get("said"), "");
    elements.get(sentence.index).classList.toggle("accepted", accepted.has(sentence.index));
    offer();
    paint();
    await pick(sentence);
    get("panel").querySelectorAll("button.main")[sentence.finding.recommendations.indexOf(found)]?.focus();
  });
  return [take];
}

function offer() {
  get("download").disabled = accepted.size === 0;
  get("download").classList.toggle("hidden", Boolean(answer.unwritable));
  get("comment").classList.toggle("hidden", !["docx", "odt"].includes(answer.format));
  get("download").textContent = accepted.size ? `Download with ${plural(accepted.size, "citation")} added` : "Download with accepted citations";
}

get("download").addEventListener("click", () => {
  const choices = [...accepted].map(([index, key]) => ({ file: answer.sentences[index].finding.file, start: answer.sentences[index].start, key }));
  fetchCopy({ choices: JSON.stringify(choices) }, "with-citations.zip", "Adding citations to a copy of your files …");
});

get("comment").addEventListener("click", () => {
  fetchCopy({ marks: "comments" }, "with-comments.zip", "Writing comments into a copy of your file …");
});

async function fetchCopy(fields, name, message) {
  const form = formOf(sent);
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  if (from !== null) form.append("threshold", from);
  say(get("said"), message);
  try {
    const reply = await fetched("/api/check/fix", { method: "POST", body: form });
    const link = make("a", { href: URL.createObjectURL(await reply.blob()), download: name });
    if (fields.choices) unsaved = false;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // by then the download has finished
    const refused = JSON.parse(decodeURIComponent(reply.headers.get("x-refused") || "%5B%5D"));
    say(get("said"), refused.length ? `Downloaded. Not added: ${refused.join("; ")}` : "Downloaded the changed files.");
  } catch (error) {
    say(get("said"), error.message, true);
  }
}

get("stop").addEventListener("click", () => running?.abort());

get("next").addEventListener("click", () => {
  const list = wanting();
  const now = document.querySelector(".sentence.picked");
  const after = list.find((sentence) => now && now.compareDocumentPosition(elements.get(sentence.index)) & Node.DOCUMENT_POSITION_FOLLOWING);
  pick(after || list[0], "center");
});

// Turns pasted text into a draft with an empty bibliography, unless it has front matter of its own.
function pasted(text) {
  const file = (name, ...parts) => new File(parts, name, { type: "text/plain" });
  if (/^\s*---\s*\n/.test(text)) return [file("draft.md", text)];
  return [file("draft.md", "---\nbibliography: references.bib\n---\n\n", text), file("references.bib")];
}

function checkFiles(files) {
  chosen = [...files];
  check(chosen);
}

get("question").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = get("pasted").value;
  if (text.trim()) check(pasted(text));
  else if (chosen.length) check(chosen);
  else say(get("state"), "Choose a draft, or paste text.", true);
});
choosing(get("files"), checkFiles);
get("threshold").addEventListener("input", paint);
// Sentences below the last threshold have no recommendations yet.
get("threshold").addEventListener("change", () => {
  const wanted = Number(get("threshold").value);
  if (wanted < (from ?? answer.threshold)) check(sent, wanted);
});
window.addEventListener("beforeunload", (event) => {
  if (unsaved && accepted.size) event.preventDefault();
});
// Scrolled elements stop below the bar, whatever its height.
new ResizeObserver(([{ target }]) => document.documentElement.style.setProperty("--bar", `${target.offsetHeight}px`)).observe(get("bar"));
window.addEventListener("resize", () => answer && overview(elements, get("strip"), get("text")));
dropping(get("drop"), checkFiles);
