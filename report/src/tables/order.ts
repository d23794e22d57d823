// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Which rows are shown, and in which order: pure functions of keys and texts.

export type Direction = "ascending" | "descending";
export type Key = number | string | null;

const byName = new Intl.Collator("en", { numeric: true });

function compared(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  return byName.compare(a, b);
}

/** The rows in the order of their keys; equal ones keep their order, and unknown ones are last. */
export function sorted(rows: number[], keys: Key[], direction: Direction): number[] {
  const sign = direction === "ascending" ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [left = null, right = null] = [keys[a], keys[b]];
    if (left === null || right === null) return left === right ? a - b : left === null ? 1 : -1;
    return sign * compared(left, right) || a - b;
  });
}

/** The rows whose text has every word of the question, in any order; capital letters do not matter. */
export function matching(texts: string[], question: string): number[] {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean);
  const found: number[] = [];
  texts.forEach((text, row) => {
    if (words.every((word) => text.includes(word))) found.push(row);
  });
  return found;
}

/** What the next press of a header's button does: figures begin with the largest; the third press undoes both. */
export function nextDirection(now: Direction | undefined, isNumber: boolean): Direction | undefined {
  const first: Direction = isNumber ? "descending" : "ascending";
  const second: Direction = isNumber ? "ascending" : "descending";
  if (now === undefined) return first;
  return now === first ? second : undefined;
}
