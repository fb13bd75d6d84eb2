// Verdicts in words, and a verdict with the passage that decided it.

import { make, marked, plural } from "./common.js";

export const VERDICTS = { contradicted: "✗ Contradicted", secondary: "↪ Secondary", "not found": "? Not found", uncited: "! Needs a citation", backed: "✓ Backed", "could not check": "– Could not check" };
export const WORST_FIRST = Object.keys(VERDICTS);
const ROLES = { hypothesis: "a hypothesis or aim", others: "what others found", method: "describes a method", background: "background" };

// What a reader should know of a passage: where it is, and what it is to its paper.
export function passageFacts(passage) {
  return [
    passage.section,
    passage.page ? `p. ${passage.page}` : "",
    passage.stance === "contradicts" ? "contradicts the claim" : "",
    ROLES[passage.role] || "",
    passage.quotes ? "quotes the claim, so it is not evidence" : "",
    passage.numbers,
  ]
    .filter(Boolean)
    .join(" · ");
}

export function sentenceCase(text) {
  return text && text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

export function who(reference) {
  const names = reference.authors.map((author) => author.split(",")[0]);
  const people = names.length > 2 ? `${names[0]} et al.` : names.join(" and ");
  return [people || reference.id, reference.year].filter(Boolean).join(" ");
}

// The order in which a reviewer wants to see verdicts; of those that are backed, the least sure first.
export function byBadness(one, other) {
  const rank = (record) => (record.warning ? -1 : WORST_FIRST.indexOf(record.verdict)); // retracted papers first
  const sure = (record) => (record.verdict === "backed" ? record.confidence : -record.confidence);
  return rank(one) - rank(other) || sure(one) - sure(other) || one.sentence - other.sentence || one.start - other.start;
}

export function doiLink(record) {
  if (!record.link) return null;
  return make("a", { href: record.link, rel: "noreferrer noopener", target: "_blank" }, decodeURI(record.link.replace("https://", "")));
}

// The verdict on one citation with its passages; `acts` come below.
export function verdictCard(record, acts = []) {
  const sure = record.confidence ? `, ${Math.round(100 * record.confidence)}% sure` : "";
  const deciding = record.passages.filter((one) => one.decides);
  const main = deciding.length ? deciding : record.passages.slice(0, 1);
  const further = record.passages.filter((one) => !main.includes(one));
  return make(
    "article",
    { class: "card", "data-citation": record.id },
    make("h3", {}, make("span", { "data-verdict": record.verdict }, VERDICTS[record.verdict]), sure),
    make("p", { class: "facts-line", dir: "auto" }, "cites ", make("b", {}, who(record.reference)), record.reference.title ? `, ${record.reference.title}` : "", doiLink(record) ? " · " : null, doiLink(record)),
    record.warning ? make("p", { class: "wrong", role: "note", dir: "auto" }, record.warning) : null,
    make("p", { dir: "auto" }, sentenceCase(record.reason)),
    ...(record.notes || []).map((note) => make("p", { class: "dim", dir: "auto" }, `⚠ ${sentenceCase(note)}`)),
    ...main.map((one) => passage(one, record, one.decides ? "▶ Decides the verdict" : "Closest passage")),
    further.length ? make("details", {}, make("summary", {}, plural(further.length, "more passage")), ...further.map((one) => passage(one, record))) : null,
    ...acts,
  );
}

function passage(one, record, label = "") {
  const from = [label, passageFacts(one), label ? record.paper : ""].filter(Boolean).join(" · ");
  return make("blockquote", { class: "why", "data-stance": one.stance }, make("p", { dir: "auto" }, ...marked(one.text, record.claim)), make("p", { class: "from", dir: "auto" }, from));
}
