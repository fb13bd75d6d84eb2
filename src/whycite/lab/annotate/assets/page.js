"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const show = (id, shown) => { $(id).hidden = !shown; };
  const make = (name, words = "") => {
    const element = document.createElement(name);
    element.textContent = words;
    return element;
  };
  const KEPT = "whycite-labeller";
  const remembered = () => { try { return localStorage.getItem(KEPT) || ""; } catch { return ""; } };
  const remember = (name) => { try { localStorage.setItem(KEPT, name); } catch { /* the user is asked again */ } };

  let labeller = "";
  let task = null;
  let words = {};
  let busy = false;
  const seen = {}; // how often each kind of task was shown; instructions collapse after the first
  let unsent = null; // a request that failed; it is sent again unchanged, and the server counts it once

  // An id for a request; randomUUID is available on localhost.
  const submission = () => crypto.randomUUID();

  async function ask(path, body) {
    const options = body
      ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }
      : {};
    const answer = await fetch(path, { ...options, cache: "no-store" });
    const content = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(content.detail || answer.statusText), { told: true });
    return content;
  }

  async function act(path, body) {
    if (busy) return;
    busy = true;
    for (const button of document.querySelectorAll("main button")) button.disabled = true;
    try {
      const state = await ask(path, body);
      unsent = null;
      show("problem", false);
      render(state);
    } catch (error) {
      unsent = body && !error.told ? [path, body] : null;
      $("problem").textContent = error.told
        ? error.message
        : "The server does not respond, so this was not saved. Restart it, then press any key to send it again.";
      show("problem", true);
    } finally {
      busy = false;
      for (const button of document.querySelectorAll("main button")) button.disabled = false;
    }
  }

  const look = () => act(`/api/next?labeller=${encodeURIComponent(labeller)}`);
  const send = (action, label = "") =>
    task && act("/api/answers", { task: task.id, labeller, action, label, submission: submission() });
  const undo = () => act("/api/undo", { labeller, submission: submission() });

  // Explains why there are no tasks left for this labeller.
  function rest(held, missing) {
    if (held) return "The remaining tasks are assigned to others; check again in ten minutes.";
    if (missing) return "You have answered or skipped every task; others must provide the missing answers.";
    return "All tasks are complete.";
  }

  function render(state) {
    task = state.task;
    show("start", false);
    show("task", task !== null);
    show("done", task === null);
    show("leave", true);
    show("bar", true);
    const { answered, skipped, open, held, answers, wanted } = state.progress;
    $("who").textContent = state.labeller;
    $("progress").textContent =
      `You: ${answered} answered, ${skipped} skipped, ${open} left. All: ${answers} of ${wanted} answers.`;
    $("bar").value = wanted ? answers / wanted : 1;
    $("rest").textContent = `Thank you. ${rest(held, wanted - answers)}`;
    if (task === null) return;
    const told = words[task.kind];
    if ($("title").textContent !== told.title || $("task").dataset.kind !== task.kind) {
      $("task").dataset.kind = task.kind;
      $("title").textContent = told.title;
      $("steps").replaceChildren(...told.steps.map((step) => make("li", step)));
      $("guide").textContent = told.guide;
      $("hints").replaceChildren(...told.hints.map((hint) => make("li", hint)));
      $("question").textContent = told.question;
      $("choices").replaceChildren(
        ...told.choices.map((choice) => {
          const button = make("button", choice.text);
          button.type = "button";
          button.append(make("kbd", choice.key));
          button.addEventListener("click", () => send("answer", choice.label));
          return button;
        }),
      );
    }
    seen[task.kind] = (seen[task.kind] || 0) + 1;
    if (seen[task.kind] <= 2) $("how").open = seen[task.kind] === 1;
    $("claim").textContent = task.claim;
    $("options").className = task.options.length > 1 ? "two" : "";
    $("options").replaceChildren(
      ...task.options.map((text, at) => {
        const option = make("div");
        option.className = "option";
        option.append(make("b", task.options.length > 1 ? `Option ${at + 1}` : "Sentence"), text);
        return option;
      }),
    );
    $("title").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.matches("input")) return;
    if (!labeller) return;
    if (unsent) {
      event.preventDefault();
      act(...unsent);
      return;
    }
    const key = event.key.toLowerCase();
    if (key === "u") undo();
    else if (key === "s") send("skip");
    else if (task) {
      const choices = words[task.kind].choices;
      const chosen = choices.find((choice) => choice.key === key) || choices[["1", "2", "3"].indexOf(key)];
      if (!chosen) return;
      send("answer", chosen.label);
    } else return;
    event.preventDefault();
  }

  function begin(name) {
    labeller = name.trim();
    if (!labeller) return;
    remember(labeller);
    look();
  }

  function leave() {
    labeller = "";
    task = null;
    for (const id of ["task", "done", "leave", "bar", "problem"]) show(id, false);
    $("who").textContent = "";
    $("progress").textContent = "";
    show("start", true);
    $("name").focus();
  }

  $("start").addEventListener("submit", (event) => {
    event.preventDefault();
    begin($("name").value);
  });
  $("leave").addEventListener("click", leave);
  $("undo").addEventListener("click", undo);
  $("undo-last").addEventListener("click", undo);
  $("skip").addEventListener("click", () => send("skip"));
  $("again").addEventListener("click", look);
  document.addEventListener("keydown", press);
  ask("/api/instructions").then((told) => {
    words = told;
    $("name").value = remembered();
    show("start", true);
    $("name").focus();
  }, () => {
    $("problem").textContent = "The server does not respond; restart it and reload this page.";
    show("problem", true);
  });
})();
