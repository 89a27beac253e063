// The package has what an editor asks for, and its code can be loaded.
import assert from "node:assert";
import { readFile } from "node:fs/promises";
import Module, { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const resolve = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  return name === "vscode" ? require.resolve("./test-vscode.cjs") : resolve.call(this, name, ...rest);
};
const manifest = JSON.parse(await readFile("package.json", "utf8"));
for (const grammar of manifest.contributes.grammars) JSON.parse(await readFile(grammar.path, "utf8"));
for (const language of manifest.contributes.languages) JSON.parse(await readFile(language.configuration, "utf8"));
const extension = require("./out/extension.js");
assert.equal(typeof extension.activate, "function");
assert.equal(typeof extension.deactivate, "function");
console.log("passed");
