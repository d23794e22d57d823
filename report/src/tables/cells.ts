// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// What a cell shows, and what it is sorted by.
import type { Cell } from "../data";
import { short } from "../numbers";
import type { Key } from "./order";
import { isUnknown, keysOfColumn, quantity } from "./quantity";

export function textOf(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return "unknown";
  if (typeof cell === "number") return short(cell);
  if (typeof cell === "object") return cell.text;
  return String(cell);
}

/** The number that a cell brings along, or nothing. */
function numberOf(cell: Cell | undefined): number | undefined {
  const value = typeof cell === "object" ? cell?.value : cell;
  return typeof value === "number" && !Number.isNaN(value) ? value : undefined;
}

/** What the cells of a column are sorted by. null: not known; it stands last in either direction. */
export function keysOf(cells: (Cell | undefined)[]): Key[] {
  const numbers = cells.map(numberOf);
  const texts = cells.map(textOf);
  if (numbers.every((number) => number === undefined)) return keysOfColumn(texts);
  return texts.map((text, at) => numbers[at] ?? (isUnknown(text) ? null : (quantity(text)?.value ?? text)));
}
