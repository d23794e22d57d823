// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The page of each kind of result in a browser: readable by all, on a phone too, and without requests or errors.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { open, seriousFindings, startBrowser } from "./browser";
import { resultPages } from "./results";

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

const PHONE = { width: 390, height: 844 };

for (const { name, url } of resultPages()) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`${name}, ${colorScheme}: axe finds nothing serious`, async () => {
      const { page, close } = await open(browser, url, { colorScheme });
      for (const summary of await page.locator("main summary").all()) await summary.click();
      assert.deepEqual(await seriousFindings(page), []);
      await close();
    });
  }

  test(`${name}: the page does not scroll sideways on a phone`, async () => {
    const { page, close } = await open(browser, url, { viewport: PHONE });
    await page.waitForFunction((width) => document.documentElement.scrollWidth <= width, PHONE.width);
    assert.ok((await page.locator("main section").count()) > 0);
    await close();
  });
}
