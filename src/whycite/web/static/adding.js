// Adding papers to the library, with progress.

import { ask, formOf, get, plural, say } from "./common.js";

// Sends files, or asks for Zotero's papers without any; `done` receives what was added.
export async function addPapers(files, done) {
  const [state, bar, working] = ["state", "progress", "working"].map(get);
  const finish = (text, wrong = false) => {
    working.classList.add("hidden");
    say(state, text, wrong);
  };
  working.classList.remove("hidden");
  get("stop").disabled = true;
  bar.removeAttribute("value");
  say(state, files ? `Uploading ${plural(files.length, "file")} …` : "Looking for your Zotero library …");
  try {
    const { id } = files ? await ask("/api/library/documents", { method: "POST", body: formOf(files) }) : await ask("/api/library/zotero", { method: "POST" });
    follow(id, files?.length ?? 0, done, finish);
  } catch (error) {
    finish(error.message, true);
  }
}

function summary({ added, replaced, unchanged }) {
  const present = unchanged ? `${plural(unchanged, "paper")} ${unchanged === 1 ? "was" : "were"} there already` : "";
  if (added + replaced) return `Added ${plural(added + replaced, "paper")}${present ? `; ${present}` : ""}.`;
  return present ? `Nothing new: ${present}.` : "No papers were added.";
}

function follow(id, files, done, finish) {
  const [state, bar, stop] = ["state", "progress", "stop"].map(get);
  stop.disabled = false;
  stop.onclick = async () => {
    stop.disabled = true;
    say(state, "Stopping after this paper …");
    await ask(`/api/library/uploads/${id}`, { method: "DELETE" }).catch((error) => say(state, error.message, true));
  };
  const events = new EventSource(`/api/library/uploads/${id}`);
  events.addEventListener("progress", (event) => {
    const told = JSON.parse(event.data);
    if (stop.disabled) return; // it is being stopped
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
    finish(summary(told));
  });
  events.addEventListener("stopped", async (event) => {
    events.close();
    const told = JSON.parse(event.data);
    await done(told);
    finish(`Stopped. ${summary(told)}`);
  });
  events.addEventListener("failed", (event) => {
    events.close();
    finish(JSON.parse(event.data).detail, true);
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) finish("Connection lost. Reload the page to see what was added.", true);
  });
}
