import { get, here, make, plural, post, say } from "./common.js";
import { remember, showRecent } from "./history.js";
import { card } from "./papers.js";

const form = get("question");
const state = get("state");
const answers = get("answers");
const hiddenFor = new Map(); // claim -> keys of hidden papers, until the page is reloaded
let hidden = new Set();
let asked = 0;
let answer = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const given = new FormData(form);
  const text = given.get("text").trim();
  if (!text) {
    say(state, "Enter a claim.", true);
    return;
  }
  const fields = Object.fromEntries([...given].map(([name, value]) => [name, name === "text" ? text : value]).filter(([name, value]) => value && !(name === "n" && value === "10")));
  const address = here(`/cite?${new URLSearchParams(fields)}`);
  if (address !== location.pathname + location.search) history.pushState(null, "", address);
  search();
});

// Asks what the address says.
async function search() {
  const fields = new URLSearchParams(location.search);
  for (const name of ["text", "year_max", "section", "n"]) form.elements[name].value = fields.get(name) ?? (name === "n" ? "10" : "");
  const turn = ++asked;
  answers.replaceChildren();
  get("answers-title").classList.add("hidden");
  say(state, "");
  const text = fields.get("text")?.trim();
  if (!text) return;
  const question = { text, n: Number(form.elements.n.value) || 10 };
  if (fields.get("year_max")) question.year_max = Number(fields.get("year_max"));
  if (fields.get("section")) question.section = fields.get("section");
  say(state, "Searching …");
  try {
    const found = await post("/api/cite", question);
    if (turn !== asked) return;
    remember(location.pathname + location.search, text);
    answer = found;
    hidden = hiddenFor.get(answer.text) || new Set();
    hiddenFor.set(answer.text, hidden);
    show();
  } catch (error) {
    if (turn !== asked) return;
    say(state, error.message, true);
    if (error.message.includes("whycite add")) state.append(" ", make("a", { href: here("/library") }, "Open the Library"));
  }
}

form.elements.text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});

function show() {
  const found = answer.recommendations.filter((one) => !hidden.has(one.paper.key));
  if (!answer.recommendations.length) say(state, "No papers match this claim. Add more on the Library page.");
  else if (answer.doubtful) say(state, "No paper in your library is a clear match for this claim. The closest ones:");
  else say(state, `${plural(found.length, "paper")}, best first`);
  const gone = answer.recommendations.length - found.length;
  if (gone) {
    const back = make("button", { type: "button", class: "small" }, `Show ${plural(gone, "hidden paper")}`);
    back.addEventListener("click", () => {
      hidden.clear();
      show();
      answers.querySelector("button")?.focus();
    });
    state.append(" ", back);
  }
  answers.replaceChildren(...found.map(hideable));
  get("answers-title").classList.toggle("hidden", !found.length);
}

function hideable(found) {
  const hide = make("button", { type: "button", "aria-label": `Hide ${found.paper.title || found.paper.key}` }, "Hide");
  const element = card(found, answer.text, [hide]);
  hide.addEventListener("click", () => {
    const at = [...answers.children].indexOf(element);
    hidden.add(found.paper.key);
    show();
    const next = answers.children[Math.min(at, answers.children.length - 1)];
    (next?.querySelector("button") || form.elements.text).focus();
  });
  return element;
}

window.addEventListener("popstate", search);
showRecent(get("recent"), "/cite");
search();
