import { ask, choosing, dropping, formOf, get, here, make, number, plural, roving, say, twice } from "./common.js";
import { layOut } from "./heatmap.js";
import { card, inDraft } from "./papers.js";
import { deciding as decisive, showOriginal } from "./paperview.js";
import { VERDICTS, WORST_FIRST, byBadness, doiLink, verdictCard, who } from "./verdicts.js";

const id = get("workspace").dataset.project;
const api = `/api/projects/${id}`;
const home = here(`/projects/${id}`);
const HASH_LENGTH = 32; // of a file with one paper; that of one among several is longer
const WAIT = 700; // milliseconds between two questions about progress
const BAD = ["contradicted", "secondary", "not found", "uncited"];
const NO_CLAIM = ["method", "pointer"]; // what a paper is cited for where there is nothing to check
let draft = null; // its sentences
let elements = new Map();
let verdicts = new Map(); // by id
let dismissals = {};
let acceptances = new Set();
let comments = {}; // by id of the sentence
const unsaved = new Map(); // comments that are being written, which survive when the panel is shown anew
let progress = { token: "", seen: 0, state: "new", draft: "unread" };
let filter = "";
let picked = null; // the number of a sentence
let timer = 0;

// Progress: what came since the last time is added to what is shown.

async function follow() {
  clearTimeout(timer);
  try {
    const now = await ask(`${api}/progress?token=${progress.token}&seen=${progress.seen}`);
    const replaced = now.draft_hash !== progress.draft_hash;
    const anew = now.token !== progress.token || replaced;
    const [before, wasRunning] = [progress, progress.state === "running"];
    progress = now;
    dismissals = now.dismissals;
    acceptances = new Set(now.acceptances);
    comments = now.comments;
    if (anew) verdicts = new Map();
    for (const record of now.verdicts) verdicts.set(record.id, record);
    if ((replaced || now.draft !== before.draft) && now.draft !== "unread") await readDraft();
    showProgress();
    if (anew || now.verdicts.length || now.state !== before.state || now.draft !== before.draft) {
      paint();
      const changed = now.verdicts.some((record) => record.sentence === picked);
      if (changed && !get("panel").contains(document.activeElement)) showSentence();
    }
    if (wasRunning && now.state !== "running") await showProject();
    if (now.state === "running") timer = setTimeout(follow, WAIT);
  } catch (error) {
    say(get("state"), error.message, true);
    timer = setTimeout(follow, 5 * WAIT);
  }
}

function showProgress() {
  const { state, stage, completed, total, detail } = progress;
  const running = state === "running";
  get("working").classList.toggle("hidden", !running);
  get("verify").classList.toggle("hidden", running);
  get("verify").textContent = state === "stopped" ? "Continue" : "Verify again";
  if (running) {
    if (total) [get("progress").max, get("progress").value] = [total, completed];
    else get("progress").removeAttribute("value");
    get("stage").textContent = `${stage}${total ? `: ${number(completed)} of ${number(total)}` : ""} …`;
  }
  const isUnreadable = state === "failed" && progress.draft === "unread";
  get("workspace").classList.toggle("unreadable", isUnreadable);
  say(get("state"), running ? "" : isUnreadable ? `${sentenceEnd(detail)} Choose another file with “Replace the draft”.` : detail, state === "failed");
}

