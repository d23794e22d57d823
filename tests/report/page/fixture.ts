// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// A page as `nodewise report` writes it, with everything that its script works on, and with hostile names.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Cell, ChartData, ReportData, Run, StripData } from "report/data";

export const ROWS = 10000;
export const STRIPS = 200;
export const HOSTILE = [
  "</script><script>window.injected = 1</script>",
  '<img src="x" onerror="window.injected = 1">',
  "__proto__",
  "constructor",
  "\u202egnp.exe\u0007\u0000",
  "'\"><svg/onload=window.injected=1>",
  "n".repeat(5000),
];

function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\0": "" };
  return text.replace(/[&<>"\0]/g, (character) => names[character] ?? "");
}

function rows(): Cell[][] {
  return Array.from({ length: ROWS }, (_, at) => [
    { text: HOSTILE[at] ?? `array_${at}`, strip: at < STRIPS ? `strip ${at}` : "missing" },
    `solve_${at % 50}.c:${at % 900}`,
    { text: `${(at * 37) % 1000} MiB`, value: ((at * 37) % 1000) * 2 ** 20 },
    (at * 7919) % 10007,
    at % 10 === 9 ? null : ((at * 31) % 100) / 100,
    HOSTILE[at % 50] ?? `node ${at % 4}`,
  ]);
}

function chart(kind: ChartData["kind"], nodes: number): ChartData {
  const series = Array.from({ length: nodes }, (_, node) => ({
    name: node === nodes - 1 && kind === "points" ? (HOSTILE[0] ?? "") : `node ${node}`,
    points: Array.from({ length: 100 }, (__, at): ChartData["series"][number]["points"][number] => {
      const y = 10 + node * 3 + Math.sin(at / 9 + node) * 2;
      return kind === "lines" ? [at / 10, y, y - 1, y + 1] : [at / 10 + 0.1, y];
    }),
  }));
  const log = kind === "points";
  return { kind, x: { label: "time", unit: "s", log }, y: { label: "bandwidth", unit: "GB/s", log }, series };
}

function strip(at: number): StripData {
  const count = at === 1 ? 20000 : 8;
  const runs = (shift: number): Run[] =>
    Array.from({ length: count }, (_, run): Run => [run * 64, 64, ((run + shift) % 10) - 1]);
  const title = HOSTILE[at] ?? `array_${at} (solve.c:12)`;
  const bands = [{ title: "pages are on", runs: runs(1) }, { title: "used by threads on", runs: runs(2) }];
  return { title, pages: count * 64, page_bytes: 4096, bands };
}

function data(): ReportData {
  const columns: NonNullable<ReportData["tables"]>[string]["columns"] = [
    { title: "array", kind: "text" }, { title: "made at", kind: "code" }, { title: "size", kind: "number" },
    { title: "lines", kind: "number" }, { title: "local", kind: "number" }, { title: "place", kind: "text" },
  ];
  return {
    schema: "nodewise/report-data/1",
    tables: { arrays: { columns, rows: rows() } },
    charts: { lines: chart("lines", 4), areas: chart("areas", 4), points: chart("points", 10) },
    strips: Object.fromEntries(Array.from({ length: STRIPS }, (_, at) => [`strip ${at}`, strip(at)])),
  };
}

function staticTable({ columns, rows: all }: NonNullable<ReportData["tables"]>[string]): string {
  const head = columns.map(({ title }) => `<th scope="col">${escaped(title)}</th>`).join("");
  const text = (cell: Cell): string => (cell !== null && typeof cell === "object" ? cell.text : String(cell));
  const cells = (row: Cell[]): string => row.map((cell) => `<td>${escaped(text(cell))}</td>`).join("");
  const body = all.slice(0, 50).map((row) => `<tr>${cells(row)}</tr>`);
  return `<div class="scroll" tabindex="0" role="region" aria-label="Arrays"><table data-table="arrays">
<thead><tr>${head}</tr></thead>
<tbody>${body.join("")}</tbody></table></div>
<p class="remark">50 of ${ROWS} rows.</p>`;
}

const NUMBERS = `<details><summary>Numbers</summary><table><thead><tr><th>time</th></tr></thead>
<tbody><tr><td>1</td></tr></tbody></table></details>`;

function figures(): string {
  return ["lines", "areas", "points"].map((id) => `<figure><figcaption>Bandwidth as ${id}</figcaption>
<div data-chart="${id}"><svg role="img" aria-label="${id}" width="600" height="300">
<rect width="600" height="300" fill="gray"/></svg></div>
${id === "lines" ? NUMBERS : ""}
</figure>`).join("\n");
}

function smallTable(): string {
  const sizes = ["1.5 GiB", "900 MiB", "unknown", "2 KiB"];
  const body = sizes.map((size, at) => `<tr><td>phase ${at}</td><td>${size}</td></tr>`).join("");
  return `<details id="deep"><summary>Numbers</summary><table id="small"><thead><tr><th scope="col">phase</th>
<th scope="col">size</th></tr></thead><tbody>${body}</tbody></table></details>`;
}

const STYLE = `
:root { --ink: #1b1b1b; --paper: #fff; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --ink: #e8e8e8; --paper: #16181c; } }
:root[data-theme=dark] { --ink: #e8e8e8; --paper: #16181c; }
:root[data-theme=light] { --ink: #1b1b1b; --paper: #fff; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1em; max-width: 70em; }
body { color: var(--ink); background: var(--paper); }
nav a { color: inherit; margin-right: 1em; } figure { margin: 1em 0; } pre { overflow-x: auto; }`;

/** The page, with the bundle of a folder. */
export function page(bundle: string): string {
  const read = (name: string): string => readFileSync(join(bundle, name), "utf8");
  const all = data();
  const json = JSON.stringify(all).replaceAll("<", "\\u003c");
  const hash = read("report.js.sha256").trim();
  const csp = `default-src 'none'; style-src 'unsafe-inline'; script-src '${hash}'; img-src data:`;
  const table = all.tables?.["arrays"];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Report</title>
<meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="${csp}">
<style>${STYLE}</style><style>${read("report.css")}</style></head><body>
<header><h1>Report of solver</h1></header>
<nav aria-label="Sections"><a href="#arrays">Arrays</a><a href="#charts">Charts</a><a href="#plan">Plan</a></nav>
<main><section id="arrays" aria-labelledby="h-arrays"><h2 id="h-arrays">Arrays</h2>
${table ? staticTable(table) : ""}</section>
<section id="charts" aria-labelledby="h-charts"><h2 id="h-charts">Charts</h2>${figures()}</section>
<section id="plan" aria-labelledby="h-plan"><h2 id="h-plan">Plan</h2>
<pre class="command"><code data-copy>nodewise run --plan a.toml -- ./solver '&lt;b&gt;'</code></pre>
${smallTable()}</section></main>
<script type="application/json" id="report-data">${json}</script><script>${read("report.js")}</script></body></html>`;
}
