import { ask, choosing, dropping, get, here, make, number, plural, say } from "./common.js";

const STATES = { new: "not verified yet", running: "being verified", done: "verified", stopped: "stopped", failed: "could not be verified" };
const chosen = { draft: [], papers: [] };

function choose(kind, files) {
  chosen[kind].push(...files);
  get(`count-${kind}`).textContent = chosen[kind].length > 1 ? `(${number(chosen[kind].length)})` : "";
  get(`chosen-${kind}`).replaceChildren(...chosen[kind].map((file) => entry(kind, file)));
  say(get("state"), "");
}

function entry(kind, file) {
  const remove = make("button", { type: "button", class: "small", "aria-label": `Leave out ${file.name}` }, "Leave out");
  remove.addEventListener("click", () => {
    chosen[kind].splice(chosen[kind].indexOf(file), 1);
    choose(kind, []);
    get(kind).focus();
  });
  return make("li", {}, make("span", { dir: "auto" }, file.webkitRelativePath || file.name), remove);
}

for (const kind of ["draft", "papers"]) {
  choosing(get(kind), (files) => choose(kind, files));
  dropping(get(`drop-${kind}`), (files) => choose(kind, files));
}

get("new").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!chosen.draft.length) {
    say(get("state"), "Choose the draft first.", true);
    return;
  }
  const form = new FormData();
  for (const [kind, files] of Object.entries(chosen)) {
    for (const file of files) form.append(kind, file, file.webkitRelativePath || file.name);
  }
  const submit = get("new").querySelector("[type=submit]");
  submit.disabled = true;
  say(get("state"), "Sending the files …");
  try {
    const project = await ask("/api/projects", { method: "POST", body: form });
    location.assign(here(`/projects/${project.id}`));
  } catch (error) {
    submit.disabled = false;
    say(get("state"), error.message, true);
  }
});

async function list() {
  try {
    const { projects } = await ask("/api/projects");
    get("none").classList.toggle("hidden", projects.length > 0);
    get("list").replaceChildren(
      ...projects.map((project) =>
        make(
          "li",
          { class: "card" },
          make("h3", { dir: "auto" }, make("a", { href: here(`/projects/${project.id}`) }, project.name)),
          make("p", { class: "facts-line" }, [new Date(project.created).toLocaleDateString("en", { dateStyle: "medium" }), plural(project.papers, "paper"), STATES[project.state]].join(" · ")),
        ),
      ),
    );
  } catch (error) {
    say(get("state"), error.message, true);
  }
}

window.addEventListener("pageshow", list); // also after going back, when the list may be older
