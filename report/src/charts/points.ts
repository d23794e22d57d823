// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The points of a chart as a list of rows, one for each point: what the drawing and the table need.
import type { ChartData, Point, Series, TableData } from "../data";
import { seriesColour } from "../colours";
import { labelled, short } from "../numbers";

export interface Row {
  /** Place of the series in the list: two may have one name. */
  index: number;
  series: string;
  colour: string;
  x: number;
  y: number;
  low: number;
  high: number;
}

/** NaN, which leaves a gap: no value, or one that a logarithmic axis does not have. */
function onAxis(value: number | null | undefined, log: boolean | undefined): number {
  return typeof value !== "number" || (log && value <= 0) ? NaN : value;
}

export function rowsOf({ x: xAxis, y: yAxis, series }: ChartData, hidden: ReadonlySet<number> = new Set()): Row[] {
  return series.flatMap(({ name, points }, index) => {
    if (hidden.has(index)) return [];
    const colour = seriesColour(name, index);
    return points.map(([x, y, low, high]): Row => ({
      index,
      series: name,
      colour,
      x: onAxis(x, xAxis.log),
      y: onAxis(y, yAxis.log),
      low: onAxis(low, yAxis.log),
      high: onAxis(high, yAxis.log),
    }));
  });
}

export function hasInterval(row: Row): boolean {
  return Number.isFinite(row.low) && Number.isFinite(row.high);
}

function figure(value: number, unit: string | undefined): string {
  return unit ? `${short(value)} ${unit}` : short(value);
}

/** What a tooltip says of a point, in lines. */
export function described(row: Row, { x, y }: Pick<ChartData, "x" | "y">): string {
  const lines = [row.series];
  lines.push(`${x.label ?? "x"}: ${figure(row.x, x.unit)}`, `${y.label ?? "y"}: ${figure(row.y, y.unit)}`);
  if (hasInterval(row)) lines.push(`from ${figure(row.low, y.unit)} to ${figure(row.high, y.unit)}`);
  return lines.filter(Boolean).join("\n");
}

function tableCells(name: string, [x, y, low, high]: Point, withInterval: boolean): (string | number | null)[] {
  return withInterval ? [name, x, y, low ?? null, high ?? null] : [name, x, y];
}

/** All figures of a chart as a table. */
export function tableOf({ x, y, series }: ChartData): TableData {
  const withInterval = series.some(({ points }: Series) => points.some((point) => point.length > 2));
  const number = (title: string): TableData["columns"][number] => ({ title, kind: "number" });
  const columns: TableData["columns"] = [{ title: "series", kind: "text" }];
  columns.push(number(labelled(x.label ?? "x", x.unit)), number(labelled(y.label ?? "y", y.unit)));
  if (withInterval) columns.push(number("low"), number("high"));
  const rows = series.flatMap(({ name, points }) => points.map((point) => tableCells(name, point, withInterval)));
  return { columns, rows };
}
