// A PDF as it looks, with a passage boxed on its page.

import { here, make } from "./common.js";
import { findQuote } from "./quotes.js";

const LIBRARY = new URL("pdfjs/", import.meta.url).pathname;
const MAX_PIXELS = 16e6; // of one page: more makes phones run out of memory
const MARGIN = 16; // pixels beside a passage
let loading = null;

function load() {
  loading ??= import(`${LIBRARY}pdf.min.mjs`).then(
    (pdfjs) => {
      pdfjs.GlobalWorkerOptions.workerSrc = `${LIBRARY}pdf.worker.min.mjs`;
      return pdfjs;
    },
    () => {
      loading = null; // the next one may be luckier
      throw new Error("the viewer for PDFs could not be loaded from this server");
    },
  );
  return loading;
}

// Opens a PDF: the address of a file on this server, or a file that the user chose.
async function open(source) {
  const pdfjs = await load();
  const given = typeof source === "string" ? { url: here(source) } : { data: new Uint8Array(await source.arrayBuffer()) };
  const task = pdfjs.getDocument({ ...given, wasmUrl: LIBRARY, useWasm: false, verbosity: pdfjs.VerbosityLevel.ERRORS });
  return { pdfjs, pdf: await task.promise, close: () => task.destroy() };
}

// Shows a PDF in an element; `passages` have a text and, if known, a page. Returns which of them were found.
export async function showPdf(place, source, passages) {
  const opened = await open(source);
  return new PdfView(place, opened).show(passages);
}

class PdfView {
  constructor(place, { pdfjs, pdf, close }) {
    [this.pdfjs, this.pdf, this.close] = [pdfjs, pdf, close];
    this.texts = new Map(); // the pieces of text of each page
    this.parts = new Map(); // what to box on each page
    this.pages = make("div", { class: "pages", tabindex: "0", role: "region", "aria-label": "The paper; scroll to read on" });
    this.state = make("p", { class: "pdf-place dim", role: "status" });
    place.replaceChildren(this.state, this.pages);
  }

  async show(passages) {
    const found = await Promise.all(passages.map((passage, rank) => this.find(passage, rank)));
    const first = await this.pdf.getPage(1);
    const { width, height } = first.getViewport({ scale: 1 });
    const sheets = Array.from({ length: this.pdf.numPages }, (_, at) => {
      const sheet = make("div", { class: "sheet", "data-page": at + 1 });
      sheet.style.aspectRatio = `${width} / ${height}`;
      return sheet;
    });
    this.pages.replaceChildren(...sheets);
    const leading = found.find((pages) => pages.length)?.[0] ?? 1;
    this.pages.scrollTop = sheets[leading - 1].offsetTop;
    await this.draw(sheets[leading - 1]);
    const box = sheets[leading - 1].querySelector(".box");
    if (box) this.bringIntoSight(box);
    this.watch(sheets);
    return found.map((pages) => pages.length > 0);
  }

  bringIntoSight(box) {
    const [place, view] = [box.getBoundingClientRect(), this.pages.getBoundingClientRect()];
    this.pages.scrollTop += place.top - view.top - view.height / 3;
    if (place.right > view.right) this.pages.scrollLeft += Math.min(place.left - view.left - MARGIN, place.right - view.right + MARGIN);
  }

  // The pages on which a passage is; none if less than half of it can be matched.
  async find({ text, page }, rank) {
    const near = page ? [page, page - 1].filter((number) => number >= 1 && number <= this.pdf.numPages) : Array.from({ length: this.pdf.numPages }, (_, at) => at + 1);
    let best = { share: 0, parts: [] };
    for (const number of near) {
      const [here, next] = [await this.pieces(number), number < this.pdf.numPages ? await this.pieces(number + 1) : []];
      const alone = findQuote(text, here);
      // A sentence may go on overleaf.
      const match = alone.share < 0.95 && next.length ? findQuote(text, [...here, ...next]) : alone;
      if (match.share <= best.share) continue;
      best = { share: match.share, parts: match.parts.map(([piece, start, end]) => (piece < here.length ? [number, piece, start, end] : [number + 1, piece - here.length, start, end])) };
      if (best.share > 0.95) break;
    }
    for (const [number, ...part] of best.parts) this.parts.set(number, [...(this.parts.get(number) || []), [rank, ...part]]);
    return [...new Set(best.parts.map(([number]) => number))];
  }

