// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The page in a browser: what a reader does with it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { open, seriousFindings, startBrowser, writePage } from "./browser";
import { HOSTILE } from "./fixture";

let browser: Browser;
let url: string;

before(async () => {
  browser = await startBrowser();
  url = writePage();
});
after(() => browser.close());

/** A test with a page of its own, which must stay without errors, requests and injected scripts. */
function onPage(name: string, check: (page: Page) => Promise<void>, at = ""): void {
  test(name, async () => {
    const { page, close } = await open(browser, url + at);
    await check(page);
    await close();
  });
}

const BIG = "table[data-table=arrays]";

async function column(page: Page, at: number, count: number): Promise<string[]> {
  const cells = page.locator(`${BIG} tbody tr:not(.report-space) td:nth-child(${at})`);
  return (await cells.allTextContents()).slice(0, count);
}

onPage("a header sorts, and the third press gives back the first order", async (page) => {
  const first = await column(page, 4, 3);
  const header = page.locator(`${BIG} th:nth-child(4)`);
  await header.getByRole("button").click();
  assert.equal(await header.getAttribute("aria-sort"), "descending");
  assert.deepEqual(await column(page, 4, 2), ["10\u202f006", "10\u202f005"]);
  await header.getByRole("button").press("Enter");
  assert.equal(await header.getAttribute("aria-sort"), "ascending");
  assert.deepEqual(await column(page, 4, 2), ["0", "1"]);
  await header.getByRole("button").click();
  assert.equal(await header.getAttribute("aria-sort"), null);
  assert.deepEqual(await column(page, 4, 3), first);
});

onPage("a size sorts by its bytes, and unknown figures come last", async (page) => {
  await page.locator(`${BIG} th:nth-child(3) button`).click();
  assert.deepEqual(await column(page, 3, 1), ["999 MiB"]);
  await page.locator(`${BIG} th:nth-child(5) button`).click();
  assert.deepEqual(await column(page, 5, 1), ["0.98"]);
  await page.locator(".report-view").first().evaluate((view) => (view.scrollTop = view.scrollHeight));
  await page.waitForFunction(() => document.querySelector("table[data-table] tr[aria-rowindex='10001']"));
  assert.equal((await column(page, 5, 1000)).at(-1), "unknown");
});

onPage("a search counts what it finds", async (page) => {
  const count = page.locator(".report-count").first();
  assert.equal(await count.textContent(), "10\u202f000 rows");
  assert.equal(await page.locator("p.remark").count(), 0);
  await page.getByLabel("Search").first().fill("array_1234");
  assert.equal(await count.textContent(), "1 of 10\u202f000 rows");
  assert.deepEqual(await column(page, 1, 5), ["array_1234"]);
  await page.getByLabel("Search").first().fill("<img src");
  assert.match((await count.textContent()) ?? "", /of 10/);
  await page.getByLabel("Search").first().fill("nothing has this name");
  assert.equal(await count.textContent(), "0 of 10\u202f000 rows");
  assert.deepEqual(await column(page, 1, 5), []);
});

onPage("of ten thousand rows only those near the view are in the page", async (page) => {
  const view = page.locator(".report-view").first();
  for (const [share, row] of [[0, 2], [0.5, 5002], [1, 10001]] as const) {
    await view.evaluate((each, part) => (each.scrollTop = each.scrollHeight * part), share);
    await page.locator(`${BIG} tr[aria-rowindex="${row}"]`).waitFor();
    assert.ok((await page.locator(`${BIG} tbody tr`).count()) < 100);
  }
  assert.equal((await column(page, 1, 1000)).at(-1), "array_9999");
});

onPage("a strip opens on demand, and is read run by run with the keyboard", async (page) => {
  assert.equal(await page.locator("dialog").count(), 0);
  const opener = page.locator(`${BIG} tbody .report-open`).nth(10);
  await opener.press("Enter");
  const said = page.locator(".report-said");
  assert.match((await said.textContent()) ?? "", /^pages are on: pages 0 to 63 \(64 pages, 256 KiB\): node 0$/);
  await page.keyboard.press("ArrowRight");
  assert.match((await said.textContent()) ?? "", /pages 64 to 127 .*: node 1$/);
  await page.keyboard.press("ArrowDown");
  assert.match((await said.textContent()) ?? "", /^used by threads on: pages 64 to 127 .*: node 2$/);
  await page.keyboard.press("End");
  assert.match((await said.textContent()) ?? "", /pages 448 to 511 .*: node 8$/);
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.ok(await opener.evaluate((button) => button === document.activeElement));
});

onPage("a strip of twenty thousand runs opens, and has all of them in its table", async (page) => {
  await page.locator(`${BIG} tbody .report-open`).nth(1).click();
  assert.ok((await page.locator("dialog rect").count()) < 6000);
  await page.locator("dialog summary").click();
  assert.equal(await page.locator("dialog .report-count").textContent(), "40\u202f000 rows");
});

