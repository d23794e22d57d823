// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Pages that the command makes of recorded results (tests/data/results), one or more of each kind.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { OUTPUT } from "./browser";

const COMMAND = resolve(process.env["NODEWISE_BIN"] ?? "../build/release/bin/nodewise");
const RECORDED = resolve("../tests/data/results");
const MEASURED = resolve("../bench/results/16-cores/measure_full.json");

export interface ResultPage {
  name: string;
  url: string;
}

function made(name: string, files: string[]): ResultPage {
  const page = join(OUTPUT, `${name}.html`);
  execFileSync(COMMAND, ["report", "--quiet", ...files, "-o", page]);
  return { name, url: pathToFileURL(page).href };
}

export function resultPages(): ResultPage[] {
  mkdirSync(OUTPUT, { recursive: true });
  const files = readdirSync(RECORDED).filter((name) => name.endsWith(".json")).map((name) => join(RECORDED, name));
  const pages = [...files, MEASURED].map((file) => made(basename(file, ".json"), [file]));
  const both = ["profile", "profile_cured"].map((name) => join(RECORDED, `${name}.json`));
  return [...pages, made("two_profiles", both)];
}
