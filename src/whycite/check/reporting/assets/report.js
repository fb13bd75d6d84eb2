"use strict";
(() => {
  const drafts = JSON.parse(document.getElementById("data").textContent);

  // Text from a draft is inserted as text, never as markup.
  function make(tag, className, ...content) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    for (const part of content) element.append(part instanceof Node ? part : document.createTextNode(String(part)));
    return element;
  }
  function button(text, action, className) {
    const element = make("button", className, text);
    element.type = "button";
    element.addEventListener("click", action);
    return element;
  }
  const percent = (value) => `${Math.round(100 * value)}%`;
  const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  const plain = (sentence) => sentence.text.map((part) => (typeof part === "string" ? part : part.shown)).join("");

  const sentences = [];
  drafts.forEach((draft) => draft.sentences.forEach((sentence) => {
    sentence.draft = draft;
    sentences.push(sentence);
  }));
  const thresholds = sentences.filter((one) => one.kind).map((one) => one.threshold).sort((a, b) => a - b);
  const usual = thresholds.length ? thresholds[Math.floor(thresholds.length / 2)] : 0.5;
  const state = { threshold: null, show: "all", section: "", words: "", chosen: null };

  // A sentence above its own threshold that is still "ok" was excused by a rule, and stays excused.
  function needs(sentence) {
    if (!sentence.kind || sentence.kind === "cited") return false;
    if (state.threshold === null) return sentence.kind === "needs-citation";
    const excused = sentence.kind === "ok" && sentence.worthiness >= sentence.threshold;
    return !excused && sentence.worthiness >= state.threshold;
  }
  function fits(sentence) {
    if (state.section && sentence.heading !== state.section) return false;
    if (state.show === "needs" && !needs(sentence)) return false;
    if (state.show === "cited" && sentence.kind !== "cited") return false;
    return !state.words || plain(sentence).toLowerCase().includes(state.words);
  }

  // -- the draft ------------------------------------------------------------

  const main = make("main", "");
  const nav = make("nav", "");
  nav.setAttribute("aria-label", "Sections");
  const counts = [];
  const headings = new Set();

  function drawSentence(sentence) {
    const span = make("span", "s");
    span.setAttribute("role", "button");
    for (const part of sentence.text) {
      if (typeof part === "string") span.append(part);
      else span.append(make("span", "cite", part.shown));
    }
    span.addEventListener("click", () => choose(sentence));
    span.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(sentence);
    });
    sentence.element = span;
    return span;
  }
  function drawDraft(draft, number) {
    const article = make("article", "");
    article.append(make("h2", "", draft.title || draft.path), make("p", "path", draft.path));
    nav.append(make("h2", "", drafts.length > 1 ? draft.title || draft.path : "Sections"));
    let heading = "";
    let members = [];
    draft.blocks.forEach((block) => {
      if (block.from === undefined) {
        members = [];
        heading = block.heading;
        if (!heading) return;
        headings.add(heading);
        const level = Math.min(Math.max(block.level, 1), 3);
        const element = make(`h${level + 2}`, "", heading);
        element.id = `s${number}-${block.section}`;
        const link = make("a", `l${level}`, make("span", "", heading));
        link.href = `#${element.id}`;
        const count = make("b", "");
        link.append(count);
        counts.push([count, members]);
        nav.append(link);
        article.append(element);
        return;
      }
      const paragraph = make("p", block.kind === "prose" ? "" : "aside");
      paragraph.dataset.kind = block.kind;
      for (let at = block.from; at < block.to; at += 1) {
        const sentence = draft.sentences[at];
        sentence.heading = heading;
        members.push(sentence);
        if (at > block.from) paragraph.append(" ");
        paragraph.append(drawSentence(sentence));
      }
      article.append(paragraph);
    });
    if (draft.warnings.length) {
      article.append(make("p", "warnings", `Warnings: ${draft.warnings.join("; ")}`));
    }
    main.append(article);
  }

  function shade() {
    let count = 0;
    for (const sentence of sentences) {
      const need = needs(sentence);
      const dim = !fits(sentence);
      const heat = sentence.kind && sentence.kind !== "cited" ? Math.min(8, Math.floor(9 * sentence.worthiness)) : 0;
      count += need;
      const bad = sentence.problems && sentence.problems.length;
      sentence.element.className = ["s", bad ? "bad" : "", heat ? `h${heat}` : "", need ? "need" : "", dim ? "dim" : "",
        sentence === state.chosen ? "chosen" : ""].filter(Boolean).join(" ");
      sentence.element.tabIndex = ((need || bad) && !dim) || sentence === state.chosen ? 0 : -1;
      sentence.element.setAttribute("aria-pressed", String(sentence === state.chosen));
    }
    for (const [element, members] of counts) {
      const number = members.filter(needs).length;
      element.textContent = number ? String(number) : "";
    }
    total.replaceChildren(make("b", "", count.toLocaleString("en")), ` of ${plural(sentences.length, "sentence")} ${count === 1 ? "needs" : "need"} a citation`);
    const own = state.threshold === null;
    output.textContent = own ? "default" : `${percent(state.threshold)} and above`;
    reset.classList.toggle("hidden", own);
    if (!state.chosen) drawList();
  }

  // -- the panel ------------------------------------------------------------

  const panel = make("aside", "empty");
  panel.setAttribute("aria-label", "Evidence");
  panel.setAttribute("aria-live", "polite");

  function choose(sentence) {
    state.chosen = sentence;
    panel.classList.remove("empty");
    drawChosen(sentence);
    panel.scrollTop = 0;
    shade();
  }
  function close() {
    const before = state.chosen;
    state.chosen = null;
    panel.classList.add("empty");
    shade();
    if (before) before.element.focus({ preventScroll: true });
  }
  function drawList() {
    const wanted = sentences.filter((one) => needs(one) && fits(one)).sort((a, b) => b.worthiness - a.worthiness);
    panel.replaceChildren(make("h2", "", wanted.length ? "Most likely first" : "Nothing to do"));
    panel.append(make("p", "where", wanted.length
      ? "Select a sentence, here or in the draft, to see what it could cite and why."
      : "None of the sentences shown needs a citation at this threshold."));
    for (const sentence of wanted.slice(0, 100)) {
      panel.append(button(make("b", "", percent(sentence.worthiness)), () => {
        choose(sentence);
        reveal(sentence);
      }, "row"));
      panel.lastChild.append(make("span", "", plain(sentence)));
    }
    const keys = make("p", "where", make("kbd", "", "n"), " next, ", make("kbd", "", "p"), " previous, ", make("kbd", "", "Esc"), " back");
    panel.append(keys);
  }
  function drawChosen(sentence) {
    const need = needs(sentence);
    const [kind, words] = need ? ["need", sentence.need[0].toUpperCase() + sentence.need.slice(1)]
      : sentence.kind === "cited" ? ["cited", "Has a citation"] : ["ok", sentence.kind ? "Looks fine" : "Not checked"];
    const head = make("div", "head", make("span", `badge ${kind}`, words), button("Close", close));
    const quote = make("blockquote", "sentence", plain(sentence));
    panel.replaceChildren(head);
    if (sentence.kind) {
      const meter = document.createElement("meter");
      meter.value = sentence.worthiness;
      meter.setAttribute("aria-label", "worthiness");
      panel.append(make("div", "sure", "worthiness", meter, percent(sentence.worthiness)));
    }
    const place = sentence.line ? `${sentence.file}:${sentence.line}` : sentence.file;
    if (sentence.rule) panel.append(make("p", "where", `Rule ${sentence.rule}`));
    if (sentence.clause) panel.append(make("p", "where", `Concerns only: \u2026 ${sentence.clause}`));
    panel.append(quote, make("p", "where", make("code", "", place), sentence.heading ? ` \u00b7 ${sentence.heading}` : ""));
    for (const problem of sentence.problems || []) panel.append(make("p", "wrong", problem));
    drawCited(sentence);
    const proposals = sentence.proposals || [];
    if (proposals.length) {
      panel.append(make("h2", "", need ? "Could cite" : "Could also cite"));
      if (sentence.poor) panel.append(make("p", "where", sentence.poor));
      panel.append(make("ol", "", ...proposals.map(drawProposal)));
    } else if (need) {
      panel.append(make("p", "where", "No matching papers. Add papers to your library, or check again with a lower threshold."));
    }
  }
  function drawCited(sentence) {
    const keys = [...new Set(sentence.text.flatMap((part) => (typeof part === "string" ? [] : part.keys)))];
    if (!keys.length) return;
    panel.append(make("h2", "", "Cites"));
    const references = new Map(Object.entries(sentence.draft.references));
    for (const key of keys) {
      panel.append(make("p", "by", make("code", "", key), references.has(key) ? ` ${references.get(key)}` : " not in the bibliography"));
    }
  }
  function drawProposal(proposal) {
    const item = make("li", "", make("h3", "", proposal.title || "(no title)"), make("div", "by", proposal.byline));
    if (proposal.warning) item.append(make("p", "wrong", proposal.warning));
    const facts = make("div", "facts", make("code", "", proposal.key));
    facts.append(make("span", proposal.known ? "tag known" : "tag", proposal.known ? "in your bibliography" : "new"));
    if (proposal.support) facts.append(make("span", "by", `cited in ${plural(proposal.support, "place")}`));
    if (proposal.doi) {
      const link = make("a", "", "doi");
      link.href = `https://doi.org/${encodeURIComponent(proposal.doi).replaceAll("%2F", "/")}`;
      link.rel = "noreferrer noopener";
      facts.append(link);
    }
    item.append(facts);
    for (const evidence of proposal.evidence) item.append(drawEvidence(evidence));
    const match = proposal.title_matches ? "title" : "meaning";
    if (!proposal.evidence.length) item.append(make("p", "from", `Matches by ${match}; not cited for this elsewhere.`));
    if (proposal.bibtex) {
      const shown = make("pre", "", proposal.bibtex);
      item.append(make("details", "", make("summary", "", "BibTeX entry"), shown));
    }
    return item;
  }
  function drawEvidence(evidence) {
    const whole = evidence.sentence || evidence.span;
    const at = whole.indexOf(evidence.span);
    const quote = make("p", "", "\u201c");
    if (at >= 0) quote.append(whole.slice(0, at), make("mark", "", evidence.span), whole.slice(at + evidence.span.length));
    else quote.append(whole);
    quote.append("\u201d");
    const source = evidence.place || `${evidence.title || "untitled document"}${evidence.year ? ` (${evidence.year})` : ""}`;
    return make("div", "evidence", quote, make("div", "from", `\u2014 ${source}`));
  }

  // -- controls -------------------------------------------------------------

  function labelled(text, control) {
    return make("label", "", text, control);
  }
  function select(options, action) {
    const element = make("select", "");
    for (const [value, text] of options) {
      const option = make("option", "", text);
      option.value = value;
      element.append(option);
    }
    element.addEventListener("change", () => action(element.value));
    return element;
  }
  const total = make("span", "count");
  total.setAttribute("role", "status");
  const output = make("output", "");
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", id: "threshold", min: "0", max: "100", step: "1" });
  slider.value = String(Math.round(100 * usual));
  slider.addEventListener("input", () => {
    state.threshold = Number(slider.value) / 100;
    shade();
    if (state.chosen) drawChosen(state.chosen);
  });
  const reset = button("Reset", () => {
    state.threshold = null;
    slider.value = String(Math.round(100 * usual));
    shade();
  }, "hidden");
  const search = document.createElement("input");
  Object.assign(search, { type: "search", placeholder: "text", size: 12 });
  search.addEventListener("input", () => {
    state.words = search.value.trim().toLowerCase();
    shade();
  });
  const root = document.documentElement;
  const theme = button("", () => paint(root.dataset.theme === "dark" ? "light" : "dark"));
  function paint(name) {
    root.dataset.theme = name;
    theme.textContent = name === "dark" ? "Light" : "Dark";
  }
  paint(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const legend = make("span", "legend", "unlikely");
  for (let heat = 1; heat <= 8; heat += 1) legend.append(make("i", `h${heat}`));
  legend.append("likely");

  function reveal(sentence) {
    // On a narrow screen the panel covers the lower half, so scroll the sentence to the top.
    sentence.element.scrollIntoView({ block: matchMedia("(max-width: 52rem)").matches ? "start" : "center" });
  }
  function step(forward) {
    const wanted = sentences.filter((one) => needs(one) && fits(one));
    if (!wanted.length) return;
    const at = sentences.indexOf(state.chosen);
    const later = wanted.filter((one) => sentences.indexOf(one) > at);
    const sooner = wanted.filter((one) => sentences.indexOf(one) < at);
    const next = forward ? later[0] || wanted[0] : sooner[sooner.length - 1] || wanted[wanted.length - 1];
    choose(next);
    next.element.focus({ preventScroll: true });
    reveal(next);
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") close();
    if (/^(?:INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "n" || event.key === "j") step(true);
    if (event.key === "p" || event.key === "k") step(false);
  });

  const title = drafts.length === 1 ? drafts[0].title || drafts[0].path : plural(drafts.length, "draft");
  document.title = `${title} \u00b7 whycite check`;
  drafts.forEach(drawDraft);
  const sections = select([["", "all sections"], ...[...headings].map((one) => [one, one])], (value) => {
    state.section = value;
    shade();
  });
  const show = select([["all", "all sentences"], ["needs", "sentences that need a citation"], ["cited", "sentences with citations"]], (value) => {
    state.show = value;
    shade();
  });
  const header = make("header", "",
    make("div", "top", make("h1", "", title), total, button("Previous", () => step(false)),
      button("Next", () => step(true)), theme),
    make("div", "bar", labelled("Threshold", slider), output, reset, legend, labelled("Show", show),
      labelled("in", sections), labelled("containing", search)));
  document.body.append(header, make("div", "columns", nav, main, panel));
  new ResizeObserver(() => root.style.setProperty("--header", `${header.offsetHeight}px`)).observe(header);
  shade();
})();
