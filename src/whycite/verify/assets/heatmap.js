"use strict";
(() => {
  const STEPS = 5;
  const CHARACTERS = 70; // per line of the overview
  const SIGNS = { "backed": "✓", "secondary": "↪", "contradicted": "✗", "not found": "?", "could not check": "–" };
  const ROLES = {
    hypothesis: "a hypothesis or aim",
    others: "what others found",
    method: "describes a method",
    background: "background",
  };
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (name, words = "", kind = "") => {
    const element = document.createElement(name);
    element.textContent = words;
    if (kind) element.className = kind;
    return element;
  };
  const heat = (score) =>
    score !== null && score >= threshold ? Math.min(Math.floor(score * STEPS) + 1, STEPS) : 0;
  const paint = (element, step) => {
    if (step) element.dataset.heat = step;
    else delete element.dataset.heat;
  };

  let threshold = data.threshold;
  let top = Math.min(data.top, 100);
  let current = 0; // rank of the selected passage
  const spans = [];
  const ranked = data.passages.slice().sort((one, other) => one.rank - other.rank);
  const deciding = new Set(ranked.filter((passage) => passage.decides).map((passage) => passage.rank));
  const listed = () => {
    const first = ranked.filter((passage) => deciding.has(passage.rank));
    return [...first, ...ranked.filter((passage) => !deciding.has(passage.rank))].slice(0, Math.max(top, first.length));
  };
  const contrary = ranked.some((passage) => passage.stance === "contradicts");

  function head() {
    $("claim").textContent = data.claim;
    $("verdict").dataset.verdict = data.verdict;
    $("said").textContent = `${SIGNS[data.verdict]} ${data.verdict}`;
    $("sure").textContent = data.confidence > 0 ? `${Math.round(data.confidence * 100)}% confidence` : "";
    $("reason").textContent = data.reason;
    const { title, path, year } = data.document;
    $("title").textContent = title || path || "Untitled";
    $("file").textContent = [title ? path : "", year || ""].filter(Boolean).join(", ");
    $("none").hidden = ranked.length > 0;
  }

  function body() {
    const text = $("text");
    const quoted = new Set(ranked.filter((passage) => passage.quotes).map((passage) => passage.index));
    let section = -1;
    let paragraph = null;
    let place = null;
    for (const sentence of data.sentences) {
      while (section < sentence.section && section + 1 < data.sections.length) {
        section += 1;
        const { heading, level } = data.sections[section];
        if (heading) text.append(make(`h${Math.min(level, 3) + 1}`, heading));
        place = null;
      }
      if (place === null || sentence.paragraph !== paragraph) {
        paragraph = sentence.paragraph;
        place = make("p", "", sentence.kind === "prose" ? "" : "aside");
        text.append(place);
      } else {
        place.append(" ");
      }
      const span = make("span", sentence.text, quoted.has(sentence.index) ? "s quotes" : "s");
      span.id = `s${sentence.index}`;
      if (sentence.stance) span.dataset.stance = sentence.stance;
      span.tabIndex = -1;
      place.append(span);
      spans.push(span);
    }
  }

  function list() {
    const items = listed().map((passage) => {
      const button = make("button");
      button.type = "button";
      button.dataset.rank = passage.rank;
      const rank = make("span", String(passage.rank), "rank");
      rank.dataset.index = passage.index;
      rank.dataset.stance = passage.stance;
      const facts = make("span", "", "facts");
      facts.append(make("b", passage.score.toFixed(2)), ` · sentence ${passage.index + 1}`);
      if (passage.section) facts.append(` · ${passage.section}`);
      if (passage.page) facts.append(` · p. ${passage.page}`);
      if (passage.decides) facts.append(make("strong", "▶ decides the verdict", "decides"));
      button.append(rank, facts, make("span", passage.text, "words"));
      const warnings = [
        passage.stance === "contradicts" ? "contradicts the claim" : "",
        ROLES[passage.role] || "",
        passage.quotes ? "quotes the claim, so it is not evidence" : "",
      ].filter(Boolean);
      if (warnings.length) button.append(make("span", `⚠ ${warnings.join("; ")}`, "note"));
      if (passage.numbers) button.append(make("span", passage.numbers, "note"));
      button.addEventListener("click", () => jump(passage.rank));
      const item = make("li");
      item.append(button);
      return item;
    });
    $("list").replaceChildren(...items);
    for (const span of document.querySelectorAll(".s[data-rank]")) delete span.dataset.rank;
    for (const passage of listed()) {
      if (spans[passage.index]) spans[passage.index].dataset.rank = `${passage.decides ? "▶ " : ""}${passage.rank}`;
    }
  }

  function legend() {
    const steps = [];
    for (let step = 1; step <= STEPS; step += 1) {
      const least = make("span", ((step - 1) / STEPS).toFixed(1).replace("0.", "."));
      least.title = `from ${((step - 1) / STEPS).toFixed(1)} to ${(step / STEPS).toFixed(1)}`;
      if (step / STEPS <= threshold) least.className = "off";
      else least.dataset.heat = step;
      steps.push(least);
    }
    $("legend").replaceChildren(...steps);
    $("against").hidden = !contrary;
  }

  function shade() {
    let shaded = 0;
    data.sentences.forEach((sentence, index) => {
      const step = heat(sentence.score);
      shaded += step > 0;
      paint(spans[index], step);
    });
    for (const rank of document.querySelectorAll("#list .rank")) {
      paint(rank, heat(data.sentences[rank.dataset.index]?.score ?? null));
    }
    $("from").textContent = threshold.toFixed(2);
    $("threshold").value = threshold;
    $("shaded").textContent = `${shaded} of ${data.sentences.length} sentences`;
    legend();
    draw();
  }

  // The overview: the whole document in tiny lines, which shows where the shaded sentences are.
  let lines = null;
  function layOut() {
    const runs = [];
    let line = 0;
    let column = 0;
    let section = -1;
    let paragraph = null;
    const places = data.sentences.map((sentence) => {
      if (sentence.section !== section) {
        line += section < 0 ? 0 : 2.5;
        column = 0;
        section = sentence.section;
        if (data.sections[section]?.heading) {
          runs.push({ at: -1, line, from: 0, to: Math.min(data.sections[section].heading.length + 6, CHARACTERS) });
          line += 1.7;
        }
        paragraph = sentence.paragraph;
      } else if (sentence.paragraph !== paragraph) {
        line += 1.6;
        column = 0;
        paragraph = sentence.paragraph;
      }
      const begun = line;
      let left = sentence.text.length + 1;
      while (left > 0) {
        const run = Math.min(left, CHARACTERS - column);
        runs.push({ at: sentence.index, line, from: column, to: column + run });
        left -= run;
        column += run;
        if (column >= CHARACTERS) {
          column = 0;
          line += 1;
        }
      }
      return (begun + line + 1) / 2;
    });
    lines = { runs, places, count: Math.max(line + 2, 40) };
  }

  function draw() {
    const canvas = $("strip");
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!width || !height) return;
    if (!lines) layOut();
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const ramp = (name) => [colour("--faint"), ...Array.from({ length: STEPS }, (_, step) => colour(`${name}-${step + 1}`))];
    const [colours, against] = [ramp("--heat"), ramp("--against")];
    const step = height / lines.count;
    const left = 6;
    const across = (width - 2 * left) / CHARACTERS;
    const bar = (run, fill, thick) => {
      context.fillStyle = fill;
      const middle = (run.line + 0.5) * step;
      context.fillRect(left + run.from * across, middle - thick / 2, (run.to - run.from) * across, thick);
    };
    for (const run of lines.runs) {
      if (run.at < 0) bar(run, colour("--soft"), Math.max(step * 0.8, 1));
      else if (!heat(data.sentences[run.at].score)) bar(run, colours[0], Math.min(Math.max(step * 0.55, 0.5), 3));
    }
    for (const run of lines.runs) {
      const hot = run.at < 0 ? 0 : heat(data.sentences[run.at].score);
      if (hot) {
        bar(run, colour("--ink"), Math.max(step, 3) + 1);
        const contradicts = data.sentences[run.at].stance === "contradicts";
        bar(run, (contradicts ? against : colours)[hot], Math.max(step, 3));
      }
    }
    mark(step, height);
    view();
  }

  function mark(step, height) {
    const shown = listed().slice(0, 30).filter((passage) => heat(passage.score) && spans[passage.index]);
    $("marks").replaceChildren(
      ...shown.map((passage) => {
        const button = make("button", String(passage.rank));
        button.type = "button";
        button.dataset.rank = passage.rank;
        button.title = `passage ${passage.rank}, score ${passage.score.toFixed(2)}`;
        button.setAttribute("aria-label", `Jump to passage ${passage.rank}`);
        button.setAttribute("aria-current", String(passage.rank === current));
        const wanted = (lines.places[passage.index] + 0.5) * step;
        button.style.top = `${Math.max(11, Math.min(wanted, height - 11))}px`;
        button.addEventListener("click", () => jump(passage.rank));
        return button;
      }),
    );
  }

  const header = document.querySelector("header");
  const above = () => (getComputedStyle(header).position === "sticky" ? header.offsetHeight : 0);

  function view() {
    const box = $("text").getBoundingClientRect();
    const height = $("strip").clientHeight;
    const from = Math.max(0, Math.min(1, (above() - box.top) / box.height));
    const to = Math.max(0, Math.min(1, (window.innerHeight - box.top) / box.height));
    $("view").style.top = `${from * height}px`;
    $("view").style.height = `${(to - from) * height}px`;
  }

  function drag(event) {
    if (event.target.closest("button") || (event.type === "pointermove" && !event.buttons)) return;
    event.preventDefault();
    const strip = $("strip").getBoundingClientRect();
    const box = $("text").getBoundingClientRect();
    const share = (event.clientY - strip.top) / strip.height;
    const wanted = window.scrollY + box.top + share * box.height - (window.innerHeight + above()) / 2;
    window.scrollTo({ top: wanted, behavior: "instant" });
  }

  function jump(rank) {
    const passage = ranked.find((candidate) => candidate.rank === rank);
    const span = passage && spans[passage.index];
    if (!span) return;
    document.querySelector(".s.current")?.classList.remove("current");
    current = rank;
    span.classList.add("current");
    span.scrollIntoView({ block: "center" });
    span.focus({ preventScroll: true });
    for (const button of document.querySelectorAll("#list button, #marks button")) {
      button.setAttribute("aria-current", String(Number(button.dataset.rank) === rank));
    }
    const entry = document.querySelector('#list [aria-current="true"]');
    const box = document.querySelector(".passages");
    if (entry && box.scrollHeight > box.clientHeight) {
      box.scrollTop = entry.parentElement.offsetTop - box.offsetTop - box.clientHeight / 3;
    }
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    const change = { "+": 0.05, "=": 0.05, "-": -0.05, "−": -0.05 }[event.key];
    if (change) setThreshold(threshold + change);
    else if (event.key === "n") jump(Math.min(current + 1, ranked.length));
    else if (event.key === "p") jump(Math.max(current - 1, 1));
    else if (/^[1-9]$/.test(event.key)) jump(Number(event.key));
    else return;
    event.preventDefault();
  }

  function setThreshold(value) {
    threshold = Math.max(0, Math.min(1, Math.round(value * 100) / 100));
    shade();
  }

  function fit() {
    document.documentElement.style.setProperty("--head", `${above()}px`);
    draw();
  }

  head();
  body();
  $("top").value = top;
  list();
  shade();
  fit();
  $("threshold").addEventListener("input", (event) => setThreshold(Number(event.target.value)));
  $("top").addEventListener("input", (event) => {
    const wanted = Math.floor(Number(event.target.value));
    if (wanted >= 1) {
      top = Math.min(wanted, 100);
      list();
      shade();
    }
  });
  $("map").addEventListener("pointerdown", drag);
  $("map").addEventListener("pointermove", drag);
  document.addEventListener("keydown", press);
  window.addEventListener("scroll", view, { passive: true });
  window.addEventListener("resize", fit);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
