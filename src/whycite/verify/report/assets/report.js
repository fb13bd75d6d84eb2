"use strict";
(() => {
  const buttons = [...document.querySelectorAll("#filters button")];
  const sections = [...document.querySelectorAll("main > section")];
  const shown = document.getElementById("shown");

  function show(verdict) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.show === verdict));
    for (const section of sections) section.hidden = verdict !== "" && section.dataset.verdict !== verdict;
    shown.textContent = verdict ? `Only “${verdict}” is shown.` : "";
  }

  function move(step) {
    const articles = [...document.querySelectorAll("main > section:not([hidden]) article")];
    const current = articles.indexOf(document.activeElement?.closest("article"));
    const next = articles[current < 0 ? (step > 0 ? 0 : articles.length - 1) : current + step];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
  }

  for (const button of buttons) {
    // A second press shows everything again.
    button.addEventListener("click", () => show(button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.show));
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n") move(1);
    else if (event.key === "p") move(-1);
    else if (event.key === "Escape") show("");
    else return;
    event.preventDefault();
  });
  // On paper nothing can be unfolded; further passages stay away.
  window.addEventListener("beforeprint", () => {
    for (const group of document.querySelectorAll("section > details, li > details")) group.open = true;
  });
  document.getElementById("filters").hidden = false;
})();
