// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Makes the page of `nodewise report` interactive. The page is complete without: each part here replaces or extends a
// static one, and a part that fails leaves the static one as it is.
import { makeChart } from "./charts/chart";
import { member, readData, type ReportData } from "./data";
import { addAnnouncer } from "./page/announce";
import { addCopyButtons } from "./page/copy";
import { addSectionLinks } from "./page/links";
import { preparePrint } from "./page/print";
import { addThemeSwitch } from "./page/theme";
import { finish, later } from "./page/turns";
import { openStrip } from "./strips/dialog";
import { makeBigTable } from "./tables/big_table";
import { makePlainTableSortable } from "./tables/plain_table";

function enhanceTable(table: HTMLTableElement, data: ReportData): void {
  const name = table.dataset["table"];
  const rows = name === undefined ? undefined : member(data.tables, name);
  if (!rows) return makePlainTableSortable(table);
  makeBigTable(table, rows, (id) => {
    const strip = member(data.strips, id);
    return strip && (() => openStrip(strip));
  });
}

function enhanceChart(place: HTMLElement, data: ReportData): void {
  const chart = member(data.charts, place.dataset["chart"] ?? "");
  if (chart) makeChart(place, chart);
}

function start(): void {
  const data = readData(document.getElementById("report-data")?.textContent ?? "{}");
  addThemeSwitch();
  addAnnouncer();
  later(addCopyButtons);
  for (const table of document.querySelectorAll<HTMLTableElement>("main table")) later(() => enhanceTable(table, data));
  for (const place of document.querySelectorAll<HTMLElement>("[data-chart]")) later(() => enhanceChart(place, data));
  later(addSectionLinks);
  later(() => (document.documentElement.dataset["report"] = "ready"));
  preparePrint(finish);
}

start();
