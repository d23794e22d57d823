// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The colour of a node is a variable of the page's style, so a change of theme needs no new drawing.

const COLOURS = 8;

/** Number of the node in a name such as "node 3", or nothing. */
export function nodeInName(name: string): number | undefined {
  const found = /^node (\d{1,6})$/i.exec(name.trim());
  return found ? Number(found[1]) : undefined;
}

/** CSS colour of a node; -1: not known. */
export function nodeColour(node: number): string {
  return node < 0 ? "var(--report-unknown)" : `var(--report-node-${node % COLOURS})`;
}

/** Colours repeat after eight nodes: the higher ones are striped as well. */
export function isStriped(node: number): boolean {
  return node >= COLOURS;
}

/** The colour of a series: its node's if it is named by one, else the colour of its place in the list. */
export function seriesColour(name: string, index: number): string {
  return nodeColour(nodeInName(name) ?? index);
}

/** What distinguishes series of the same colour: the dashes of a line, the shape of a point. */
export interface SeriesMark {
  dashes: string;
  symbol: "circle" | "square" | "triangle" | "diamond";
}

const MARKS: [SeriesMark, ...SeriesMark[]] = [
  { dashes: "none", symbol: "circle" },
  { dashes: "6 3", symbol: "square" },
  { dashes: "2 3", symbol: "triangle" },
  { dashes: "8 3 2 3", symbol: "diamond" },
];

/** The mark of a series; every eight series have the next one. */
export function seriesMark(name: string, index: number): SeriesMark {
  const place = Math.floor((nodeInName(name) ?? index) / COLOURS);
  return MARKS[place % MARKS.length] ?? MARKS[0];
}
