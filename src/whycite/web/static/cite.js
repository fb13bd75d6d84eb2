import { make, plural, post, say } from "./common.js";
import { card } from "./papers.js";

const form = document.getElementById("question");
const state = document.getElementById("state");
const answers = document.getElementById("answers");
let asked = 0;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const given = new FormData(form);
  const question = { text: given.get("text").trim(), n: Number(given.get("n")) };
  if (!question.text) return;
  if (given.get("year_max")) question.year_max = Number(given.get("year_max"));
  if (given.get("section")) question.section = given.get("section");
  const turn = ++asked;
  say(state, "Looking …");
  try {
    const answer = await post("/api/cite", question);
    if (turn === asked) show(answer);
  } catch (error) {
    if (turn === asked) {
      answers.replaceChildren();
      say(state, error.message, true);
    }
  }
});

form.elements.text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});

function show(answer) {
  const found = answer.recommendations;
  if (!found.length) say(state, "No paper in your library fits this claim; add more on the page Library.");
  else if (answer.doubtful) say(state, "Nothing in your library clearly fits this claim. The nearest:");
  else say(state, `${plural(found.length, "paper")}, best first`);
  answers.replaceChildren(...found.map((one) => hideable(one, answer.text)));
}

function hideable(found, claim) {
  const hide = make("button", { type: "button" }, "Not this");
  const element = card(found, claim, [hide]);
  hide.addEventListener("click", () => {
    const next = element.nextElementSibling || element.previousElementSibling;
    element.remove();
    next?.querySelector("button")?.focus();
  });
  return element;
}