onPage("names from programs stay text", async (page) => {
  assert.deepEqual(await column(page, 1, 4), HOSTILE.slice(0, 4));
  for (const at of [0, 1, 5]) {
    await page.locator(`${BIG} tbody .report-open`).nth(at).click();
    assert.equal(await page.locator("dialog h2").textContent(), HOSTILE[at]);
    await page.getByRole("button", { name: "Close" }).click();
  }
  assert.ok((await page.locator(".report-key").allTextContents()).includes(HOSTILE[0] ?? ""));
});

onPage("a row whose strip is missing has no button", async (page) => {
  await page.getByLabel("Search").first().fill("array_9000");
  assert.equal(await page.locator(`${BIG} tbody .report-open`).count(), 0);
});

onPage("charts have tooltips, a legend that hides series, and a table", async (page) => {
  const chart = page.locator("[data-chart=lines]");
  await chart.scrollIntoViewIfNeeded();
  const picture = chart.locator(".report-plot svg").first();
  const lines = await picture.locator("[aria-label=line] path").count();
  await chart.getByRole("button", { name: "node 1" }).click();
  assert.equal(await chart.getByRole("button", { name: "node 1" }).getAttribute("aria-pressed"), "false");
  assert.equal(await picture.locator("[aria-label=line] path").count(), lines - 1);
  await picture.hover({ position: { x: 300, y: 100 } });
  assert.match((await picture.locator("[aria-label=tip]").textContent()) ?? "", /time: .* s/);
  const made = page.locator("figure:has([data-chart=points])");
  await made.locator("summary").click();
  assert.equal(await made.locator(".report-count").textContent(), "1\u202f000 rows");
  assert.equal(await page.locator("figure:has([data-chart=lines]) details").count(), 1);
});

onPage("a part of a chart is shown larger by dragging or by buttons", async (page) => {
  const chart = page.locator("[data-chart=areas]");
  const ticks = (): Promise<string[]> => chart.locator("[aria-label='x-axis tick label'] text").allTextContents();
  await chart.scrollIntoViewIfNeeded();
  const all = await ticks();
  const box = await chart.locator(".report-plot svg").first().boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + 200, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 100);
  await page.mouse.up();
  assert.notDeepEqual(await ticks(), all);
  await chart.getByRole("button", { name: "Whole range" }).click();
  assert.deepEqual(await ticks(), all);
  await chart.getByRole("button", { name: "Zoom in" }).press("Enter");
  assert.notDeepEqual(await ticks(), all);
  await chart.getByRole("button", { name: "Zoom out" }).press("Enter");
  assert.deepEqual(await ticks(), all);
});

onPage("the theme is switched and remembered", async (page) => {
  const back = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.getByLabel("dark").check();
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  assert.equal(await back(), "rgb(22, 24, 28)");
  await page.reload();
  await page.waitForSelector("html[data-report=ready]");
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  await page.getByLabel("dark").press("ArrowLeft");
  assert.equal(await back(), "rgb(255, 255, 255)");
});

test("the page works without storage", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  await page.addInitScript(() => {
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new Error("refused");
      },
    });
  });
  await page.goto(url);
  await page.waitForSelector("html[data-report=ready]");
  await page.getByLabel("dark").check();
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  assert.deepEqual(wrong, []);
  await context.close();
});

onPage("a command is copied as it is seen", async (page) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: /^Copy/ }).click();
  await page.getByText("Copied").first().waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, "nodewise run --plan a.toml -- ./solver '<b>'");
});

onPage("an address opens the closed part that it points into", async (page) => {
  assert.ok(await page.locator("#small").isVisible());
  assert.equal(await page.locator("#plan .report-anchor").getAttribute("href"), "#plan");
}, "#small");

onPage("a small table sorts its own rows", async (page) => {
  await page.locator("#deep summary").click();
  await page.locator("#small th:nth-child(2) button").click();
  const cells = await page.locator("#small td:nth-child(2)").allTextContents();
  assert.deepEqual(cells, ["1.5 GiB", "900 MiB", "2 KiB", "unknown"]);
});

onPage("on paper everything is open and light, and afterwards as before", async (page) => {
  await page.getByLabel("dark").check();
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator("html").getAttribute("data-theme"), "light");
  assert.equal(await page.locator("details:not([open])").count(), 0);
  assert.equal(await page.locator(`${BIG} tbody tr:not(.report-space)`).count(), 200);
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  assert.equal(await page.locator("details[open]").count(), 0);
});

onPage("on a phone the page itself does not scroll sideways", async (page) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForFunction(() => document.documentElement.scrollWidth <= 390);
});

for (const theme of ["light", "dark"]) {
  onPage(`axe finds nothing serious: ${theme}`, async (page) => {
    await page.getByLabel(theme).check();
    for (const summary of await page.locator("main summary").all()) await summary.click();
    assert.deepEqual(await seriousFindings(page), []);
    await page.locator(`${BIG} tbody .report-open`).nth(10).click();
    await page.locator("dialog summary").click();
    assert.deepEqual(await seriousFindings(page), []);
  });
}
