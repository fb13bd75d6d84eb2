// Shared by all pages: creating elements, calling the API, showing messages.

export const get = (id) => document.getElementById(id);

// An address of this server, which may be below a path of another one: the folder of this script is its `static`.
const ROOT = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
export const here = (path) => ROOT + path;

export function make(name, given = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export async function fetched(path, options = {}) {
  let answer;
  try {
    answer = await fetch(here(path), options);
  } catch {
    throw new Error("The server does not respond. Is `whycite serve` still running?");
  }
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new Error(problem.detail || `The server responded with status ${answer.status}.`);
  }
  return answer;
}

// The server-sent events of a reply, as [kind, data]; EventSource cannot send files.
export async function* eventsOf(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      if (block.startsWith(":")) continue; // keeps the connection alive
      const [kind, data] = block.split("\n");
      yield [kind.slice("event: ".length), JSON.parse(data.slice("data: ".length))];
    }
  }
}

export async function ask(path, options = {}) {
  return (await fetched(path, options)).json();
}

export function post(path, question) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(question) });
}

export function say(element, text, wrong = false) {
  element.textContent = text;
  element.classList.toggle("wrong", wrong);
}

export function number(value) {
  return value.toLocaleString("en");
}

export function plural(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// The page of a paper of the library.
export function paperAddress(key) {
  return here(`/papers/${key.split("/").map(encodeURIComponent).join("/")}`);
}

// A form with files to send.
export function formOf(files) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.webkitRelativePath || file.name);
  return form;
}

// A button that acts only when it is pressed twice.
export function twice(name, sure, act, given = {}) {
  const button = make("button", { type: "button", ...given }, name);
  let certain = false;
  const be = (now) => {
    certain = now;
    button.textContent = certain ? sure : name;
    if (given["aria-label"]) button.setAttribute("aria-label", certain ? `Press again: ${given["aria-label"]}` : given["aria-label"]);
  };
  button.addEventListener("click", () => (certain ? act(button) : be(true)));
  button.addEventListener("blur", () => be(false));
  return button;
}

// The files that were dropped; those in folders know their path.
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files];
  return (await Promise.all(entries.map(filesBelow))).flat();
}

async function filesBelow(entry) {
  if (entry.name.startsWith(".")) return []; // what a system keeps in folders for itself
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    Object.defineProperty(file, "webkitRelativePath", { value: entry.fullPath.slice(1) });
    return [file];
  }
  const reader = entry.createReader();
  const below = [];
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // some at a time
    if (!entries.length) return below;
    below.push(...(await Promise.all(entries.map(filesBelow))).flat());
  }
}

// Takes the files that people choose in a field, also those that they chose before this script was there.
export function choosing(field, take) {
  const act = () => {
    const files = [...field.files];
    field.value = ""; // so that the same files can be chosen again, and going back does not send them again
    if (files.length) take(files);
  };
  field.addEventListener("change", act);
  act();
}

// Lets files be dropped on an element.
export function dropping(element, take) {
  for (const kind of ["dragover", "dragleave", "drop"]) {
    element.addEventListener(kind, (event) => {
      event.preventDefault();
      element.classList.toggle("over", kind === "dragover");
      if (kind === "drop") filesOf(event.dataTransfer).then((files) => files.length && take(files));
    });
  }
}

const roved = new WeakMap(); // container -> its AbortController

// Makes many elements a single tab stop: arrow keys, Home and End move between them, Enter and Space select.
export function roving(container, elements, pick) {
  roved.get(container)?.abort();
  const stop = new AbortController();
  roved.set(container, stop);
  const on = (kind, act) => container.addEventListener(kind, act, { signal: stop.signal });
  const places = new Map(elements.map((element, at) => [element, at]));
  let now = 0;
  elements.forEach((element, at) => (element.tabIndex = at ? -1 : 0));
  on("keydown", (event) => {
    const at = places.get(event.target);
    if (at === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = elements.length - 1;
    const leads = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last };
    if (event.key in leads) elements[Math.min(Math.max(leads[event.key], 0), last)].focus();
    else if (event.key === "Enter" || event.key === " ") pick(event.target);
    else return;
    event.preventDefault();
  });
  on("focusin", (event) => {
    const at = places.get(event.target);
    if (at === undefined) return;
    elements[now].tabIndex = -1;
    now = at;
    elements[now].tabIndex = 0;
  });
  on("click", (event) => {
    const element = event.target.closest("[data-pick]");
    if (places.has(element)) pick(element);
  });
}

const COMMON = new Set(
  "a an and are as at be been by can for from has have in into is it its may of on or our such than that the their these this those to was we were which with".split(" "),
);

function stem(word) {
  const small = word.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
  return small.length > 4 ? small.replace(/(?:ies|es|s|ed|ing)$/u, "") : small;
}

// A text with the words highlighted that also occur in the other.
export function marked(text, other) {
  const wanted = new Set((other.match(/[\p{L}\p{N}]+/gu) || []).map(stem).filter((word) => !COMMON.has(word)));
  const parts = text.split(/([\p{L}\p{N}]+)/u);
  return parts.map((part) => (wanted.has(stem(part)) && /[\p{L}\p{N}]/u.test(part) ? make("mark", {}, part) : part));
}
