// A document in the colours of its sentences' scores, with a strip beside it that shows all of it at once.

import { make } from "./common.js";

const STEPS = 5;

export function heat(score, threshold) {
  return score !== null && score >= threshold ? Math.min(Math.floor(score * STEPS) + 1, STEPS) : 0;
}

// Fills `text` with sections, paragraphs and sentences; gives back one element a sentence, by index.
export function layOut(text, sections, sentences, decorate = () => {}) {
  const elements = new Map();
  text.replaceChildren();
  let section = -1;
  let paragraph = null;
  let place = null;
  for (const sentence of sentences) {
    while (section < sentence.section && section + 1 < sections.length) {
      section += 1;
      const { heading, level } = sections[section];
      if (heading) text.append(make(`h${Math.min(level, 3) + 2}`, {}, heading));
      place = null;
    }
    if (place === null || sentence.paragraph !== paragraph) {
      paragraph = sentence.paragraph;
      place = make("p", sentence.kind && sentence.kind !== "prose" ? { class: "dim" } : {});
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

// Shades sentences from a threshold on, and marks in the strip where they stand.
export function shade(elements, sentences, threshold, strip) {
  const marks = [];
  for (const sentence of sentences) {
    const step = heat(sentence.score, threshold);
    const element = elements.get(sentence.index);
    element.dataset.heat = step;
    if (step) marks.push([element, step]);
  }
  if (!strip) return marks.length;
  const whole = strip.parentElement.querySelector(".reading");
  const height = Math.max(1, whole.scrollHeight);
  strip.replaceChildren(
    ...marks.map(([element, step]) => {
      const mark = make("button", { type: "button", tabindex: "-1", "data-heat": step });
      mark.style.top = `${(100 * element.offsetTop) / height}%`;
      mark.style.height = `${Math.max(0.4, (100 * element.offsetHeight) / height)}%`;
      mark.addEventListener("click", () => show(element));
      return mark;
    }),
  );
  return marks.length;
}

export function show(element) {
  element.scrollIntoView({ block: "center" });
  element.focus({ preventScroll: true });
}
