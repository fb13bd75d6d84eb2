// A recommended paper as a card: what it is, why it fits, and what can be done with it.

import { make, marked, plural } from "./common.js";

export function card(found, claim, acts = []) {
  const paper = found.paper;
  const people = paper.authors.length > 3 ? `${paper.authors.slice(0, 3).join("; ")} and others` : paper.authors.join("; ");
  const facts = [people, paper.year, paper.venue, `cited in ${plural(found.support, "place")}`].filter(Boolean).join(" · ");
  return make(
    "li",
    { class: "card" },
    make("h3", {}, `${found.rank}. `, ...marked(paper.title || paper.key, claim)),
    make("p", { class: "facts-line" }, facts, paper.doi ? make("span", {}, ` · doi:${paper.doi}`) : null),
    ...found.evidence.slice(0, 3).map((evidence) => why(evidence, claim)),
    found.evidence.length ? null : make("p", { class: "dim" }, "Nobody in your library cites it for this: its title fits."),
    make("div", { class: "acts" }, copying(found.bibtex), ...acts),
  );
}

function why(evidence, claim) {
  const source = [evidence.source.title, evidence.source.year].filter(Boolean).join(", ");
  return make(
    "blockquote",
    { class: "why" },
    make("p", {}, ...marked(evidence.sentence || evidence.span, claim)),
    make("p", { class: "from" }, source),
  );
}

function copying(bibtex) {
  if (!bibtex) return null;
  const button = make("button", { type: "button" }, "Copy BibTeX");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(bibtex);
      button.textContent = "Copied";
    } catch {
      button.after(make("pre", {}, bibtex));
    }
  });
  return button;
}
