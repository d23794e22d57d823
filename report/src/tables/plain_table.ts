// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Sorting of a table that is whole in the page: its own rows change their places.
import { makeSortable } from "./header";
import { sorted, type Key } from "./order";
import { keysOfColumn } from "./quantity";

const LEAST_ROWS = 3;

function shownText(cell: Element | undefined): string {
  return cell?.getAttribute("data-value") ?? cell?.textContent ?? "";
}

function isRegular(rows: HTMLTableRowElement[], columns: number): boolean {
  return rows.every((row) => row.cells.length === columns && !row.querySelector("[rowspan], [colspan]"));
}

/** Does nothing to a table with one body less or more, with joined cells, or with few rows. */
export function makePlainTableSortable(table: HTMLTableElement): void {
  const headers = [...(table.tHead?.rows[0]?.cells ?? [])];
  const [body, second] = table.tBodies;
  const rows = [...(body?.rows ?? [])];
  if (!body || second || table.tHead?.rows.length !== 1 || rows.length < LEAST_ROWS) return;
  if (!isRegular([...table.tHead.rows, ...rows], headers.length)) return;
  const known = new Map<number, Key[]>();
  const keys = (column: number): Key[] => {
    const found = known.get(column) ?? keysOfColumn(rows.map((row) => shownText(row.cells[column])));
    known.set(column, found);
    return found;
  };
  const all = rows.map((_, at) => at);
  makeSortable(headers, (column) => keys(column).some((key) => typeof key === "number"), (sort) => {
    const order = sort ? sorted(all, keys(sort.column), sort.direction) : all;
    body.append(...order.flatMap((at) => rows[at] ?? []));
  });
}
