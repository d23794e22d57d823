// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// A band of a strip that one walks along with the arrow keys; each run is read out.
import type { Band, StripData } from "../data";
import { element } from "../page/elements";
import { drawBand } from "./picture";
import { described, runAt } from "./runs";

export interface BandView {
  part: HTMLElement;
  /** Goes to the run that has a page, and takes the keys. */
  focusAt(page: number): void;
}

const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowRight: (at, last) => Math.min(last, at + 1),
  ArrowLeft: (at) => Math.max(0, at - 1),
  PageDown: (at, last) => Math.min(last, at + 10),
  PageUp: (at) => Math.max(0, at - 10),
  Home: () => 0,
  End: (_, last) => last,
};

/** `say` gets the run in words; `onOther` the page from which one goes to the band above (-1) or below (1). */
export function bandView(
  { title, runs }: Band,
  strip: StripData,
  say: (text: string) => void,
  onOther: (step: -1 | 1, page: number) => void,
): BandView {
  const { picture, frame } = drawBand(runs, strip.pages);
  const keys = { class: "report-band", role: "application", tabindex: "0", "aria-label": title };
  const walked = element("div", keys, picture);
  const note = runs.length === 0 ? [element("p", {}, "No page is known here.")] : [];
  const part = element("div", {}, element("h3", {}, title), walked, ...note);
  let at = 0;
  const go = (next: number): void => {
    const run = runs[next];
    if (!run) return;
    at = next;
    frame(run);
    say(`${title}: ${described(run, strip.page_bytes)}`);
  };
  walked.addEventListener("focus", () => go(at));
  walked.addEventListener("click", (event) => {
    const box = walked.getBoundingClientRect();
    go(runAt(runs, ((event.clientX - box.left) / (box.width || 1)) * strip.pages));
  });
  walked.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = STEPS[event.key];
    const other = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : undefined;
    if (!step && other === undefined) return;
    event.preventDefault();
    if (step) go(step(at, runs.length - 1));
    else if (other !== undefined) onOther(other, runs[at]?.[0] ?? 0);
  });
  return {
    part,
    focusAt(page) {
      at = runAt(runs, page);
      walked.focus();
    },
  };
}
