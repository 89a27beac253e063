// Puts the extension and what it needs into one file, and the grammar beside it.
import { build } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";

await mkdir("out", { recursive: true });
await build({
  entryPoints: ["extension.js"],
  outfile: "out/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: true,
  legalComments: "eof",
});
await copyFile("../aw.tmLanguage.json", "out/aw.tmLanguage.json");
await copyFile("../../LICENSE-MIT", "LICENSE.txt");
