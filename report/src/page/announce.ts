// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// One sentence at a time for screen readers, where nothing visible has a live region of its own.
import { element } from "./elements";

let region: HTMLElement | undefined;

/** Adds the region. It must stand in the page before it has its first text, or that is not read. */
export function addAnnouncer(): void {
  region = element("div", { class: "report-hidden", role: "status", "aria-live": "polite" });
  document.body.append(region);
}

export function announce(text: string): void {
  if (region) region.textContent = text;
}
