// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Rows of a big table: only those near the view are in the page.
import type { Cell, Column } from "../data";
import { button, element } from "../page/elements";
import { textOf } from "./cells";
import { partAt, ROWS_OF_WHOLE, type Part } from "./window";

/** What opens the strip of that name, or nothing if the page has none. */
export type StripOpener = (id: string) => (() => void) | undefined;

function cellContent(cell: Cell | undefined, column: Column, opener: StripOpener): Node | string {
  const text = textOf(cell);
  const strip = typeof cell === "object" ? cell?.strip : undefined;
  const open = strip === undefined ? undefined : opener(strip);
  if (open) return button(text, open, { class: "report-button report-open", "aria-haspopup": "dialog" });
  return column.kind === "code" ? element("code", {}, text) : text;
}

function tableRow(cells: Cell[], columns: Column[], opener: StripOpener): HTMLTableRowElement {
  return element("tr", {}, ...columns.map((column, at) => {
    const text = textOf(cells[at]);
    const made = element("td", { class: `report-${column.kind ?? "text"}` }, cellContent(cells[at], column, opener));
    if (text.length > 30) made.title = text;
    return made;
  }));
}

/** Shows rows of `data` in `body`, which is inside `view`, in an order that may change. */
export class Rows {
  private order: number[] = [];
  private readonly made = new Map<number, HTMLTableRowElement>();
  private readonly above = element("tr", { class: "report-space", "aria-hidden": "true" });
  private readonly below = element("tr", { class: "report-space", "aria-hidden": "true" });
  private rowHeight = 28;

  constructor(
    private readonly view: HTMLElement,
    private readonly body: HTMLTableSectionElement,
    private readonly data: { columns: Column[]; rows: Cell[][] },
    private readonly opener: StripOpener,
  ) {
    body.replaceChildren(this.above, this.below);
    view.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(view);
  }

  show(order: number[]): void {
    this.order = order;
    for (const row of this.made.values()) row.remove();
    this.made.clear();
    this.view.scrollTop = 0;
    this.draw();
  }

  /** The rows near the view. A closed view has no height: then those of the beginning. */
  draw(): void {
    if (this.data.rows.length <= ROWS_OF_WHOLE) return this.drawPart({ first: 0, end: this.order.length });
    const height = this.view.clientHeight || window.innerHeight;
    this.drawPart(partAt(this.view.scrollTop, height, this.rowHeight, this.order.length));
    const real = this.made.values().next().value?.offsetHeight ?? 0;
    if (real > 0 && Math.abs(real - this.rowHeight) > 0.5) {
      this.rowHeight = real;
      this.drawPart(partAt(this.view.scrollTop, height, this.rowHeight, this.order.length));
    }
  }

  /** The first rows as they are on paper. */
  drawFirst(count: number): void {
    this.drawPart({ first: 0, end: Math.min(count, this.order.length) });
  }

  private drawPart({ first, end }: Part): void {
    for (const [at, row] of this.made) {
      if (at >= first && at < end) continue;
      // Who reads with the keyboard goes on in the table, not at the top of the page.
      if (row.contains(document.activeElement)) this.view.focus({ preventScroll: true });
      row.remove();
      this.made.delete(at);
    }
    let next: ChildNode | null = this.above.nextSibling;
    for (let at = first; at < end; at += 1) {
      const known = this.made.get(at);
      if (known) next = known.nextSibling;
      else this.body.insertBefore(this.add(at), next);
    }
    this.above.style.height = `${first * this.rowHeight}px`;
    this.below.style.height = `${(this.order.length - end) * this.rowHeight}px`;
  }

  private add(at: number): HTMLTableRowElement {
    const row = tableRow(this.data.rows[this.order[at] ?? -1] ?? [], this.data.columns, this.opener);
    row.setAttribute("aria-rowindex", String(at + 2));
    this.made.set(at, row);
    return row;
  }
}
