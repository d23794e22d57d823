// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The part of the x axis that is shown: by dragging over the picture, or by buttons.
import { svg } from "../page/elements";

export type Range = [from: number, to: number];

/** The lowest and highest of the values, or nothing if there are fewer than two. */
export function rangeOf(values: Iterable<number>): Range | undefined {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low < high ? [low, high] : undefined;
}

/** A range of `factor` times the length around the same middle, on the axis' own scale, inside `whole`. */
export function scaled(now: Range, whole: Range, factor: number, log: boolean): Range | undefined {
  const [to, back] = log ? [Math.log, Math.exp] : [(v: number) => v, (v: number) => v];
  const [from, end, least, most] = [to(now[0]), to(now[1]), to(whole[0]), to(whole[1])];
  const half = ((end - from) * factor) / 2;
  const middle = (from + end) / 2;
  const next: Range = [Math.max(least, middle - half), Math.min(most, middle + half)];
  return next[0] <= least && next[1] >= most ? undefined : [back(next[0]), back(next[1])];
}

const LEAST_PIXELS = 8;

/** Calls `onRange` with the two places, in the picture's own units, between which a mouse was dragged. */
export function watchDragging(picture: SVGSVGElement, onRange: (from: number, to: number) => void): void {
  const place = (event: PointerEvent): number => {
    const box = picture.getBoundingClientRect();
    return ((event.clientX - box.left) * picture.width.baseVal.value) / (box.width || 1);
  };
  let from: number | undefined;
  const frame = svg("rect", { class: "report-drag", y: "0", height: "100%", width: "0" });
  // Plot stops presses that fix a tooltip, so they are taken before it sees them.
  type Pointing = "pointerdown" | "pointermove" | "pointerup" | "pointercancel";
  const on = (type: Pointing, act: (event: PointerEvent) => void): void =>
    picture.addEventListener(type, act, { capture: true });
  on("pointerdown", (event) => {
    // A finger scrolls the page.
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    from = place(event);
    picture.setPointerCapture(event.pointerId);
    picture.append(frame);
  });
  on("pointermove", (event) => {
    if (from === undefined) return;
    const to = place(event);
    frame.setAttribute("x", String(Math.min(from, to)));
    frame.setAttribute("width", String(Math.abs(to - from)));
  });
  on("pointerup", (event) => {
    const [start, to] = [from, place(event)];
    from = undefined;
    frame.remove();
    if (start !== undefined && Math.abs(to - start) >= LEAST_PIXELS) onRange(Math.min(start, to), Math.max(start, to));
  });
  on("pointercancel", () => {
    from = undefined;
    frame.remove();
  });
}
