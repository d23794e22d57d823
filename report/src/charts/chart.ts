// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// A chart in the place of its static picture: series to hide, a part to look at closely, and its figures as a table.
import type { ChartData } from "../data";
import { button, element, nameOf } from "../page/elements";
import { makeBigTable } from "../tables/big_table";
import { legend } from "./legend";
import { drawn } from "./picture";
import { rowsOf, tableOf } from "./points";
import { rangeOf, scaled, watchDragging, type Range } from "./zoom";

const LEAST_WIDTH = 280;

class Chart {
  private hidden: ReadonlySet<number> = new Set();
  private range: Range | undefined;
  private width = 0;
  private readonly whole: Range | undefined;
  private readonly picture = element("div", { class: "report-plot" });
  private readonly all = button("Whole range", () => this.zoom(undefined));

  constructor(place: HTMLElement, private readonly data: ChartData, private readonly name: string) {
    this.picture.setAttribute("role", "img");
    this.picture.setAttribute("aria-label", name);
    this.whole = rangeOf(rowsOf(data).map((row) => row.x).filter((x) => !Number.isNaN(x)));
    const keys = legend(data.series, data.kind, (hidden) => {
      this.hidden = hidden;
      this.draw();
    });
    this.width = Math.max(LEAST_WIDTH, place.clientWidth);
    this.draw();
    place.replaceChildren(...(data.series.length > 1 ? [keys] : []), this.picture, this.zoomButtons());
    new ResizeObserver(() => this.fit(place.clientWidth)).observe(place);
  }

  private fit(width: number): void {
    if (width === 0 || Math.max(LEAST_WIDTH, width) === this.width) return;
    this.width = Math.max(LEAST_WIDTH, width);
    this.draw();
  }

  private zoom(range: Range | undefined): void {
    this.range = range;
    this.draw();
  }

  private zoomButtons(): HTMLElement {
    const by = (factor: number): void => {
      const now = this.range ?? this.whole;
      if (now && this.whole) this.zoom(scaled(now, this.whole, factor, this.data.x.log ?? false));
    };
    const parts = [button("Zoom in", () => by(0.5)), button("Zoom out", () => by(2)), this.all];
    return element("div", { class: "report-zoom", role: "group", "aria-label": `Range of ${this.name}` }, ...parts);
  }

  private draw(): void {
    const { width, hidden, range } = this;
    const made = drawn(this.data, { width, hidden, range });
    // Its groups have names for screen readers that have no meaning inside a picture.
    made.setAttribute("aria-hidden", "true");
    if (made instanceof SVGSVGElement) {
      const scale = made.scale("x");
      watchDragging(made, (from, to) => this.zoomTo(scale?.invert?.(from), scale?.invert?.(to)));
    }
    this.picture.replaceChildren(made);
    this.all.disabled = range === undefined;
  }

  private zoomTo(from: number, to: number): void {
    if (!this.whole) return;
    const range: Range = [Math.max(from, this.whole[0]), Math.min(to, this.whole[1])];
    if (range[0] < range[1]) this.zoom(range);
  }
}

/** The figures as a table, made when it is opened, unless the page already has one beside the picture. */
function addTable(place: HTMLElement, data: ChartData, name: string): void {
  const figure = place.closest("figure");
  const next = figure?.nextElementSibling;
  if (figure?.querySelector("details table") || (next?.matches("details") && next.querySelector("table"))) return;
  const details = element("details", {}, element("summary", {}, "Show as table"));
  const fill = (): void => {
    if (details.querySelector("table")) return;
    const table = element("table", {}, element("tbody"));
    details.append(table);
    makeBigTable(table, tableOf(data), () => undefined, `${name}, as a table`);
  };
  details.addEventListener("toggle", fill);
  place.after(details);
}

export function makeChart(place: HTMLElement, data: ChartData): void {
  const name = place.querySelector("svg > title")?.textContent?.trim() || nameOf(place);
  new Chart(place, data, name);
  addTable(place, data, name);
}
