import { get, make, plural, post, say } from "./common.js";
import { card } from "./papers.js";

const form = get("question");
const state = get("state");
const answers = get("answers");
const hiddenFor = new Map(); // claim -> keys of hidden papers, until the page is reloaded
let hidden = new Set();
let asked = 0;
let answer = null;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = new FormData(form);
  const question = { text: given.get("text").trim(), n: Number(given.get("n")) };
  if (!question.text) {
    say(state, "Enter a claim.", true);
    return;
  }
  if (given.get("year_max")) question.year_max = Number(given.get("year_max"));
  if (given.get("section")) question.section = given.get("section");
  const turn = ++asked;
  say(state, "Searching …");
  try {
    const found = await post("/api/cite", question);
    if (turn !== asked) return;
    answer = found;
    hidden = hiddenFor.get(answer.text) || new Set();
    hiddenFor.set(answer.text, hidden);
    show();
  } catch (error) {
    if (turn !== asked) return;
    answers.replaceChildren();
    say(state, error.message, true);
    if (error.message.includes("whycite add")) state.append(" ", make("a", { href: "/library" }, "Or add papers on the Library page."));
  }
});

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
