// A cited paper: as it looks, with the passage boxed, where it is a PDF; and as text, shaded by how much each sentence says.

import { make, say } from "./common.js";
import { layOut, overview, shade, show } from "./heatmap.js";
import { showPdf } from "./pdfview.js";

// The passages that decide a verdict, or else the closest one.
export function deciding(passages) {
  const decisive = passages.filter((passage) => passage.decides);
  return decisive.length ? decisive : passages.slice(0, 1);
}

// Fills an element with a PDF, and says where its passage could not be found.
export async function showOriginal(place, source, passages) {
  const note = make("p", { class: "dim", role: "status" }, "Opening the paper …");
  const view = make("div");
  place.replaceChildren(note, view);
  try {
    const found = await showPdf(view, source, passages);
    say(note, passages.length && !found.some(Boolean) ? "The passage could not be located on the page; it is quoted as it was read." : "");
    note.classList.toggle("hidden", !note.textContent);
    return true;
  } catch (error) {
    say(note, `The paper cannot be shown as it looks (${error.message}).`, true);
    return false;
  }
}

// Fills an element with the text of a paper; returns a function that leads to a sentence.
export function showText(place, answer) {
  const text = make("div", { class: "reading" });
  const strip = make("div", { class: "strip", "aria-hidden": "true" });
  const mayContradict = answer.sentences.some(({ stance }) => stance === "contradicts");
  const legend = make("p", { class: "legend" }, make("span", { "data-heat": "4" }, "backs the claim"), mayContradict ? make("span", { "data-heat": "4", "data-stance": "contradicts" }, "contradicts it ✗") : null);
  place.replaceChildren(legend, make("div", { class: "heat" }, text, strip));
  const elements = layOut(text, answer.sections, answer.sentences, (element, { stance }) => {
    if (stance) element.dataset.stance = stance;
  });
  shade(elements, answer.sentences, answer.threshold);
  overview(elements, strip, text);
  return (index) => show(elements.get(index));
}
