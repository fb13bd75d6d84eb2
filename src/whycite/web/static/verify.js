import { ask, choosing, formOf, get, here, make, number, plural, roving, say } from "./common.js";
import { layOut, overview, shade, show } from "./heatmap.js";
import { remember, showRecent } from "./history.js";
import { deciding, showOriginal } from "./paperview.js";
import { VERDICTS, passageFacts, sentenceCase } from "./verdicts.js";

let cited = null; // files of the cited paper, or the id of a document in the library
let answer = null;
let elements = new Map();
let asked = 0;
let opened = 0;

choosing(get("citing"), (files) => pickFrom(formOf(files)));

// Lists the sentences of the citing document.
async function pickFrom(sent) {
  const turn = ++opened;
  say(get("state"), "Reading …");
  try {
    const draft = await ask("/api/read", { method: "POST", body: sent });
    if (turn !== opened) return;
    const list = get("sentences");
    const options = new Map(draft.sentences.map((sentence) => [option(sentence), sentence]));
    list.replaceChildren(...options.keys());
    list.classList.remove("hidden");
    roving(list, [...options.keys()], (element) => {
      list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
      element.setAttribute("aria-selected", "true");
      get("claim").value = options.get(element).claim || options.get(element).text;
    });
    say(get("state"), `${plural(draft.sentences.length, "sentence")}; those with citations are marked. Select one.`);
    note(draft.warnings);
    list.querySelector(".cites")?.scrollIntoView({ block: "nearest" });
  } catch (error) {
    if (turn === opened) say(get("state"), error.message, true);
  }
}

function note(warnings) {
  get("notes").replaceChildren(...warnings.slice(0, 5).map((warning) => make("li", { dir: "auto" }, warning)));
}

function option(sentence) {
  const element = make("div", { role: "option", "aria-selected": "false", "data-pick": "", dir: "auto" }, sentence.text);
  element.classList.toggle("cites", sentence.citations.length > 0);
  return element;
}

choosing(get("cited"), (files) => {
  cited = { files };
  get("chosen").textContent = files.map((file) => file.name).join(", ");
});

