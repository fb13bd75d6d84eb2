// Bar charts as inline SVG, with all values as text for screen readers.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 360;
const HEIGHT = 150;
const FOOT = 18;
const HEAD = 18;
const LETTER = 8; // width of the widest character

function shape(name, given, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

export function bars(pairs, title) {
  const plot = shape("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const most = Math.max(1, ...pairs.map(([, count]) => count));
  const said = pairs.map(([label, count]) => `${label}: ${count}`).join(", ");
  plot.append(shape("title", {}, `${title}. ${said || "No data"}`));
  const step = WIDTH / Math.max(1, pairs.length);
  const every = Math.ceil(pairs.length / 8);
  let end = 0; // right end of the last label
  pairs.forEach(([label, count], at) => {
    const height = ((HEIGHT - FOOT - HEAD) * count) / most;
    const bar = shape("rect", { x: at * step + step * 0.1, y: HEIGHT - FOOT - height, width: step * 0.8, height });
    bar.append(shape("title", {}, `${label}: ${count}`));
    plot.append(bar);
    if (at % every === 0) {
      const half = String(label).length * LETTER * 0.5;
      const x = Math.min(Math.max(at * step + step / 2, half), WIDTH - half); // below its bar, and fully visible
      if (x - half < end) return; // would overlap the previous label
      end = x + half + LETTER;
      plot.append(shape("text", { x, y: HEIGHT - 4, "text-anchor": "middle" }, String(label)));
    }
  });
  plot.append(shape("text", { x: 0, y: 10 }, `max. ${most.toLocaleString("en")}`));
  return plot;
}
