/** Starts the language server, and shows what it knows in the side bar and the status bar. */

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { EvidenceView } from "./evidence";
import { findProgram, offerInstallation } from "./program";

const LANGUAGES = ["latex", "tex", "markdown", "quarto", "rmd", "typst"];
const DRAFTS = "**/*.{tex,ltx,latex,md,markdown,qmd,Rmd,rmd,typ}";
const BIBLIOGRAPHIES = "**/*.{bib,bibtex}";

let client: LanguageClient | undefined;

const isDraft = (document: vscode.TextDocument): boolean =>
  vscode.languages.match([{ scheme: "file", pattern: DRAFTS }, ...LANGUAGES.map((language) => ({ scheme: "file", language }))], document) > 0;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("whycite", { log: true });
  const status = vscode.window.createStatusBarItem("whycite", vscode.StatusBarAlignment.Left);
  status.name = "whycite";
  status.command = "whycite.showEvidence";
  const view = new EvidenceView(() => client, isDraft);

  const showStatus = (): void => {
    const document = vscode.window.activeTextEditor?.document;
    if (!document || !isDraft(document)) {
      status.hide();
      return;
    }
    const own = vscode.languages.getDiagnostics(document.uri).filter((diagnostic) => diagnostic.source === "whycite");
    const needing = own.filter((diagnostic) => String(diagnostic.code).startsWith("needs-citation")).length;
    const others = own.length - needing;
    status.text = client?.isRunning() ? `$(quote) ${needing} to cite${others ? `, ${others} to check` : ""}` : "$(quote) whycite is off";
    status.tooltip = client?.isRunning()
      ? `whycite: ${needing} sentences need a citation, ${others} citations should be looked at. Click to see the evidence.`
      : "whycite is not running. See the log: whycite: Show Log.";
    status.show();
  };

  const start = async (): Promise<void> => {
    await client?.dispose();
    client = undefined;
    showStatus();
    let program: string | undefined;
    try {
      program = findProgram();
    } catch (error) {
      await offerInstallation(error instanceof Error ? error.message : String(error));
      return;
    }
    if (!program) {
      await offerInstallation("whycite is not installed, or not on PATH.");
      return;
    }
    log.info(`starting ${program}`);
    const settings = vscode.workspace.getConfiguration("whycite");
    const address = settings.get<string>("server", "").trim();
    const server = { command: program, args: ["lsp", ...(address ? ["--server", address] : [])] };
    client = new LanguageClient("whycite", "whycite", server, {
      documentSelector: [
        { scheme: "file", pattern: DRAFTS },
        { scheme: "file", pattern: BIBLIOGRAPHIES },
      ],
      outputChannel: log,
      initializationOptions: {
        ...(settings.get("library") ? { library: settings.get("library") } : {}),
        debounce: settings.get("debounce"),
        idle: settings.get("idle"),
        code_lens: settings.get("codeLens"),
      },
    });
    try {
      await client.start();
    } catch (error) {
      void vscode.window.showErrorMessage(`whycite did not start: ${error instanceof Error ? error.message : error}`);
    }
    showStatus();
    view.refresh();
  };

  context.subscriptions.push(
    log,
    status,
    vscode.window.registerWebviewViewProvider("whycite.evidence", view),
    vscode.commands.registerCommand("whycite.showEvidence", () => vscode.commands.executeCommand("whycite.evidence.focus")),
    vscode.commands.registerCommand("whycite.restart", start),
    vscode.commands.registerCommand("whycite.showLog", () => log.show()),
    vscode.window.onDidChangeTextEditorSelection(() => view.refresh()),
    vscode.window.onDidChangeActiveTextEditor(() => {
      showStatus();
      view.refresh();
    }),
    vscode.languages.onDidChangeDiagnostics(() => {
      showStatus();
      view.refresh();
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("whycite")) void start();
    }),
  );
  // Not waited for: it may end in a question to the user.
  void start();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
}
