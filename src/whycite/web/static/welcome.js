import { addPapers } from "./adding.js";
import { ask, dropping, get, say } from "./common.js";

const add = (files) => addPapers(files, (told) => told.added + told.replaced + told.unchanged && location.assign("/library"));

dropping(get("drop"), add);
get("files").addEventListener("change", (event) => event.target.files.length && add([...event.target.files]));
get("zotero").addEventListener("click", () => add(null));
get("demo").addEventListener("click", async () => {
  get("demo").disabled = true;
  say(get("state"), "Opening the example …");
  try {
    const project = await ask("/api/projects/example", { method: "POST" });
    location.assign(`/projects/${project.id}`);
  } catch (error) {
    get("demo").disabled = false;
    say(get("state"), error.message, true);
  }
});
