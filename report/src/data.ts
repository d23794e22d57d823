// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// What the page brings along in #report-data: `nodewise/report-data/1`.

/** A cell that shows `text`. `value` sorts instead of the text; `strip` is what the cell opens. */
export interface CellParts {
  text: string;
  value?: number;
  strip?: string;
}
/** null: not known. */
export type Cell = string | number | boolean | null | CellParts;
export type ColumnKind = "text" | "number" | "code";

export interface Column {
  title: string;
  unit?: string;
  kind?: ColumnKind;
}

export interface TableData {
  columns: Column[];
  rows: Cell[][];
}

export interface Axis {
  label?: string;
  unit?: string;
  log?: boolean;
}

/** x, y, and the interval of y where it is known. */
export type Point = [x: number, y: number | null, low?: number | null, high?: number | null];

export interface Series {
  name: string;
  points: Point[];
}

export interface ChartData {
  kind: "lines" | "areas" | "points";
  x: Axis;
  y: Axis;
  series: Series[];
}

/** Pages `first` to `first + count - 1`; node -1: not known. */
export type Run = [first: number, count: number, node: number];

export interface Band {
  title: string;
  runs: Run[];
}

export interface StripData {
  title: string;
  pages: number;
  page_bytes?: number;
  bands: Band[];
}

export interface ReportData {
  schema?: string;
  tables?: Record<string, TableData>;
  charts?: Record<string, ChartData>;
  strips?: Record<string, StripData>;
}

export const SCHEMA = "nodewise/report-data/1";

/** The data of a page. Nothing if the text is of another version, or not JSON: the page is complete without. */
export function readData(text: string): ReportData {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data !== "object" || data === null) return {};
    const { schema } = data as ReportData;
    return schema === undefined || schema === SCHEMA ? data : {};
  } catch {
    return {};
  }
}

/** The member of that name. Names come from programs, so one may be "constructor" or "__proto__". */
export function member<T>(of: Record<string, T> | undefined, name: string): T | undefined {
  return of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined;
}