function sentenceEnd(text) {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

async function readDraft() {
  [draft] = await Promise.all([ask(`${api}/draft`), showProject()]); // whose name is the title of the draft
  get("notes").replaceChildren(...draft.warnings.slice(0, 20).map((warning) => make("li", { dir: "auto" }, warning)));
  elements = layOut(get("text"), draft.sections, draft.sentences, decorate);
  const byElement = new Map([...elements].map(([index, element]) => [element, index]));
  roving(get("text"), [...elements.values()].filter((element) => "pick" in element.dataset), (element) => pick(byElement.get(element)));
  if (picked !== null) showSentence("center");
}

function decorate(element, sentence) {
  element.dataset.pick = "";
  element.setAttribute("role", "button");
  element.classList.toggle("cites", sentence.cites);
  element.classList.toggle("broken", sentence.problems.length > 0);
  if (sentence.needs) {
    element.dataset.heat = 3;
    element.title = "needs a citation";
  }
}

// Verdicts: in the list worst first, and in the draft.

// What there is to look at: verdicts, and sentences that need a citation.
function findings() {
  const uncited = (draft?.sentences ?? []).filter((sentence) => sentence.needs && !sentence.cites);
  return [...verdicts.values(), ...uncited.map(finding)].sort(byBadness);
}

function finding(sentence) {
  return { id: sentence.id, sentence: sentence.index, verdict: "uncited", claim: sentence.claim || sentence.text, start: 0, confidence: 0 };
}

const ofSentence = (index) => [...verdicts.values()].filter((record) => record.sentence === index).sort(byBadness);
const isShown = (record) => !(record.id in dismissals);
const isToLookAt = (record) => isShown(record) && !acceptances.has(record.id) && (BAD.includes(record.verdict) || isUncheckable(record) || Boolean(record.warning));
// Something is wrong with the reference or the file; papers that are missing have a list of their own.
const isUncheckable = (record) => record.verdict === "could not check" && !record.missing && !NO_CLAIM.includes(record.function);

function paint() {
  const worst = new Map();
  for (const record of [...verdicts.values()].filter(isShown).sort(byBadness).reverse()) worst.set(record.sentence, record.verdict);
  for (const [index, element] of elements) {
    if (!worst.has(index)) delete element.dataset.worst;
    else {
      element.dataset.worst = worst.get(index);
      element.title = VERDICTS[worst.get(index)];
    }
    const sentence = draft.sentences[index];
    element.toggleAttribute("data-comment", sentence.id in comments);
    if (sentence.needs) element.dataset.heat = isShown(sentence) ? 3 : 0;
  }
  const all = findings();
  const shown = all.filter(isShown);
  showCount(all);
  get("reports").classList.toggle("hidden", verdicts.size === 0);
  const lists = [
    ["", "All", shown],
    ...WORST_FIRST.map((verdict) => [verdict, VERDICTS[verdict], shown.filter((record) => record.verdict === verdict)]),
    ["accepted", "Accepted", shown.filter((record) => acceptances.has(record.id))],
    ["dismissed", "Dismissed", all.filter((record) => !isShown(record))],
    ["comments", "Comments", commented()],
  ];
  showFilters(lists);
  showList(lists.find(([name]) => name === filter)[2]);
  showMissing(shown);
  showUse();
}

function commented() {
  const sentences = (draft?.sentences ?? []).filter((sentence) => sentence.id in comments);
  return sentences.map((sentence) => ({ id: `comment-${sentence.id}`, sentence: sentence.index, verdict: "comment", claim: comments[sentence.id].text }));
}

// "2 to look at: 1 of 3 citations, 1 sentence without one"
function showCount(all) {
  const open = all.filter(isToLookAt);
  const uncited = open.filter((record) => record.verdict === "uncited").length;
  const parts = [`${number(open.length - uncited)} of ${plural(verdicts.size, "citation")}`, uncited ? `${plural(uncited, "sentence")} without one` : ""].filter(Boolean);
  if (verdicts.size && ["running", "stopped"].includes(progress.state)) get("count").textContent = `${number(open.length)} to look at so far; ${plural(verdicts.size, "citation")} checked`;
  else if (verdicts.size) get("count").textContent = `${number(open.length)} to look at: ${parts.join(", ")}`;
  else get("count").textContent = progress.state !== "done" ? "" : uncited ? `No citations in this draft; ${plural(uncited, "sentence")} ${uncited === 1 ? "needs" : "need"} one` : "No citations in this draft";
  get("next").disabled = open.length === 0;
}

function showFilters(lists) {
  const names = lists.map(([name, label, records]) => [name, label, records.length]);
  if (filter && !names.find(([name]) => name === filter)[2]) filter = "";
  const focused = get("filters").contains(document.activeElement) ? document.activeElement.dataset.show : null;
  get("filters").replaceChildren(
    ...names
      .filter(([name, , count]) => count || name === "")
      .map(([name, label, count]) => {
        const button = make("button", { type: "button", class: "small", "data-show": name, "aria-pressed": String(filter === name) }, `${label} ${number(count)}`);
        button.addEventListener("click", () => {
          filter = name;
          paint();
        });
        return button;
      }),
  );
  if (focused !== null) get("filters").querySelector(`[data-show="${focused}"]`)?.focus();
}

function showList(records) {
  const focused = get("list").contains(document.activeElement) ? document.activeElement.dataset.citation : null;
  get("list").replaceChildren(
    ...records.map((record) => {
      const button = make(
        "button",
        { type: "button", class: "verdict", "data-citation": record.id, "aria-current": record.sentence === picked ? "true" : null },
        make("span", {}, make("span", { "data-verdict": record.verdict }, VERDICTS[record.verdict] ?? "✎ Comment"), acceptances.has(record.id) ? make("span", { class: "dim" }, " accepted") : null),
        make("span", { class: "who", dir: "auto" }, record.reference ? who(record.reference) : ""),
        make("span", { class: "claim", dir: "auto" }, record.claim),
        record.warning ? make("span", { class: "claim wrong", dir: "auto" }, record.warning) : null,
      );
      button.addEventListener("click", () => pick(record.sentence, "center"));
      return make("li", {}, button);
    }),
  );
  if (focused !== null) get("list").querySelector(`[data-citation="${focused}"]`)?.focus();
}

function showMissing(shown) {
  const waiting = new Map(); // citations by reference
  for (const record of shown.filter(({ missing }) => missing)) waiting.set(record.reference.id, [...(waiting.get(record.reference.id) || []), record]);
  const papers = [...waiting.values()].sort((one, other) => other.length - one.length);
  get("missing").classList.toggle("hidden", papers.length === 0);
  get("missing-title").textContent = `Missing papers (${number(papers.length)})`;
  get("lacking").classList.toggle("hidden", papers.length === 0);
  get("lacking").textContent = `${plural(papers.length, "paper")} missing`;
  if (get("missing-list").contains(document.activeElement)) return; // somebody is choosing a file
  get("missing-list").replaceChildren(
    ...papers.map((records) => {
      const { reference } = records[0];
      const name = reference.title || who(reference);
      const input = make("input", { type: "file", class: "unseen", "aria-label": `Add ${name}` });
      input.addEventListener("change", () => input.files.length && add([input.files[0]], "paper", reference.id));
      const facts = make("p", { class: "dim" }, plural(records.length, "citation"), doiLink(records[0]) ? " · " : null, doiLink(records[0]));
      return make("li", {}, make("p", { dir: "auto" }, make("b", {}, who(reference)), reference.title ? ` ${reference.title}` : ""), facts, make("label", { class: "button small" }, "Add this paper", input));
    }),
  );
}

// The sentence that is selected, and the evidence for it.

function pick(index, where = "nearest") {
  if (index !== picked) history.pushState(null, "", `${home}/sentences/${index}`);
  picked = index;
  showSentence(where);
  paint();
  get("picked")?.focus({ preventScroll: true });
}

function showSentence(where = "nearest") {
  for (const [index, element] of elements) element.classList.toggle("picked", index === picked);
  const sentence = draft?.sentences[picked];
  if (!sentence) {
    get("panel").replaceChildren(make("h2", {}, "Evidence"), make("p", { class: "dim" }, picked !== null && draft ? "The draft has no such sentence." : "Select a citation or a sentence to see the evidence."));
    return;
  }
  const records = ofSentence(picked);
  const heading = sentence.needs ? "Needs a citation" : sentence.cites ? plural(new Set(records.map((record) => record.reference.id)).size || 1, "cited paper") : "No citation needed";
  const parts = [make("h2", { id: "picked", tabindex: "-1" }, heading), make("blockquote", { class: "why", dir: "auto" }, sentence.text), ...sentence.problems.map((problem) => make("p", { class: "wrong", role: "note", dir: "auto" }, problem))];
  if (sentence.needs && !sentence.cites) parts.push(deciding(finding(sentence)));
  parts.push(commenting(sentence));
  parts.push(...records.map((record, rank) => verdictCard(record, [deciding(record), inPaper(record, rank === 0)])));
  if (sentence.cites && !records.length) parts.push(make("p", { class: "dim" }, progress.state === "running" ? "Not checked yet." : "Not checked."));
  const list = make("ol", { class: "cards" });
  if (sentence.needs) showPapers(sentence, list);
  else {
    const look = make("button", { type: "button" }, "Look for other papers");
    look.addEventListener("click", () => {
      look.remove();
      showPapers(sentence, list);
    });
    parts.push(make("p", {}, look));
  }
  get("panel").replaceChildren(...parts, list);
  get("panel").scrollTop = 0;
  elements.get(picked).scrollIntoView({ block: where });
}

// The cited paper itself: the first one of a sentence is opened at once if it is a PDF, others when asked for.
function inPaper(record, atOnce) {
  if (!record.paper_file && !record.paper_document) return null;
  const [passage] = decisive(record.passages);
  const link = make("a", { href: `${home}/citations/${record.id}` }, "Open the paper");
  if (!passage?.page || record.paper_hash.length > HASH_LENGTH) return make("p", {}, link);
  const view = make("div", { class: "paper-view", "data-stance": passage.stance });
  const source = record.paper_file ? `${api}/files/${record.paper_file}` : `/api/library/documents/${record.paper_document}/file`;
  const open = make("button", { type: "button" }, `Show page ${passage.page}`);
  open.addEventListener("click", () => {
    open.remove();
    showOriginal(view, source, [passage]);
  });
  if (atOnce) queueMicrotask(() => open.click());
  return make("div", {}, make("p", { class: "row" }, link, open), view);
}

async function showPapers(sentence, list) {
  list.replaceChildren(make("li", { class: "dim" }, "Searching the bibliography and your library …"));
  try {
    const { papers, claim, in_library: known } = await ask(`${api}/sentences/${sentence.index}/papers`);
    const nothing = make("li", { class: "dim" }, "No matching papers in the draft's bibliography or your library.");
    list.replaceChildren(...(papers.length ? inDraft(papers, draft.title).map((paper) => card(paper, claim, [], new Set(known))) : [nothing]));
  } catch (error) {
    list.replaceChildren(make("li", { class: "wrong" }, error.message));
  }
}

// Agree with a finding, or dismiss it with a reason; either can be taken back.
function deciding(record) {
  const kind = record.id in dismissals ? "dismissals" : "acceptances";
  if (kind === "dismissals" || acceptances.has(record.id)) {
    const undo = make("button", { type: "button" }, "Undo");
    undo.addEventListener("click", () => decide(record, kind, { method: "DELETE" }));
    const reason = dismissals[record.id]?.reason;
    return make("p", { class: "decided", dir: "auto", "data-decision": record.id }, kind === "acceptances" ? "Accepted " : reason ? `Dismissed: ${reason} ` : "Dismissed ", undo);
  }
  const accept = make("button", { type: "button", title: "It was looked at and is right; reports keep it" }, "Accept");
  accept.addEventListener("click", () => decide(record, "acceptances", { method: "PUT" }));
  const reason = make("input", { name: "reason", maxlength: "2000", autocomplete: "off", placeholder: "why it is fine", "aria-label": "Reason" });
  const form = make("form", { class: "deciding", "data-decision": record.id }, accept, reason, make("button", { type: "submit", title: "Set it aside; reports leave it out" }, "Dismiss"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    decide(record, "dismissals", json("PUT", { reason: reason.value }));
  });
  return form;
}

function json(method, content) {
  return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(content) };
}

