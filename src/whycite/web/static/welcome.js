import { addPapers, openLibrary, showNotes } from "./adding.js";
import { ask, choosing, dropping, get, here, say } from "./common.js";

// On to the library, which says what was left out; if nothing was added, this page does.
function add(files) {
  showNotes({});
  addPapers(files, (told, text) => {
    if (told.added + told.replaced + told.unchanged) openLibrary(told, text);
    else showNotes(told);
  });
}

dropping(get("drop"), add);
choosing(get("files"), add);
get("zotero").addEventListener("click", () => add(null));
get("demo").addEventListener("click", async () => {
  get("demo").disabled = true;
  say(get("state"), "Opening the example …");
  try {
    const project = await ask("/api/projects/example", { method: "POST" });
    location.assign(here(`/projects/${project.id}`));
  } catch (error) {
    get("demo").disabled = false;
    say(get("state"), error.message, true);
  }
});
