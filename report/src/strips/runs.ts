// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Runs of pages in words and in pixels: pure functions.
import type { Run, StripData, TableData } from "../data";
import { bytes, counted, grouped } from "../numbers";

export function nodeName(node: number): string {
  return node < 0 ? "node not known" : `node ${node}`;
}

/** "pages 0 to 127 (128 pages, 512 KiB): node 0". */
export function described([first, count, node]: Run, pageBytes: number | undefined): string {
  const size = pageBytes === undefined ? "" : `, ${bytes(count * pageBytes)}`;
  const which = count === 1 ? `page ${grouped(first)}` : `pages ${grouped(first)} to ${grouped(first + count - 1)}`;
  return `${which} (${counted(count, "page")}${size}): ${nodeName(node)}`;
}

/** The run that has a page, or the first one behind it. Runs are in the order of their pages. */
export function runAt(runs: Run[], page: number): number {
  let [low, high] = [0, runs.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [first, count] = runs[middle] ?? [0, 0];
    if (first + count <= page) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Runs to draw on `columns` pixels. Runs narrower than a pixel would vanish, so where several share one, it has the
 *  node that has most of its pages. */
export function drawable(runs: Run[], pages: number, columns: number): Run[] {
  if (runs.length <= columns / 2) return runs;
  const perColumn = pages / columns;
  const most = new Map<number, Map<number, number>>();
  for (const [first, count, node] of runs) {
    const end = first + count;
    for (let column = Math.floor(first / perColumn); column < columns && column * perColumn < end; column += 1) {
      const part = Math.min(end, (column + 1) * perColumn) - Math.max(first, column * perColumn);
      const nodes = most.get(column) ?? new Map<number, number>();
      nodes.set(node, (nodes.get(node) ?? 0) + part);
      most.set(column, nodes);
    }
  }
  return joined([...most].map(([column, nodes]): Run => {
    const [node] = [...nodes].reduce((best, each) => (each[1] > best[1] ? each : best));
    return [column * perColumn, perColumn, node];
  }));
}

/** Neighbours of the same node as one run. */
function joined(runs: Run[]): Run[] {
  const result: Run[] = [];
  for (const [first, count, node] of runs) {
    const last = result.at(-1);
    if (last && last[2] === node && Math.abs(last[0] + last[1] - first) < 1e-6) last[1] += count;
    else result.push([first, count, node]);
  }
  return result;
}

/** The nodes that a strip names, in their order; -1 last. */
export function nodesOf(strip: StripData): number[] {
  const nodes = new Set(strip.bands.flatMap(({ runs }) => runs.map(([, , node]) => node)));
  return [...nodes].sort((a, b) => (a < 0 ? 1 : b < 0 ? -1 : a - b));
}

export function tableOf(strip: StripData): TableData {
  const columns: TableData["columns"] = [{ title: "what" }, { title: "first page", kind: "number" }];
  columns.push({ title: "last page", kind: "number" }, { title: "pages", kind: "number" }, { title: "node" });
  const rows = strip.bands.flatMap(({ title, runs }) =>
    runs.map(([first, count, node]) => [title, first, first + count - 1, count, nodeName(node)]));
  return { columns, rows };
}
