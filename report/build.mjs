// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Builds what the page of `nodewise report` needs, or its tests:
//
//   node build.mjs bundle [FOLDER]   report.js, report.css and report.js.sha256 (default: build/bundle)
//   node build.mjs unit-tests        tests/report/unit as programs for Node, in build/unit
//   node build.mjs page-test         tests/report/page likewise, in build/page
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { notices } from "./notices.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const ours = "Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0";

/** A script inside a page ends where an HTML parser says so, and a carriage return would change its hash. */
function checkScript(text) {
  for (const part of ["</script", "<!--", "\r"]) {
    if (text.toLowerCase().includes(part)) {
      throw new Error(`report.js contains ${JSON.stringify(part)}, so it cannot stand in a page. Change the source.`);
    }
  }
}

async function bundle(folder) {
  const options = { bundle: true, minify: true, write: false, legalComments: "none", absWorkingDir: here };
  const script = await build({
    ...options,
    entryPoints: ["src/main.ts"],
    outfile: "report.js",
    format: "iife",
    target: "es2022",
    metafile: true,
  });
  const style = await build({ ...options, entryPoints: ["css/report.css"], outfile: "report.css" });
  const banner = `/*!\n${ours}\n\n${notices(script.metafile, here)}*/\n`;
  const text = banner + script.outputFiles[0].text.trimEnd();
  checkScript(text);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "report.js"), text);
  writeFileSync(join(folder, "report.css"), `/*! ${ours} */\n${style.outputFiles[0].text}`);
  const hash = createHash("sha256").update(text).digest("base64");
  writeFileSync(join(folder, "report.js.sha256"), `sha256-${hash}\n`);
  console.log(`report.js: ${Math.ceil(Buffer.byteLength(text) / 1000)} kB in ${folder}`);
}

async function tests(kind) {
  const from = resolve(here, "../tests/report", kind);
  const to = join(here, "build", kind);
  rmSync(to, { recursive: true, force: true });
  const starts = readdirSync(from).filter((name) => /^figures\.ts$|\.test\.ts$/.test(name));
  await build({
    entryPoints: starts.map((name) => join(from, name)),
    outdir: to,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    alias: { report: join(here, "src") },
    // Node finds it from the build folder, which is below the folder of packages.
    external: ["playwright-core"],
    nodePaths: [join(here, "node_modules")],
  });
}

const [what, folder] = process.argv.slice(2);
if (what === "bundle") await bundle(resolve(folder ?? join(here, "build/bundle")));
else if (what === "unit-tests") await tests("unit");
else if (what === "page-test") await tests("page");
else {
  console.error(`build.mjs: '${what}' is not one of bundle, unit-tests, page-test`);
  process.exitCode = 2;
}