// Suggests documents in the library while the user types; `choose` receives the selected one.
function finding(field, list, choose) {
  let looked = 0;
  const offered = (entry) => {
    const title = entry.title || entry.path.replace(/^<upload>\//, "");
    const button = make("button", { type: "button", dir: "auto" }, entry.year ? `${title} (${entry.year})` : title);
    button.addEventListener("click", () => {
      list.classList.add("hidden");
      field.focus();
      choose(entry, title);
    });
    return make("li", {}, button);
  };
  field.addEventListener("input", async () => {
    const turn = ++looked;
    try {
      const page = await ask(`/api/library/documents?${new URLSearchParams({ query: field.value, limit: 8 })}`);
      if (turn !== looked) return;
      list.classList.remove("hidden");
      const nothing = make("li", { class: "dim" }, "No documents in your library match.");
      list.replaceChildren(...(page.total ? page.documents.map(offered) : [nothing]));
    } catch (error) {
      say(get("state"), error.message, true);
    }
  });
}

finding(get("find-citing"), get("found-citing"), (entry) => {
  const sent = new FormData();
  sent.append("document", entry.id);
  pickFrom(sent);
});
finding(get("find-cited"), get("found-cited"), (entry, title) => {
  cited = { document: entry.id };
  get("chosen").textContent = title;
});

get("question").addEventListener("submit", (event) => {
  event.preventDefault();
  const claim = get("claim").value.trim();
  if (!claim || !cited) {
    say(get("state"), claim ? "Select the cited paper: a file or one of your library." : "Enter a claim, or select a sentence.", true);
    return;
  }
  // A file that was opened here is known to this page alone.
  const address = cited.document ? here(`/verify?${new URLSearchParams({ claim, document: cited.document })}`) : here("/verify");
  if (address !== location.pathname + location.search) history.pushState(null, "", address);
  verify(claim);
});

async function verify(claim) {
  const turn = ++asked;
  const sent = formOf(cited.files || []);
  sent.append("claim", claim);
  if (cited.document) sent.append("document", cited.document);
  say(get("state"), "Reading the paper and looking for evidence …");
  note([]);
  try {
    const found = await ask("/api/verify", { method: "POST", body: sent });
    if (turn !== asked) return;
    answer = found;
    say(get("state"), "");
    note(answer.warnings);
    if (cited.document) {
      remember(location.pathname + location.search, claim);
      get("chosen").textContent = answer.title || answer.path;
    }
    if (answer.retracted) get("notes").prepend(make("li", { class: "wrong", dir: "auto" }, answer.retracted));
    tell();
  } catch (error) {
    if (turn !== asked) return;
    clear();
    say(get("state"), error.message, true);
  }
}

function clear() {
  get("answer").classList.add("hidden");
  get("steps").classList.add("hidden");
}

// Asks what the address says; the paper alone may be given, for a claim to be typed.
function fromAddress() {
  const fields = new URLSearchParams(location.search);
  const [claim, document] = [fields.get("claim")?.trim() ?? "", fields.get("document")];
  if (!document) return;
  cited = { document };
  get("claim").value = claim;
  get("chosen").textContent = "the paper of this address";
  if (claim) verify(claim);
  else {
    clear();
    get("claim").focus();
  }
}

window.addEventListener("popstate", () => {
  asked += 1;
  clear();
  say(get("state"), "");
  fromAddress();
});

function tell() {
  const { characters, sentences, normalised, compared } = answer.steps;
  get("steps").replaceChildren(
    make("li", {}, make("b", {}, "Text"), ` ${number(characters)} characters of ${answer.title || answer.path}`),
    make("li", {}, make("b", {}, "Sentences"), ` ${plural(sentences, "sentence")} in ${plural(answer.sections.length, "section")}`),
    make("li", {}, make("b", {}, "Words compared"), ` ${normalised.join(" · ") || "none"}`),
    make("li", {}, make("b", {}, "Evidence"), ` ${plural(compared, "sentence")} compared with the claim`),
  );
  get("steps").classList.remove("hidden");
  get("verdict").textContent = VERDICTS[answer.verdict] + (answer.confidence ? `, ${Math.round(100 * answer.confidence)}% sure` : "");
  get("verdict").dataset.verdict = answer.verdict;
  get("reason").textContent = sentenceCase(answer.reason);
  get("title").textContent = answer.title || answer.path;
  get("answer").classList.remove("hidden");
  elements = layOut(get("text"), answer.sections, answer.sentences, (element, { stance }) => {
    if (stance) element.dataset.stance = stance;
  });
  get("legend").classList.toggle("hidden", !answer.sentences.some(({ stance }) => stance === "contradicts"));
  get("threshold").value = answer.threshold;
  list();
  paint();
  showPages();
  get("verdict").scrollIntoView({ block: "start" });
  get("verdict").focus({ preventScroll: true });
}

// The paper as it looks, if it is a PDF.
function showPages() {
  const source = cited.document ? `/api/library/documents/${cited.document}/file` : cited.files[0];
  const isShown = answer.format === "pdf" && (cited.document || cited.files.length === 1);
  get("paper").classList.toggle("hidden", !isShown);
  get("paper").replaceChildren();
  if (isShown) showOriginal(get("paper"), source, deciding(answer.passages));
}

function list() {
  const top = Number(get("top").value);
  get("passages").replaceChildren(
    ...answer.passages.slice(0, top).map((passage) => {
      const jump = make("button", { type: "button", class: "link", dir: "auto" }, passage.text);
      jump.addEventListener("click", () => show(elements.get(passage.index)));
      const details = passageFacts(passage);
      return make(
        "tr",
        { class: passage.decides ? "decides" : null, "data-stance": passage.stance },
        make("td", {}, String(passage.rank)),
        make("td", {}, String(passage.index + 1)),
        make("td", {}, passage.score.toFixed(2)),
        make("td", {}, passage.decides ? make("strong", {}, "▶ Decides the verdict") : null, jump, make("div", { class: "dim" }, details)),
      );
    }),
  );
}

function paint() {
  const threshold = Number(get("threshold").value);
  get("from").textContent = threshold.toFixed(2);
  shade(elements, answer.sentences, threshold);
  overview(elements, get("strip"), get("text"));
}

get("top").addEventListener("change", list);
get("threshold").addEventListener("input", paint);
window.addEventListener("resize", () => answer && overview(elements, get("strip"), get("text")));
showRecent(get("recent"), "/verify");
fromAddress();
