// A document shaded by the scores of its sentences, with an overview strip next to it.

import { make } from "./common.js";

const STEPS = 5;

export function heat(score, threshold) {
  return score !== null && score >= threshold ? Math.min(Math.floor(score * STEPS) + 1, STEPS) : 0;
}

// Fills `text` with sections, paragraphs and sentences; returns the element of each sentence by index.
export function layOut(text, sections, sentences, decorate = () => {}) {
  const elements = new Map();
  text.replaceChildren();
  let section = -1;
  let depth = 0; // of the last heading: one below it has no level between them, whatever the draft says
  let paragraph = null;
  let place = null;
  for (const sentence of sentences) {
    while (section < sentence.section && section + 1 < sections.length) {
      section += 1;
      const { heading, level } = sections[section];
      if (heading) {
        depth = Math.min(Math.max(level, 1), 3, depth + 1);
        text.append(make(`h${depth + 2}`, { dir: "auto" }, heading));
      }
      place = null;
    }
    if (place === null || sentence.paragraph !== paragraph) {
      paragraph = sentence.paragraph;
      place = make("p", { dir: "auto", class: sentence.kind && sentence.kind !== "prose" ? "dim" : null });
      text.append(place);
    } else {
      place.append(" ");
    }
    const element = make("span", { class: "sentence", tabindex: "-1" }, sentence.text);
    decorate(element, sentence);
    elements.set(sentence.index, element);
    place.append(element);
  }
  return elements;
}

// Shades sentences that reach a threshold.
export function shade(elements, sentences, threshold) {
  for (const sentence of sentences) elements.get(sentence.index).dataset.heat = heat(sentence.score, threshold);
}

// Marks the positions of shaded sentences in the strip.
export function overview(elements, strip, text) {
  const height = Math.max(1, text.scrollHeight);
  // Measure everything before drawing anything, or the browser lays out the page again for every sentence.
  const marks = [...elements.values()]
    .filter((element) => element.dataset.heat > 0)
    .map((element) => [element, element.offsetTop, element.offsetHeight]);
  strip.replaceChildren(
    ...marks.map(([element, top, tall]) => {
      const mark = make("button", { type: "button", tabindex: "-1", "data-heat": element.dataset.heat, "data-stance": element.dataset.stance });
      mark.style.top = `${(100 * top) / height}%`;
      mark.style.height = `${Math.max(0.4, (100 * tall) / height)}%`;
      mark.addEventListener("click", () => show(element));
      return mark;
    }),
  );
}

export function show(element) {
  element.scrollIntoView({ block: "center" });
  element.focus({ preventScroll: true });
}