async function decide(record, kind, how) {
  await keep(`${kind}/${record.id}`, how);
  get("panel").querySelector(`[data-decision="${record.id}"] button`)?.focus();
}

// Sends what somebody decided or wrote, and shows it.
async function keep(path, how) {
  try {
    await ask(`${api}/${path}`, how);
    await follow();
    paint();
    showDecisions();
    return true;
  } catch (error) {
    say(get("state"), error.message, true);
    return false;
  }
}

// Only what was decided and written is shown anew: the paper beside it stays where it was scrolled to.
function showDecisions() {
  const sentence = draft.sentences[picked];
  for (const place of get("panel").querySelectorAll("[data-decision]")) place.replaceWith(deciding(verdicts.get(place.dataset.decision) ?? finding(sentence)));
  get("panel").querySelector("[data-comment]")?.replaceWith(commenting(sentence));
}

// The comment on a sentence, or a field to write one.
function commenting(sentence) {
  const text = comments[sentence.id]?.text ?? "";
  const field = make("textarea", { rows: "3", maxlength: "5000", dir: "auto", "aria-label": "Comment on this sentence" }, unsaved.get(sentence.id) ?? text);
  const form = make("form", {}, field, make("p", { class: "acts" }, make("button", { type: "submit", class: "small" }, "Save comment")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!field.value.trim()) return field.focus();
    unsaved.delete(sentence.id);
    if (await keep(`comments/${sentence.id}`, json("PUT", { text: field.value }))) get("panel").querySelector(".comment button")?.focus();
    else unsaved.set(sentence.id, field.value);
  });
  field.addEventListener("input", () => (field.value === text ? unsaved.delete(sentence.id) : unsaved.set(sentence.id, field.value)));
  if (!text) {
    const summary = make("summary", {}, "Add a comment");
    const details = make("details", { class: "commenting", "data-comment": "" }, summary, form);
    details.open = unsaved.has(sentence.id);
    // At once, not on the event "toggle", which comes later: what is typed by then would be lost.
    summary.addEventListener("click", (event) => {
      event.preventDefault();
      details.open = !details.open;
      if (details.open) field.focus();
    });
    return details;
  }
  const edit = make("button", { type: "button", class: "small" }, "Edit");
  const remove = make("button", { type: "button", class: "small" }, "Delete");
  const shown = make("div", { class: "comment", "data-comment": "" }, make("p", { class: "dim" }, "Your comment"), make("p", { dir: "auto" }, text), make("p", { class: "acts" }, edit, remove));
  edit.addEventListener("click", () => {
    shown.replaceChildren(form);
    field.focus();
  });
  if (unsaved.has(sentence.id)) shown.replaceChildren(form);
  remove.addEventListener("click", async () => {
    await keep(`comments/${sentence.id}`, { method: "DELETE" });
    get("panel").querySelector(".commenting summary")?.focus();
  });
  return shown;
}

