// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The drawing of a chart, by Observable Plot.
import { areaY, dot, lineY, plot, pointer, pointerX, ruleX, ruleY, stackY, tip } from "@observablehq/plot";
import type { Markish } from "@observablehq/plot";
import { seriesMark, type SeriesMark } from "../colours";
import type { ChartData } from "../data";
import { labelled, short } from "../numbers";
import { described, hasInterval, rowsOf, type Row } from "./points";
import type { Range } from "./zoom";

const FEW_POINTS = 40;

export interface View {
  width: number;
  hidden: ReadonlySet<number>;
  range: Range | undefined;
}

function linesOf(rows: Row[], { dashes }: SeriesMark): Markish[] {
  const marks: Markish[] = [];
  const intervals = rows.filter(hasInterval);
  if (intervals.length > 0) {
    marks.push(areaY(intervals, { x: "x", y1: "low", y2: "high", fill: "colour", fillOpacity: 0.2, clip: true }));
  }
  const line = { stroke: "colour", z: null, strokeWidth: 2, strokeDasharray: dashes };
  marks.push(lineY(rows, { x: "x", y: "y", ...line, clip: true }));
  if (rows.length <= FEW_POINTS) marks.push(dot(rows, { x: "x", y: "y", fill: "colour", r: 2.5, clip: true }));
  return marks;
}

function pointsOf(rows: Row[], { symbol }: SeriesMark): Markish[] {
  return [
    ruleX(rows.filter(hasInterval), { x: "x", y1: "low", y2: "high", stroke: "colour", clip: true }),
    dot(rows, { x: "x", y: "y", stroke: "colour", fill: "colour", fillOpacity: 0.5, r: 3, symbol, clip: true }),
  ];
}

function marksOf(chart: ChartData, rows: Row[]): Markish[] {
  const title = (row: Row): string => described(row, chart);
  const at = { x: "x", y: "y", title, preferredAnchor: "bottom-left" } as const;
  if (chart.kind === "areas") {
    const stacked = { x: "x", y: "y", z: "index" } as const;
    return [
      areaY(rows, { ...stacked, fill: "colour", fillOpacity: 0.85, stroke: "var(--report-back)", clip: true }),
      tip(rows, pointerX(stackY({ ...stacked, title }))),
    ];
  }
  const marks = chart.kind === "points" ? pointsOf : linesOf;
  const all = chart.series.flatMap(({ name }, index) =>
    marks(rows.filter((row) => row.index === index), seriesMark(name, index)));
  return [...all, tip(rows, pointer(at))];
}

const STYLE = {
  background: "transparent",
  color: "inherit",
  fontFamily: "inherit",
  fontSize: "12px",
  overflow: "visible",
};

/** A chart as an SVG picture of `view.width` pixels. `scale("x")` of it goes from values to pixels and back. */
export function drawn(chart: ChartData, view: View): ReturnType<typeof plot> {
  const { x, y } = chart;
  const baseline: Markish[] = y.log ? [] : [ruleY([0], { strokeOpacity: 0.5 })];
  return plot({
    width: view.width,
    height: Math.round(Math.min(360, Math.max(220, view.width * 0.5))),
    marginLeft: 64,
    style: STYLE,
    x: {
      type: x.log ? "log" : "linear",
      label: labelled(x.label, x.unit),
      tickFormat: short,
      ...(view.range && { domain: view.range }),
    },
    y: { type: y.log ? "log" : "linear", label: labelled(y.label, y.unit), tickFormat: short, grid: true, nice: true },
    color: { type: "identity" },
    marks: [...baseline, ...marksOf(chart, rowsOf(chart, view.hidden))],
  });
}
