// The questions that were asked in this browser, newest first.

import { here, make } from "./common.js";

const NAME = "whycite-questions";
const MAX = 50;
const SHOWN = 10;

function questions() {
  try {
    return JSON.parse(localStorage.getItem(NAME)) || [];
  } catch {
    return []; // storage is switched off, or was written by something else
  }
}

function keep(list) {
  try {
    localStorage.setItem(NAME, JSON.stringify(list.slice(0, MAX)));
  } catch {
    // Storage is full or switched off: there is no history then.
  }
}

// Keeps a question by its address.
export function remember(address, text) {
  keep([{ address, text, time: Date.now() }, ...questions().filter((question) => question.address !== address)]);
  for (const shown of document.querySelectorAll("[data-recent]")) fill(shown);
}

// Fills a <details> with the last questions of a page.
export function showRecent(place, page) {
  place.dataset.recent = here(page);
  fill(place);
}

function fill(place) {
  const asked = questions().filter(({ address }) => address.startsWith(`${place.dataset.recent}?`));
  place.classList.toggle("hidden", !asked.length);
  const clear = make("button", { type: "button", class: "small" }, "Clear");
  clear.addEventListener("click", () => {
    keep(questions().filter((question) => !asked.some(({ address }) => address === question.address)));
    fill(place);
  });
  place.replaceChildren(
    make("summary", {}, "Recent questions"),
    make("ul", { class: "plain" }, ...asked.slice(0, SHOWN).map(({ address, text }) => make("li", {}, make("a", { href: address, dir: "auto" }, text)))),
    make("p", {}, clear),
  );
}