// Files.

async function showProject() {
  const project = await ask(api);
  get("title").textContent = project.name;
  document.title = `${project.name} · whycite`;
  if (get("files").dataset.shown === JSON.stringify(project.files)) return; // somebody may be about to remove one
  get("files").dataset.shown = JSON.stringify(project.files);
  get("files").replaceChildren(
    ...project.files.map((file) => {
      const remove = twice("Remove", "Confirm removal", () => change(`${api}/files/${file.id}`, { method: "DELETE" }, `Removed ${file.name}.`), { class: "small", "aria-label": `Remove ${file.name}` });
      const facts = [file.title ? file.name : "", file.kind === "draft" ? "draft" : `${number(Math.max(1, Math.round(file.size / 1024)))} kB`].filter(Boolean).join(" · ");
      const cited = file.problem ? make("span", { class: "wrong", dir: "auto" }, ` · ${file.problem}`) : file.kind === "paper" ? make("span", { "data-file": file.id }) : null;
      return make("li", {}, make("a", { href: here(`${api}/files/${file.id}`), download: "", dir: "auto" }, file.title || file.name), make("span", { class: "dim" }, facts, cited), remove);
    }),
  );
  showUse();
}

// How often the draft cites each paper, or that it does not.
function showUse() {
  const uses = [...verdicts.values()].map((record) => record.paper_file);
  for (const place of get("files").querySelectorAll("[data-file]")) {
    const count = uses.filter((file) => file === place.dataset.file).length;
    place.textContent = count ? ` · ${plural(count, "citation")}` : progress.state === "done" ? " · no citation of the draft matches it" : "";
    place.classList.toggle("wrong", !count);
  }
}

