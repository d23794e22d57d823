// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The part of a long table that exists in the page.

export interface Part {
  first: number;
  /** One after the last row. */
  end: number;
}

/** A table up to this length is wholly in the page: its cells may have several lines. */
export const ROWS_OF_WHOLE = 60;
/** A table shorter than this is seen at once, and needs no search. */
export const LEAST_TO_SEARCH = 20;

/** The rows that a view of `height` pixels shows at `top`, with some more on both sides. */
export function partAt(top: number, height: number, rowHeight: number, count: number): Part {
  const more = 12;
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - more);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + more);
  return { first, end: Math.max(first, end) };
}

/** Width of each column in characters, from all of its texts, so that it does not change while one scrolls. */
export function widths(titles: string[], texts: string[][]): number[] {
  const [least, most] = [6, 44];
  return titles.map((title, column) => {
    let longest = title.length + 3;
    for (const row of texts) longest = Math.max(longest, row[column]?.length ?? 0);
    return Math.min(most, Math.max(least, longest + 2));
  });
}
