// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// A table of which the page holds only the first rows: all rows from the data, with a search, in any order.
import type { Column, TableData } from "../data";
import { counted, grouped, labelled } from "../numbers";
import { element, nameOf, newId } from "../page/elements";
import { onPrint } from "../page/print";
import { keysOf, textOf } from "./cells";
import { makeSortable, type Sort } from "./header";
import { matching, sorted, type Key } from "./order";
import { Rows, type StripOpener } from "./rows";
import { LEAST_TO_SEARCH, ROWS_OF_WHOLE, widths } from "./window";

const ROWS_ON_PAPER = 200;

function headerCells(table: HTMLTableElement, columns: Column[]): HTMLElement[] {
  const written = [...(table.tHead?.rows[0]?.cells ?? [])];
  if (written.length === columns.length) return written;
  const made = columns.map(({ title, unit }) => element("th", { scope: "col" }, labelled(title, unit)));
  table.tHead?.remove();
  table.prepend(element("thead", {}, element("tr", {}, ...made)));
  return made;
}

function setWidths(table: HTMLTableElement, characters: number[]): void {
  table.querySelectorAll("colgroup").forEach((group) => group.remove());
  // On a phone one column never fills the whole view.
  const lengths = characters.map((width) => `min(${width}ch, 55vw)`);
  const columns = lengths.map((width) => {
    const column = element("col");
    column.style.width = width;
    return column;
  });
  const group = element("colgroup", {}, ...columns);
  const caption = table.querySelector("caption");
  if (caption) caption.after(group);
  else table.prepend(group);
  table.style.minWidth = `calc(${lengths.join(" + ") || "0px"})`;
}

/** On a phone, texts that may break anywhere would become columns of single letters. */
function setLeastWidths(headers: HTMLElement[], columns: Column[], texts: string[][]): void {
  const characters = widths(columns.map(() => ""), texts);
  headers.forEach((header, column) => {
    if (columns[column]?.kind !== "number") header.style.minWidth = `${Math.min(14, characters[column] ?? 0)}ch`;
  });
}

function searchField(name: string): { line: HTMLElement; input: HTMLInputElement; count: HTMLElement } {
  const id = newId();
  const input = element("input", { type: "search", id, autocomplete: "off", spellcheck: "false" });
  const count = element("output", { class: "report-count", for: id, "aria-live": "polite" });
  const label = element("label", { for: id }, "Search", element("span", { class: "report-hidden" }, ` in ${name}`));
  return { line: element("div", { class: "report-search" }, label, " ", input, " ", count), input, count };
}

/** Puts the table into a view of its own that scrolls, instead of the one it has, and drops the note below that the
 *  page has only its first rows. */
function scrolled(table: HTMLTableElement, name: string): HTMLElement {
  const view = element("div", { class: "report-view", role: "region", tabindex: "0", "aria-label": name });
  const old = table.parentElement?.matches(".scroll") ? table.parentElement : table;
  const note = old.nextElementSibling;
  if (note?.matches("p.remark") && /^\d+ of \d+ rows\.$/.test(note.textContent ?? "")) note.remove();
  old.replaceWith(view);
  view.append(table);
  table.classList.add("report-big");
  return view;
}

function printed(rows: Rows, view: HTMLElement, shown: () => number): void {
  const note = element("p", { class: "report-paper" });
  view.after(note);
  onPrint(
    view,
    () => {
      rows.drawFirst(ROWS_ON_PAPER);
      note.textContent = shown() > ROWS_ON_PAPER ? `The first ${ROWS_ON_PAPER} of ${grouped(shown())} rows.` : "";
    },
    () => rows.draw(),
  );
}

/** Makes the table show all of its data. `name` is what screen readers call it. */
export function makeBigTable(
  table: HTMLTableElement,
  data: TableData,
  opener: StripOpener,
  name = nameOf(table),
): void {
  const texts = data.rows.map((row) => data.columns.map((_, column) => textOf(row[column])));
  // One types 10000 for what is shown in groups.
  const searched = texts.map((row) => row.join(" ").replaceAll("\u202f", "").toLowerCase());
  const headers = headerCells(table, data.columns);
  headers.forEach((header, column) => header.classList.add(`report-${data.columns[column]?.kind ?? "text"}`));
  const isWhole = data.rows.length <= ROWS_OF_WHOLE;
  if (isWhole) setLeastWidths(headers, data.columns, texts);
  else setWidths(table, widths(headers.map((header) => header.textContent ?? ""), texts));
  table.setAttribute("aria-rowcount", String(data.rows.length + 1));
  const { line, input, count } = searchField(name);
  const view = scrolled(table, name);
  view.classList.toggle("report-whole", isWhole);
  if (data.rows.length >= LEAST_TO_SEARCH) view.before(line);
  const [body = table.createTBody(), ...more] = table.tBodies;
  more.forEach((each) => each.remove());
  const rows = new Rows(view, body, data, opener);

  const keys = (column: number): Key[] => keysOf(data.rows.map((row) => row[column]));
  let sort: Sort | undefined;
  let shown = 0;
  const update = (): void => {
    const found = matching(searched, input.value);
    shown = found.length;
    rows.show(sort ? sorted(found, keys(sort.column), sort.direction) : found);
    const all = counted(data.rows.length, "row");
    count.textContent = shown === data.rows.length ? all : `${grouped(shown)} of ${all}`;
  };
  makeSortable(headers, (column) => data.columns[column]?.kind === "number", (next) => {
    sort = next;
    update();
  });
  input.addEventListener("input", update);
  printed(rows, view, () => shown);
  update();
}