function add(files, kind, reference = "") {
  const form = formOf(files);
  form.append("kind", kind);
  if (reference) form.append("reference", reference);
  return change(`${api}/files`, { method: "POST", body: form }, "");
}

// Changes the files of the project, and verifies what the change concerns.
async function change(path, options, said) {
  say(get("state"), options.body ? "Sending the files …" : "");
  document.activeElement?.blur();
  try {
    await ask(path, options);
    await ask(`${api}/run`, { method: "POST" });
    progress = { ...progress, state: "running" }; // though it may be done before anybody asks
    await showProject();
    await follow();
    if (said) say(get("state"), said);
  } catch (error) {
    say(get("state"), error.message, true);
  }
}

async function replaceDraft(files) {
  const form = formOf(files);
  form.append("kind", "draft");
  try {
    const { files: before } = await ask(api);
    const { files: now } = await ask(`${api}/files`, { method: "POST", body: form });
    const sent = new Set(files.map((file) => file.webkitRelativePath || file.name));
    const old = before.filter((file) => file.kind === "draft" && !file.name.endsWith(".bib") && !sent.has(file.name));
    // Removed only now, so that nothing is lost if the new files are refused.
    for (const file of now.filter(({ id }) => old.some((one) => one.id === id))) await ask(`${api}/files/${file.id}`, { method: "DELETE" });
  } catch (error) {
    say(get("state"), error.message, true);
    return;
  }
  await change(`${api}/run`, { method: "POST" }, "");
}

