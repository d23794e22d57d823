// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The licences of the packages that are inside the bundle. Every page contains the bundle, so they must be in it.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** The text of a package's licence, without what would end a comment or a script. */
function licence(folder) {
  const name = existsSync(folder) && readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!name) throw new Error(`${folder} has no licence file. Read its licence, and leave the package out until then.`);
  return readFileSync(join(folder, name), "utf8").replaceAll("\r", "").replaceAll("*/", "* /").trim();
}

/** The notice of every package that esbuild's metafile names. Packages with the same text share one. */
export function notices(metafile, root) {
  const packages = new Map();
  for (const output of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const name = PACKAGE.exec(path)?.[1];
      if (name && bytesInOutput > 0) packages.set(name, join(root, "node_modules", name));
    }
  }
  const byText = new Map();
  for (const [name, folder] of [...packages].sort()) {
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const text = licence(folder);
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`]);
  }
  return [...byText].map(([text, names]) => `${names.join(", ")}:\n\n${text}\n\n`).join("");
}
