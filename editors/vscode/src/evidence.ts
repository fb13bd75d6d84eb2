/** The side bar: papers for the sentence at the cursor, with buttons that insert them, and the papers that it cites. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

interface Target {
  file: string;
  start: number;
  key: string;
}

interface Quote {
  text: string;
  source: string;
}

interface Paper {
  key: string;
  title: string;
  byline: string;
  known: boolean;
  match?: string; // not sent by older servers
  quotes: Quote[];
  target: Target;
}

interface Citation {
  key: string;
  title: string;
  byline: string;
  verdict?: string;
  reason?: string;
  target: Target;
}

interface Evidence {
  text: string;
  message: string;
  papers: Paper[];
  citations: Citation[];
}

const PAUSE = 300; // milliseconds that the cursor has to rest
const COMMANDS: Record<string, string> = {
  cite: "whycite.cite",
  verify: "whycite.verify",
  open: "whycite.openPaper",
  heatMap: "whycite.heatMap",
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function button(command: string, title: string, target: Target): string {
  return `<button data-command="${command}" data-target="${escape(JSON.stringify(target))}">${title}</button>`;
}

function paper(item: Paper): string {
  const about = [item.byline, item.match ?? ""].filter(Boolean).map(escape).join(" · ");
  const quotes = item.quotes
    .map((quote) => `<blockquote>${escape(quote.text)}<footer>${escape(quote.source)}</footer></blockquote>`)
    .join("");
  const cite = item.known ? "Cite" : "Cite and add to the bibliography";
  return `<article><h2>${escape(item.title || item.key)}</h2><p class="byline">${about}</p>${quotes}
    ${button("cite", cite, item.target)}</article>`;
}

function citation(item: Citation): string {
  const verdict = item.verdict
    ? `<p><strong class="${item.verdict.replace(" ", "-")}">${escape(item.verdict)}</strong> ${escape(item.reason ?? "")}</p>`
    : "";
  return `<article><h2>${escape(item.title || item.key)}</h2><p class="byline">${escape(item.byline)}</p>${verdict}
    ${button("verify", "Verify", item.target)} ${button("heatMap", "Heat map", item.target)} ${button("open", "Open", item.target)}</article>`;
}

const STYLE = `
  body { padding: 0 12px 12px; line-height: 1.4; }
  .sentence { font-style: italic; }
  h2 { font-size: 1em; margin: 0 0 2px; }
  h3 { font-size: .9em; text-transform: uppercase; letter-spacing: .04em; opacity: .8; margin: 16px 0 4px; }
  article { border-top: 1px solid var(--vscode-widget-border, #8884); padding: 10px 0; }
  .byline, footer { opacity: .8; font-size: .9em; margin: 0 0 6px; }
  blockquote { border-left: 3px solid var(--vscode-textBlockQuote-border, #888); margin: 6px 0; padding: 0 0 0 8px; }
  button { background: var(--vscode-button-background); color: var(--vscode-button-foreground); border: 0;
    border-radius: 2px; padding: 4px 10px; margin: 2px 0; cursor: pointer; font: inherit; }
  button:hover { background: var(--vscode-button-hoverBackground); }
  button:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
  .contradicted, .not-found, .secondary { color: var(--vscode-errorForeground); }`;

const SCRIPT = `
  const host = acquireVsCodeApi();
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) host.postMessage({ command: button.dataset.command, target: JSON.parse(button.dataset.target) });
  });`;

function page(body: string): string {
  const nonce = randomBytes(16).toString("hex");
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}"><style nonce="${nonce}">${STYLE}</style></head>
    <body>${body}<script nonce="${nonce}">${SCRIPT}</script></body></html>`;
}

function show(evidence: Evidence): string {
  const papers = evidence.papers.map(paper).join("") || "<p>No paper at hand matches this sentence.</p>";
  const citations = evidence.citations.map(citation).join("");
  return page(`<p class="sentence">${escape(evidence.text)}</p><p>${escape(evidence.message)}</p>
    ${citations && `<h3>Cited here</h3>${citations}`}<h3>Papers to cite</h3>${papers}`);
}

export class EvidenceView implements vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private timer: NodeJS.Timeout | undefined;
  private question = 0;
  private draft: vscode.TextEditor | undefined;

  constructor(
    private readonly client: () => LanguageClient | undefined,
    private readonly isDraft: (document: vscode.TextDocument) => boolean,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    view.webview.options = { enableScripts: true, localResourceRoots: [] };
    view.webview.onDidReceiveMessage((message: { command: string; target: Target }) => this.execute(message));
    view.onDidChangeVisibility(() => this.refresh());
    view.onDidDispose(() => (this.view = undefined));
    view.webview.html = page("<p>Put the cursor into a sentence of a draft.</p>");
    this.refresh();
  }

  /** Ask about the sentence at the cursor once it rests. */
  refresh(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), PAUSE);
  }

  private async ask(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor && this.isDraft(editor.document)) this.draft = editor;
    const client = this.client();
    if (!this.view?.visible || !this.draft || !client?.isRunning()) return;
    const question = ++this.question;
    const { document, selection } = this.draft;
    try {
      const evidence = await client.sendRequest<Evidence | null>("whycite/evidence", {
        textDocument: { uri: client.code2ProtocolConverter.asUri(document.uri) },
        position: client.code2ProtocolConverter.asPosition(selection.active),
      });
      if (question === this.question && this.view && evidence) this.view.webview.html = show(evidence);
    } catch (error) {
      client.warn(`no evidence: ${error}`);
    }
  }

  private async execute({ command, target }: { command: string; target: Target }): Promise<void> {
    const client = this.client();
    if (!client || !(command in COMMANDS)) return;
    try {
      const answer = await client.sendRequest<unknown>("workspace/executeCommand", {
        command: COMMANDS[command],
        arguments: [target],
      });
      if (command === "heatMap") showHeatMap(answer as { title: string; html: string });
      this.refresh();
    } catch (error) {
      void vscode.window.showErrorMessage(`whycite: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/** The heat map brings its own scripts and the policy that allows nothing else. */
function showHeatMap({ title, html }: { title: string; html: string }): void {
  const options = { enableScripts: true, localResourceRoots: [] };
  const panel = vscode.window.createWebviewPanel("whycite.heatMap", title, vscode.ViewColumn.Beside, options);
  panel.webview.html = html;
}
