// Adding papers to the library, with progress.

import { ask, formOf, plural, say } from "./common.js";

// Sends files, or asks for Zotero's papers without any; `done` receives what was added.
export async function addPapers(files, state, bar, done) {
  const finish = (text, wrong = false) => {
    bar.classList.add("hidden");
    say(state, text, wrong);
  };
  bar.classList.remove("hidden");
  bar.removeAttribute("value");
  say(state, files ? `Uploading ${plural(files.length, "file")} …` : "Looking for your Zotero library …");
  try {
    const { id } = files ? await ask("/api/library/documents", { method: "POST", body: formOf(files) }) : await ask("/api/library/zotero", { method: "POST" });
    follow(id, files?.length ?? 0, state, bar, done, finish);
  } catch (error) {
    finish(error.message, true);
  }
}

function follow(id, files, state, bar, done, finish) {
  const events = new EventSource(`/api/library/uploads/${id}`);
  events.addEventListener("progress", (event) => {
    const told = JSON.parse(event.data);
    if (told.waiting) {
      say(state, `Waiting: ${told.waiting}`);
      return;
    }
    const total = Math.max(files, told.files);
    if (total) [bar.max, bar.value] = [Math.max(total, told.read), told.read];
    say(state, told.read ? `Read ${plural(told.read, "paper")}; now ${told.reading}` : "Reading …");
  });
  events.addEventListener("done", async (event) => {
    events.close();
    const told = JSON.parse(event.data);
    await done(told); // first, so that nothing moves after the end is reported
    finish(`Added ${plural(told.added + told.replaced, "paper")}; ${told.unchanged} unchanged.`);
  });
  events.addEventListener("failed", (event) => {
    events.close();
    finish(JSON.parse(event.data).detail, true);
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) finish("Connection lost. Reload the page to see what was added.", true);
  });
}
