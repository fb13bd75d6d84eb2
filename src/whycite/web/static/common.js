// What all pages share: making elements without HTML from strings, asking the API, saying what is going on.

export function make(name, given = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer: is whycite serve still running?");
  }
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new Error(problem.detail || `The server answered ${answer.status}.`);
  }
  return answer.json();
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

const COMMON = new Set(
  "a an and are as at be been by can for from has have in into is it its may of on or our such than that the their these this those to was we were which with".split(" "),
);

function stem(word) {
  const small = word.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
  return small.length > 4 ? small.replace(/(?:ies|es|s|ed|ing)$/u, "") : small;
}

// A text with the words marked that the other has too.
export function marked(text, other) {
  const wanted = new Set((other.match(/[\p{L}\p{N}]+/gu) || []).map(stem).filter((word) => !COMMON.has(word)));
  const parts = text.split(/([\p{L}\p{N}]+)/u);
  return parts.map((part) => (wanted.has(stem(part)) && /[\p{L}\p{N}]/u.test(part) ? make("mark", {}, part) : part));
}
