// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// On paper nothing can be opened, so everything is open, in light colours; afterwards all is as it was.

interface Part {
  owner: Element;
  prepare: () => void;
  restore: () => void;
}
let parts: Part[] = [];

/** What a part of the page does for print, and to undo it, for as long as `owner` is in the page. */
export function onPrint(owner: Element, prepare: () => void, restore: () => void): void {
  parts = parts.filter((part) => part.owner.isConnected);
  parts.push({ owner, prepare, restore });
}

function openDetails(): HTMLDetailsElement[] {
  const closed = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
  for (const each of closed) each.open = true;
  return closed;
}

/** `finish` does what the page has not done yet. */
export function preparePrint(finish: () => void): void {
  let undo: (() => void) | undefined;
  window.addEventListener("beforeprint", () => {
    if (undo) return;
    const root = document.documentElement;
    const theme = root.dataset["theme"] ?? "auto";
    root.dataset["theme"] = "light";
    finish();
    const opened = openDetails();
    parts.forEach((part) => part.prepare());
    undo = () => {
      root.dataset["theme"] = theme;
      for (const each of opened) each.open = false;
      parts.forEach((part) => part.restore());
    };
  });
  window.addEventListener("afterprint", () => {
    undo?.();
    undo = undefined;
  });
}
