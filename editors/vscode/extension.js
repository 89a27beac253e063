// Starts `allways lsp` for programs in the .aw language and other notations, and shows reports.
"use strict";
const { execFile } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;
let folder;

const program = () => vscode.workspace.getConfiguration("allways").get("path") || "allways";

// Checks the program in the editor, as it was saved, and opens the page.
async function report() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !(await editor.document.save())) return;
  folder = folder || fs.mkdtempSync(path.join(os.tmpdir(), "allways-"));
  const page = path.join(folder, "report.html");
  fs.rmSync(page, { force: true });
  const options = { location: vscode.ProgressLocation.Notification, title: "Checking …", cancellable: true };
  await vscode.window.withProgress(options, (_, token) => new Promise((resolve) => {
    const running = execFile(program(), ["check", "--timeout", "5m", "--html", page, "--", editor.document.fileName], (error, out, complaints) => {
      if (fs.existsSync(page)) vscode.env.openExternal(vscode.Uri.file(page));
      else if (!token.isCancellationRequested) vscode.window.showErrorMessage(complaints || String(error));
      resolve();
    });
    token.onCancellationRequested(() => running.kill());
  }));
}

async function activate(context) {
  context.subscriptions.push(vscode.commands.registerCommand("allways.report", report));
  const server = { command: program(), args: ["lsp"] };
  const documentSelector = [{ language: "aw" }, { scheme: "file", pattern: "**/*.{bp,pds,spec,tts}" }];
  // Other tools look at C programs, too: who wants this one says so.
  if (vscode.workspace.getConfiguration("allways").get("c")) documentSelector.push({ scheme: "file", language: "c" });
  client = new LanguageClient("allways", "Allways", server, { documentSelector });
  try {
    await client.start();
  } catch (failure) {
    vscode.window.showErrorMessage(`${program()} cannot be started (${failure.message}); the setting allways.path says where it is.`);
  }
}

async function deactivate() {
  if (folder) fs.rmSync(folder, { recursive: true, force: true });
  if (client) await client.stop();
}

module.exports = { activate, deactivate };
