// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The names of the series with their colours, as buttons that hide and show them.
import { seriesColour, seriesMark, type SeriesMark } from "../colours";
import type { ChartData, Series } from "../data";
import { element, svg } from "../page/elements";

type Kind = ChartData["kind"];

const SHAPES: Record<SeriesMark["symbol"], string> = {
  circle: "M7 6a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
  square: "M7 1h10v10h-10z",
  triangle: "M12 1l6 10h-12z",
  diamond: "M12 0l6 6l-6 6l-6 -6z",
};

function sample(name: string, index: number, kind: Kind): SVGSVGElement {
  const colour = seriesColour(name, index);
  const { dashes, symbol } = seriesMark(name, index);
  const isLine = kind === "lines";
  const mark = isLine
    ? svg("line", { x1: "0", x2: "24", y1: "6", y2: "6", "stroke-width": "3", "stroke-dasharray": dashes })
    : svg("path", { d: SHAPES[kind === "points" ? symbol : "square"] });
  mark.style.setProperty(isLine ? "stroke" : "fill", colour);
  return svg("svg", { width: "24", height: "12", "aria-hidden": "true" }, mark);
}

/** `onChange` gets the places of the hidden series; one always stays. */
export function legend(series: Series[], kind: Kind, onChange: (hidden: ReadonlySet<number>) => void): HTMLElement {
  const hidden = new Set<number>();
  const buttons = series.map(({ name }, index) => {
    const made = element("button", { type: "button", class: "report-key", "aria-pressed": "true" });
    made.append(sample(name, index, kind), name);
    made.addEventListener("click", () => {
      if (!hidden.delete(index) && hidden.size + 1 < series.length) hidden.add(index);
      made.setAttribute("aria-pressed", String(!hidden.has(index)));
      onChange(hidden);
    });
    return made;
  });
  return element("div", { class: "report-legend", role: "group", "aria-label": "Series that are shown" }, ...buttons);
}
