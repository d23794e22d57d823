// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The browser of the system, and a page in it that records what must not happen.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { page as fixture } from "./fixture";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** Screenshots and the page go here, for people to look at. */
export const OUTPUT = resolve(process.env["NODEWISE_REPORT_OUTPUT"] ?? mkdtempSync(join(tmpdir(), "nodewise-report-")));
const BUNDLE = resolve(process.env["NODEWISE_REPORT_BUNDLE"] ?? "build/bundle");

export function startBrowser(): Promise<Browser> {
  const program = process.env["NODEWISE_CHROMIUM"] ?? PLACES.find((place) => existsSync(place));
  assert.ok(program, "No Chromium is installed. Install it, or name it in NODEWISE_CHROMIUM.");
  // Containers often lack the namespaces of its sandbox, and the page comes from this folder only.
  return chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
}

export function writePage(): string {
  mkdirSync(OUTPUT, { recursive: true });
  const file = join(OUTPUT, "report.html");
  writeFileSync(file, fixture(BUNDLE));
  return pathToFileURL(file).href;
}

export interface Opened {
  page: Page;
  /** Fails if the page asked for anything, wrote an error, or ran what a name contains. */
  close(): Promise<void>;
}

export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(message.text());
  });
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url.split("#")[0]) wrong.push(`request: ${request.url().slice(0, 200)}`);
  });
  await page.goto(url);
  await page.waitForSelector("html[data-report=ready]");
  const close = async (): Promise<void> => {
    assert.equal(await page.evaluate(() => "injected" in window), false);
    await context.close();
    assert.deepEqual(wrong, []);
  };
  return { page, close };
}

/** Of axe: what is serious or critical. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync("node_modules/axe-core/axe.min.js", "utf8"));
  return page.evaluate(async () => {
    type Found = { violations: { impact: string; id: string; nodes: { html: string }[] }[] };
    const axe = (window as unknown as { axe: { run(): Promise<Found> } }).axe;
    const { violations } = await axe.run();
    const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    return bad.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
  });
}
