// A recommended paper as a card: its details, the evidence, and actions.

import { make, marked, paperAddress, plural } from "./common.js";

// Recommendations for a sentence of a draft with that title; evidence from the draft itself is named so.
export function inDraft(papers, title) {
  const named = (evidence) => (title && evidence.source.title === title ? { ...evidence, source: { key: "", title: "in this draft", year: null } } : evidence);
  return papers.map((paper) => ({ ...paper, evidence: paper.evidence.map(named) }));
}

// The keys of papers that the library must have: they are not in the draft's bibliography alone.
export function inLibrary(papers) {
  const keys = papers.flatMap(({ evidence }) => evidence.map(({ source }) => source.key)).filter(Boolean);
  const apart = papers.filter((one) => !one.known || one.passages.length || one.evidence.some(({ source }) => source.key));
  return new Set([...keys, ...apart.map(({ paper }) => paper.key)]);
}

// A recommendation; of its papers those are links that are `known` to the library, or all.
export function card(found, claim, acts = [], known = null) {
  const paper = found.paper;
  const hasPage = known ? known.has(paper.key) : found.support || !found.cite_key;
  const people = paper.authors.length > 3 ? `${paper.authors.slice(0, 3).join("; ")} et al.` : paper.authors.join("; ");
  const facts = [people, paper.year, paper.venue, citations(found)].filter(Boolean).join(" · ");
  return make(
    "li",
    { class: "card" },
    make("h3", { dir: "auto" }, `${found.rank}. `, hasPage ? make("a", { href: paperAddress(paper.key) }, ...marked(paper.title || paper.key, claim)) : make("span", {}, ...marked(paper.title || paper.key, claim))),
    make("p", { class: "facts-line", dir: "auto" }, facts, paper.doi ? " · " : null, paper.doi ? make("a", { href: `https://doi.org/${encodeURI(paper.doi)}`, rel: "noreferrer noopener", target: "_blank" }, `doi:${paper.doi}`) : null),
    paper.warning ? make("p", { class: "wrong", role: "note", dir: "auto" }, paper.warning) : null,
    ...found.evidence.slice(0, 3).map((evidence) => why(evidence, claim, known)),
    ...found.passages.map((passage) => ownWords(passage, claim)),
    found.evidence.length ? null : make("p", { class: "dim" }, `${reason(found)}; not cited for this in your library.`),
    make("div", { class: "acts" }, copying(found), ...acts),
  );
}

function citations({ support, citing_documents: articles }) {
  return `cited ${plural(support, "time")}${support > 1 && articles ? ` by ${plural(articles, "article")}` : ""}`;
}

function reason(found) {
  if (found.passages.length) return "Matches by its own text";
  return found.title_matches ? "Matches by title" : "Matches by meaning";
}

function ownWords(passage, claim) {
  const place = [passage.section, passage.page ? `page ${passage.page}` : ""].filter(Boolean).join(", ");
  return make(
    "blockquote",
    { class: "why" },
    make("p", { dir: "auto" }, ...marked(passage.text, claim)),
    make("p", { class: "from", dir: "auto" }, place ? `in its own words (${place})` : "in its own words"),
  );
}

function why(evidence, claim, known) {
  const { key, title, year, status } = evidence.source;
  const doubt = { retracted: "retracted", concern: "expression of concern" }[status];
  const hasPage = key && (!known || known.has(key));
  return make(
    "blockquote",
    { class: "why" },
    make("p", { dir: "auto" }, ...marked(evidence.sentence || evidence.span, claim)),
    make("p", { class: "from", dir: "auto" }, hasPage ? make("a", { href: paperAddress(key) }, title) : title, year ? `, ${year}` : null, doubt ? make("span", { class: "wrong" }, `, ${doubt}`) : null),
  );
}

function copying({ bibtex, paper }) {
  if (!bibtex) return null;
  const button = make("button", { type: "button", "aria-label": `Copy BibTeX of ${paper.title || paper.key}` }, "Copy BibTeX");
  const shown = make("pre", { class: "bibtex hidden", tabindex: "0" }, bibtex);
  const said = make("span", { role: "status", class: "dim" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(bibtex);
      said.textContent = "Copied";
      setTimeout(() => (said.textContent = ""), 3000);
    } catch {
      // Browsers allow copying only on HTTPS or localhost; otherwise show the text for the user to select.
      shown.classList.remove("hidden");
      said.textContent = "Select and copy:";
      getSelection().selectAllChildren(shown);
    }
  });
  return make("div", { class: "copying" }, button, " ", said, shown);
}
