import { ask, make, number, plural, say } from "./common.js";
import { layOut, shade, show } from "./heatmap.js";

const get = (id) => document.getElementById(id);
const VERDICTS = { backed: "✓ Backed", contradicted: "✗ Contradicted", "not found": "? Not found", "could not check": "– Could not check" };
let cited = null; // files of the cited paper, or the id of a document of the library
let answer = null;
let elements = new Map();
let asked = 0;

function files(list) {
  const sent = new FormData();
  for (const file of list) sent.append("files", file, file.webkitRelativePath || file.name);
  return sent;
}

get("citing").addEventListener("change", async (event) => {
  if (!event.target.files.length) return;
  say(get("state"), "Reading …");
  try {
    const draft = await ask("/api/read", { method: "POST", body: files(event.target.files) });
    const list = get("sentences");
    list.replaceChildren(...draft.sentences.map(choice));
    list.classList.remove("hidden");
    say(get("state"), `${plural(draft.sentences.length, "sentence")}; those that cite are marked. Pick one.`);
    list.querySelector(".cites")?.scrollIntoView({ block: "nearest" });
  } catch (error) {
    say(get("state"), error.message, true);
  }
});

function choice(sentence) {
  const element = make("div", { role: "option", tabindex: "0", "aria-selected": "false" }, sentence.text);
  element.classList.toggle("cites", sentence.citations.length > 0);
  const pick = () => {
    for (const other of get("sentences").querySelectorAll("[aria-selected=true]")) other.setAttribute("aria-selected", "false");
    element.setAttribute("aria-selected", "true");
    get("claim").value = sentence.claim || sentence.text;
  };
  element.addEventListener("click", pick);
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pick();
    }
  });
  return element;
}

get("cited").addEventListener("change", (event) => {
  cited = event.target.files.length ? { files: event.target.files } : null;
  get("chosen").textContent = cited ? [...event.target.files].map((file) => file.name).join(", ") : "none chosen";
});

get("find").addEventListener("input", async () => {
  const turn = ++asked;
  const query = get("find").value;
  try {
    const page = await ask(`/api/library/documents?${new URLSearchParams({ query, limit: 8 })}`);
    if (turn !== asked) return;
    get("found").classList.toggle("hidden", !page.documents.length);
    get("found").replaceChildren(...page.documents.map(offered));
  } catch (error) {
    say(get("state"), error.message, true);
  }
});

function offered(entry) {
  const title = entry.title || entry.path;
  const button = make("button", { type: "button" }, entry.year ? `${title} (${entry.year})` : title);
  button.addEventListener("click", () => {
    cited = { document: entry.id };
    get("chosen").textContent = title;
    get("found").classList.add("hidden");
  });
  return make("li", {}, button);
}

get("question").addEventListener("submit", async (event) => {
  event.preventDefault();
  const claim = get("claim").value.trim();
  if (!claim || !cited) {
    say(get("state"), claim ? "Choose the cited paper: a file, or one of your library." : "Type a claim, or pick a sentence.", true);
    return;
  }
  const sent = cited.files ? files(cited.files) : new FormData();
  sent.append("claim", claim);
  if (cited.document) sent.append("document", cited.document);
  say(get("state"), "Reading the paper and looking for evidence …");
  try {
    answer = await ask("/api/verify", { method: "POST", body: sent });
    say(get("state"), "");
    tell();
  } catch (error) {
    get("answer").classList.add("hidden");
    get("steps").classList.add("hidden");
    say(get("state"), error.message, true);
  }
});

function tell() {
  const scored = answer.sentences.filter((sentence) => sentence.score !== null).length;
  get("steps").replaceChildren(
    make("li", {}, make("b", {}, "Text"), ` ${number(answer.steps.characters)} characters of ${answer.document.title || answer.document.path}`),
    make("li", {}, make("b", {}, "Sentences"), ` ${plural(answer.sentences.length, "sentence")} in ${plural(answer.sections.length, "section")}`),
    make("li", {}, make("b", {}, "Normalised"), ` ${answer.steps.normalised}`),
    make("li", {}, make("b", {}, "Evidence"), ` ${plural(scored, "sentence")} compared with the claim`),
  );
  get("steps").classList.remove("hidden");
  get("verdict").textContent = VERDICTS[answer.verdict] + (answer.confidence ? `, ${Math.round(100 * answer.confidence)} % sure` : "");
  get("verdict").dataset.verdict = answer.verdict;
  get("reason").textContent = answer.reason;
  get("title").textContent = answer.document.title || answer.document.path;
  get("answer").classList.remove("hidden");
  elements = layOut(get("text"), answer.sections, answer.sentences);
  get("threshold").value = answer.threshold;
  list();
  paint();
  get("verdict").scrollIntoView({ block: "start" });
}

function list() {
  const top = Number(get("top").value);
  get("passages").replaceChildren(
    ...answer.passages.slice(0, top).map((passage) => {
      const jump = make("button", { type: "button", class: "link" }, passage.text);
      jump.addEventListener("click", () => show(elements.get(passage.index)));
      const notes = [passage.quotes ? "the claim itself, which backs nothing" : "", passage.numbers].filter(Boolean).join("; ");
      return make(
        "tr",
        {},
        make("td", {}, String(passage.rank)),
        make("td", {}, String(passage.index + 1)),
        make("td", {}, passage.score.toFixed(2)),
        make("td", {}, jump, make("div", { class: "dim" }, [passage.section, notes].filter(Boolean).join(" · "))),
      );
    }),
  );
}

function paint() {
  const threshold = Number(get("threshold").value);
  get("from").textContent = threshold.toFixed(2);
  shade(elements, answer.sentences, threshold, get("strip"));
}

get("top").addEventListener("change", list);
get("threshold").addEventListener("input", paint);
window.addEventListener("resize", () => answer && paint());