  async content(number) {
    if (!this.texts.has(number)) this.texts.set(number, this.pdf.getPage(number).then((page) => page.getTextContent()));
    return this.texts.get(number);
  }

  async pieces(number) {
    return (await this.content(number)).items.filter((item) => item.str !== undefined).map((item) => item.str);
  }

  // Pages are drawn when they come into sight, and again when their width changes.
  watch(sheets) {
    const near = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => isIntersecting && this.draw(target)), { root: this.pages, rootMargin: "50%" });
    const seen = new IntersectionObserver(() => this.tell(sheets), { root: this.pages, threshold: [0, 0.5, 1] });
    for (const sheet of sheets) [near, seen].forEach((observer) => observer.observe(sheet));
    let timer = 0;
    let share = this.pages.scrollTop / this.pages.scrollHeight; // of the paper that is above, kept when its size changes
    this.pages.addEventListener("scroll", () => {
      share = this.pages.scrollTop / this.pages.scrollHeight;
    });
    new ResizeObserver(() => {
      this.pages.scrollTop = share * this.pages.scrollHeight;
      clearTimeout(timer);
      timer = setTimeout(() => sheets.filter((sheet) => sheet.dataset.width).forEach((sheet) => this.draw(sheet)), 150);
    }).observe(this.pages);
    this.tell(sheets);
  }

  tell(sheets) {
    const middle = this.pages.scrollTop + this.pages.clientHeight / 2;
    const now = sheets.findLast((sheet) => sheet.offsetTop <= middle) ?? sheets[0];
    this.state.textContent = `Page ${now.dataset.page} of ${sheets.length}`;
  }

  async draw(sheet) {
    const width = sheet.clientWidth;
    if (!width || sheet.dataset.width === String(width)) return;
    sheet.dataset.width = width;
    const number = Number(sheet.dataset.page);
    const page = await this.pdf.getPage(number);
    const plain = page.getViewport({ scale: 1 });
    const scale = width / plain.width;
    const sharp = Math.min(window.devicePixelRatio || 1, Math.sqrt(MAX_PIXELS / (width * scale * plain.height)));
    const viewport = page.getViewport({ scale });
    const canvas = make("canvas", { role: "img", "aria-label": `Page ${number}` });
    [canvas.width, canvas.height] = [Math.floor(viewport.width * sharp), Math.floor(viewport.height * sharp)];
    const words = make("div", { class: "words" });
    const boxes = make("div", { class: "boxes" });
    sheet.style.aspectRatio = `${plain.width} / ${plain.height}`;
    sheet.style.setProperty("--total-scale-factor", scale);
    await page.render({ canvas, viewport, transform: sharp === 1 ? null : [sharp, 0, 0, sharp, 0, 0] }).promise;
    const layer = new this.pdfjs.TextLayer({ textContentSource: await this.content(number), container: words, viewport });
    await layer.render();
    if (sheet.dataset.width !== String(width)) return; // another width was asked for meanwhile
    sheet.replaceChildren(canvas, words, boxes);
    boxes.replaceChildren(...this.boxed(number, layer.textDivs, sheet));
    page.cleanup();
  }

  // One box for each line of a passage.
  boxed(number, elements, sheet) {
    const lines = [];
    const origin = sheet.getBoundingClientRect();
    for (const [rank, piece, start, end] of this.parts.get(number) || []) {
      const text = elements[piece]?.firstChild;
      if (!text) continue;
      const range = document.createRange();
      range.setStart(text, Math.min(start, text.length));
      range.setEnd(text, Math.min(end, text.length));
      const { left, right, top, bottom } = range.getBoundingClientRect();
      const last = lines.at(-1);
      const sameLine = last && last.rank === rank && Math.min(bottom, last.bottom) - Math.max(top, last.top) > (bottom - top) / 2 && left > last.left;
      if (sameLine) Object.assign(last, { right: Math.max(right, last.right), top: Math.min(top, last.top), bottom: Math.max(bottom, last.bottom) });
      else lines.push({ rank, left, right, top, bottom });
    }
    return lines.map(({ rank, left, right, top, bottom }) => {
      const box = make("div", { class: "box", "data-passage": rank });
      box.style.left = `${(100 * (left - origin.left)) / origin.width}%`;
      box.style.top = `${(100 * (top - origin.top)) / origin.height}%`;
      box.style.width = `${(100 * (right - left)) / origin.width}%`;
      box.style.height = `${(100 * (bottom - top)) / origin.height}%`;
      return box;
    });
  }
}
