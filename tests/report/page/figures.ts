// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Figures and screenshots for people: how soon the page answers, and how long its frames are while one scrolls.
// They depend on the machine, so nothing here is asserted. See CONTRIBUTING.md.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { open, OUTPUT, startBrowser, writePage } from "./browser";

const BIG = "table[data-table=arrays]";

/** Lengths of frames in ms, while something happens in each frame. */
function frames(page: Page, act: string): Promise<number[]> {
  return page.evaluate(`new Promise((done) => {
    const lengths = []; let last; let frame = 0;
    const view = document.querySelector(".report-view"), search = document.querySelector("input[type=search]");
    const step = (now) => {
      if (last !== undefined) lengths.push(now - last);
      last = now;
      if (frame === 120) return done(lengths);
      (${act})(frame++, view, search);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
}

function report(what: string, lengths: number[]): void {
  const ordered = [...lengths].sort((a, b) => a - b);
  const [middle = 0, longest = 0] = [ordered[ordered.length >> 1], ordered.at(-1)];
  console.log(`${what}: ${lengths.length} times, median ${middle.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`);
}

/** Time of the script and of the layout for a step of scrolling, in ms: a busy machine changes it less than frames. */
function steps(page: Page): Promise<number[]> {
  return page.evaluate(`(() => {
    const view = document.querySelector(".report-view"), lengths = [];
    for (let at = 0; at < 120; at += 1) {
      const from = performance.now();
      view.scrollTop = (view.scrollHeight / 120) * at;
      view.dispatchEvent(new Event("scroll"));
      document.body.offsetHeight;
      lengths.push(performance.now() - from);
    }
    return lengths;
  })()`);
}

async function pressed(page: Page, column: number): Promise<number> {
  return page.evaluate(`(() => {
    const button = document.querySelector("${BIG} th:nth-child(${column}) button"), from = performance.now();
    button.click(); document.body.offsetHeight; return performance.now() - from;
  })()`);
}

const browser = await startBrowser();
const url = writePage();
for (const time of [1, 2, 3]) {
  const { page, close } = await open(browser, url);
  const ready = await page.evaluate("performance.now()");
  const parsed = await page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd");
  const [first, all] = [Math.round(Number(parsed)), Math.round(Number(ready))];
  console.log(`opened ${time}: parsed after ${first} ms, all parts ready before ${all} ms`);
  report("  scrolling fast", await frames(page, "(at, view) => { view.scrollTop = (view.scrollHeight / 120) * at; }"));
  report("  scrolling by lines", await frames(page, "(at, view) => { view.scrollTop = at * 40; }"));
  report("  work of fast scrolling", await steps(page));
  report("  typing", await frames(page, `(at, view, search) => { if (at % 10 === 0) {
    search.value = "array_1234".slice(0, at / 10); search.dispatchEvent(new Event("input")); } }`));
  await page.evaluate("document.querySelector('input[type=search]').value = ''");
  for (const column of [1, 4]) {
    console.log(`  sorting by column ${column}: ${(await pressed(page, column)).toFixed(1)} ms`);
  }
  await close();
}

const shots = [
  { name: "light", options: { colorScheme: "light" } },
  { name: "dark", options: { colorScheme: "dark" } },
  { name: "phone", options: { colorScheme: "light", viewport: { width: 390, height: 844 } } },
] as const;
for (const { name, options } of shots) {
  const { page, close } = await open(browser, url, options);
  await page.screenshot({ path: join(OUTPUT, `${name}.png`), fullPage: true });
  await page.locator(`${BIG} tbody .report-open`).nth(10).click();
  await page.keyboard.press("ArrowRight");
  await page.screenshot({ path: join(OUTPUT, `${name}-strip.png`) });
  await close();
}
const { page, close } = await open(browser, url, { colorScheme: "dark" });
await page.pdf({ path: join(OUTPUT, "print.pdf"), printBackground: true });
await close();
await browser.close();
console.log(`screenshots: ${OUTPUT}`);
