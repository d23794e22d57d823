// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { described, rowsOf, tableOf } from "report/charts/points";
import { rangeOf, scaled } from "report/charts/zoom";
import { isStriped, nodeColour, seriesColour, seriesMark } from "report/colours";
import type { ChartData } from "report/data";

const chart: ChartData = {
  kind: "lines",
  x: { label: "time", unit: "s" },
  y: { label: "bandwidth", unit: "GB/s" },
  series: [
    { name: "node 3", points: [[0, 1], [1, null], [2, 4, 3, 5]] },
    { name: "node 3", points: [[0, 2]] },
  ],
};

test("series of one name stay two series", () => {
  assert.deepEqual(rowsOf(chart).map((row) => row.index), [0, 0, 0, 1]);
  assert.deepEqual(rowsOf(chart, new Set([0])).map((row) => row.y), [2]);
});

test("a missing value is a gap, and on a logarithmic axis so is zero", () => {
  assert.ok(Number.isNaN(rowsOf(chart)[1]?.y));
  const zero: ChartData = { ...chart, y: { log: true }, series: [{ name: "a", points: [[1, 0], [2, 8]] }] };
  assert.deepEqual(rowsOf(zero).map((row) => row.y), [NaN, 8]);
});

test("a tooltip has the figures with their units and the interval", () => {
  const row = rowsOf(chart)[2];
  assert.ok(row);
  assert.equal(described(row, chart), "node 3\ntime: 2 s\nbandwidth: 4 GB/s\nfrom 3 GB/s to 5 GB/s");
});

test("the table has every point, and an interval that is not known is not invented", () => {
  const { columns, rows } = tableOf(chart);
  assert.deepEqual(columns.map(({ title }) => title), ["series", "time (s)", "bandwidth (GB/s)", "low", "high"]);
  assert.deepEqual(rows[1], ["node 3", 1, null, null, null]);
  assert.deepEqual(rows[2], ["node 3", 2, 4, 3, 5]);
});

test("zooming keeps the middle, stays inside, and ends with the whole", () => {
  assert.deepEqual(scaled([0, 100], [0, 100], 0.5, false), [25, 75]);
  assert.deepEqual(scaled([0, 20], [0, 100], 2, false), [0, 30]);
  assert.equal(scaled([25, 75], [0, 100], 2, false), undefined);
  const log = scaled([1, 10000], [1, 10000], 0.5, true);
  assert.ok(log);
  assert.ok(Math.abs(log[0] - 10) < 1e-9 && Math.abs(log[1] - 1000) < 1e-6);
  assert.deepEqual(rangeOf([3, 1, 2]), [1, 3]);
  assert.equal(rangeOf([2, 2]), undefined);
});

test("a node has the same colour in every chart, and higher nodes have another mark", () => {
  assert.equal(seriesColour("node 3", 0), nodeColour(3));
  assert.equal(seriesColour("reads", 1), nodeColour(1));
  assert.equal(nodeColour(-1), "var(--report-unknown)");
  assert.equal(nodeColour(9), nodeColour(1));
  assert.ok(isStriped(9) && !isStriped(1));
  assert.notDeepEqual(seriesMark("node 9", 0), seriesMark("node 1", 0));
});
