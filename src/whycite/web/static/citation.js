import { ask, get, here, make, say } from "./common.js";
import { deciding, showOriginal, showText } from "./paperview.js";
import { verdictCard } from "./verdicts.js";

const { project, citation } = get("citation-page").dataset;
const api = `/api/projects/${project}/citations/${citation}`;

async function start() {
  const record = await ask(api);
  get("back").href = here(`/projects/${project}/sentences/${record.sentence}`);
  const draft = make("section", {}, make("h2", {}, "Claim"), make("blockquote", { class: "why", dir: "auto" }, record.claim));
  get("panel").replaceChildren(draft, verdictCard(record));
  get("title").textContent = record.reference.title || get("title").textContent;
  say(get("state"), "Reading the paper …");
  get("citation-page").classList.remove("loading");
  const paper = await ask(`${api}/paper`);
  say(get("state"), "");
  get("title").textContent = record.reference.title || paper.title;
  document.title = `${paper.title} · whycite`;
  get("paper").dataset.stance = deciding(paper.passages)[0]?.stance ?? "";
  if (paper.format === "pdf" && paper.original) {
    const offer = offerText(paper); // first, so that the paper does not move
    if (await showOriginal(get("paper"), paper.original, deciding(paper.passages))) return;
    offer.remove();
  }
  const lead = showText(get("paper"), paper);
  const passage = deciding(paper.passages)[0];
  if (passage) lead(passage.index);
}

function offerText(paper) {
  const button = make("button", { type: "button", "aria-pressed": "false" }, "Show as text");
  const text = make("div");
  let pages = [];
  button.addEventListener("click", () => {
    const asText = button.getAttribute("aria-pressed") === "false";
    button.setAttribute("aria-pressed", String(asText));
    if (asText) pages = [...get("paper").childNodes];
    get("paper").replaceChildren(...(asText ? [text] : pages));
    if (asText) showText(text, paper);
  });
  const offer = make("p", {}, button, " ", make("a", { href: here(paper.original), download: "" }, "Download the file"));
  get("paper-title").after(offer);
  return offer;
}

start()
  .catch((error) => say(get("state"), error.message, true))
  .finally(() => get("citation-page").classList.remove("loading"));