get("verify").addEventListener("click", () => change(`${api}/run`, { method: "POST" }, ""));
get("stop").addEventListener("click", async () => {
  get("stage").textContent = "Stopping …";
  await ask(`${api}/run`, { method: "DELETE" }).catch((error) => say(get("state"), error.message, true));
});
get("next").addEventListener("click", () => {
  const places = [...new Set(findings().filter(isToLookAt).map((record) => record.sentence))];
  pick(places[(places.indexOf(picked) + 1) % places.length], "center");
});
choosing(get("papers"), (files) => add(files, "paper"));
choosing(get("draft"), replaceDraft);
get("delete").replaceWith(
  twice("Delete project", "Confirm: delete it with all its files", async () => {
    try {
      await ask(api, { method: "DELETE" });
      location.assign(here("/projects"));
    } catch (error) {
      say(get("state"), error.message, true);
    }
  }, { id: "delete" }),
);
dropping(get("drop"), (files) => add(files, "paper"));
// Scrolled elements stop below the bar, whatever its height.
new ResizeObserver(([{ target }]) => document.documentElement.style.setProperty("--bar", `${target.offsetHeight}px`)).observe(get("bar"));

function fromAddress() {
  const match = /\/sentences\/(\d+)$/.exec(location.pathname);
  picked = match ? Number(match[1]) : null;
}

window.addEventListener("popstate", () => {
  fromAddress();
  showSentence("center");
  paint();
});
fromAddress();
showProject()
  .then(follow, (error) => say(get("state"), error.message, true))
  .finally(() => get("workspace").classList.remove("loading"));
