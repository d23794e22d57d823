// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Headers of columns as buttons that sort.
import { button } from "../page/elements";
import { nextDirection, type Direction } from "./order";

export interface Sort {
  column: number;
  direction: Direction;
}

/** Makes a button of each header's content. `onSort` gets nothing when the order is again the first one. */
export function makeSortable(
  headers: HTMLElement[],
  isNumber: (column: number) => boolean,
  onSort: (sort: Sort | undefined) => void,
): void {
  let now: Sort | undefined;
  headers.forEach((header, column) => {
    const press = (): void => {
      const direction = nextDirection(now?.column === column ? now.direction : undefined, isNumber(column));
      now = direction && { column, direction };
      headers.forEach((each, at) => {
        if (now?.column === at) each.setAttribute("aria-sort", now.direction);
        else each.removeAttribute("aria-sort");
      });
      onSort(now);
    };
    const made = button("", press, { class: "report-sort" });
    made.append(...header.childNodes);
    header.append(made);
  });
}
