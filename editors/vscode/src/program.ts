/** Finds the program `whycite`: the setting, then a virtual environment of the workspace, then PATH. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { homedir } from "node:os";
import * as vscode from "vscode";

const INSTALL = ["pipx install 'whycite[lsp]'", "uv tool install 'whycite[lsp]'"];
const VENVS = [".venv", "venv"];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The path of the program, or undefined if it is nowhere; throws if the setting names none. */
export function findProgram(): string | undefined {
  const windows = process.platform === "win32";
  const name = windows ? "whycite.exe" : "whycite";
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  const setting = vscode.workspace.getConfiguration("whycite").get<string>("path", "").trim();
  if (setting) {
    const expanded = setting.replace(/^~(?=[/\\])/, homedir());
    const places = isAbsolute(expanded) ? [expanded] : folders.map((folder) => join(folder, expanded));
    const program = places.find(isProgram);
    if (!program) throw new Error(`The setting whycite.path names no program: ${setting}`);
    return program;
  }
  const inVenvs = folders.flatMap((folder) => VENVS.map((venv) => join(folder, venv, windows ? "Scripts" : "bin", name)));
  const onPath = (process.env.PATH ?? "").split(delimiter).filter(Boolean).map((folder) => join(folder, name));
  return [...inVenvs, ...onPath].find(isProgram);
}

/** Offers ways to install the program, or the setting that names it. */
export async function offerInstallation(message: string): Promise<void> {
  const settings = "Open Settings";
  const answer = await vscode.window.showErrorMessage(message, ...INSTALL, settings);
  if (answer === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "whycite.path");
  } else if (answer) {
    const terminal = vscode.window.createTerminal("whycite");
    terminal.show();
    terminal.sendText(answer, true);
    const done = await vscode.window.showInformationMessage("When the installation has finished, start whycite.", "Start");
    if (done) await vscode.commands.executeCommand("whycite.restart");
  }
}
