// Adding papers to the library, with progress.

import { ask, formOf, get, here, make, plural, say } from "./common.js";

const SUMMARY = "whycite-added"; // what the next page says of what was added
const MAX_NOTES = 100;

// What was not read, and why.
export function showNotes({ skipped = [], warnings = [] }) {
  const notes = [...skipped.map((one) => `${one.path}: ${one.reason}`), ...warnings.map((one) => `${one.path}: ${one.warning}`)];
  get("notes").replaceChildren(...notes.slice(0, MAX_NOTES).map((note) => make("li", { dir: "auto" }, note)));
}

// Opens the library, which says what was added.
export function openLibrary({ skipped, warnings }, text) {
  const summary = JSON.stringify({ skipped: skipped.slice(0, MAX_NOTES), warnings: warnings.slice(0, MAX_NOTES), text });
  try {
    sessionStorage.setItem(SUMMARY, summary);
  } catch {
    // Nothing may be stored: the list of papers says enough.
  }
  location.assign(here("/library"));
}

function takeSummary() {
  try {
    const text = sessionStorage.getItem(SUMMARY);
    sessionStorage.removeItem(SUMMARY);
    return text;
  } catch {
    return null; // Nothing may be stored.
  }
}

// Says once what was added on the page before.
export function showAdded() {
  const added = JSON.parse(takeSummary());
  if (!added) return;
  say(get("state"), added.text);
  showNotes(added);
}

// Sends files, or asks for Zotero's papers without any; `done` receives what was added, and a sentence that says it.
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
  const events = new EventSource(here(`/api/library/uploads/${id}`));
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
    await done(told, summary(told)); // first, so that nothing moves after the end is reported
    finish(summary(told));
  });
  events.addEventListener("stopped", async (event) => {
    events.close();
    const told = JSON.parse(event.data);
    const text = `Stopped. ${summary(told)}`;
    await done(told, text);
    finish(text);
  });
  events.addEventListener("failed", (event) => {
    events.close();
    finish(JSON.parse(event.data).detail, true);
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) finish("Connection lost. Reload the page to see what was added.", true);
  });
}
