// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// A band of a strip as SVG: one rectangle for each run.
import { isStriped, nodeColour } from "../colours";
import type { Run } from "../data";
import { svg } from "../page/elements";
import { drawable } from "./runs";

/** Units of the picture; it is stretched to the width of the page. */
export const WIDTH = 1200;
const HEIGHT = 40;

function rect(from: number, width: number, attributes: Record<string, string> = {}): SVGRectElement {
  return svg("rect", { x: from.toFixed(2), width: width.toFixed(2), y: "0", height: String(HEIGHT), ...attributes });
}

/** Stripes distinguish node 8 from node 0, which has the same colour; a cross marks what is not known. */
export function patterns(): SVGSVGElement {
  const size = { width: "8", height: "8", patternUnits: "userSpaceOnUse", class: "report-pattern" };
  const stripes = svg("pattern", { id: "report-stripes", ...size }, svg("path", { d: "M0 8L8 0" }));
  const cross = svg("pattern", { id: "report-cross", ...size }, svg("path", { d: "M0 8L8 0M0 0L8 8" }));
  const none = { width: "0", height: "0", class: "report-patterns", "aria-hidden": "true" };
  return svg("svg", none, svg("defs", {}, stripes, cross));
}

function runMarks([first, count, node]: Run, perPage: number): SVGRectElement[] {
  const [from, width] = [first * perPage, Math.max(0.5, count * perPage)];
  const mark = rect(from, width);
  mark.style.setProperty("fill", nodeColour(node));
  const pattern = node < 0 ? "report-cross" : isStriped(node) ? "report-stripes" : undefined;
  return pattern ? [mark, rect(from, width, { fill: `url(#${pattern})` })] : [mark];
}

/** The colour of a node beside its name. */
export function sampleOf(node: number): SVGSVGElement {
  const size = { viewBox: "0 0 16 16", class: "report-sample", "aria-hidden": "true" };
  return svg("svg", size, ...runMarks([0, 1, node], 16));
}

export interface Drawn {
  picture: SVGSVGElement;
  /** Puts a frame around a run. */
  frame(run: Run): void;
}

export function drawBand(runs: Run[], pages: number): Drawn {
  const perPage = WIDTH / Math.max(1, pages);
  const shown = drawable(runs, pages, WIDTH / 2);
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  picture.append(...shown.flatMap((run) => runMarks(run, perPage)));
  const frame = rect(0, 0, { class: "report-frame" });
  picture.append(frame);
  return {
    picture,
    frame([first, count]) {
      const width = Math.max(4, count * perPage);
      frame.setAttribute("x", Math.min(first * perPage, WIDTH - width).toFixed(2));
      frame.setAttribute("width", width.toFixed(2));
    },
  };
}
