// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// A button beside each command that copies what is seen.
import { announce } from "./announce";
import { button } from "./elements";

/** The way of older browsers, and of pages that may not use the clipboard: select, then copy. */
function copySelected(code: Element): boolean {
  const selection = window.getSelection();
  if (!selection) return false;
  selection.selectAllChildren(code);
  const done = document.execCommand("copy");
  if (done) selection.removeAllRanges();
  return done;
}

async function copied(code: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(code.textContent ?? "");
    return true;
  } catch {
    return copySelected(code);
  }
}

function addCopyButton(code: Element): void {
  const made = button("Copy", () => void run(), { "aria-label": `Copy: ${(code.textContent ?? "").slice(0, 100)}` });
  const run = async (): Promise<void> => {
    const done = await copied(code);
    made.textContent = done ? "Copied" : "Press Ctrl+C";
    announce(done ? "Copied" : "The command is selected. Press Ctrl+C to copy it.");
    window.setTimeout(() => (made.textContent = "Copy"), 2000);
  };
  made.classList.add("report-copy");
  // In a block the button stands in its corner, and is not selected with the command.
  if (code.parentElement?.matches("pre")) code.before(made);
  else code.after(" ", made);
}

export function addCopyButtons(): void {
  document.querySelectorAll("code[data-copy]").forEach(addCopyButton);
}
