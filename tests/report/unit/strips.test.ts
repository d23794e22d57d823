// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run, StripData } from "report/data";
import { described, drawable, nodesOf, runAt, tableOf } from "report/strips/runs";

const strip: StripData = {
  title: "a",
  pages: 8,
  bands: [{ title: "on", runs: [[0, 4, 1], [4, 1, -1], [6, 2, 0]] }, { title: "used", runs: [] }],
};

test("a run in words", () => {
  assert.equal(described([0, 128, 0], 4096), "pages 0 to 127 (128 pages, 512 KiB): node 0");
  assert.equal(described([7, 1, -1], undefined), "page 7 (1 page): node not known");
});

test("the run of a page, or the next one", () => {
  const runs = strip.bands[0]?.runs ?? [];
  assert.deepEqual([0, 3, 4, 5, 7, 99].map((page) => runAt(runs, page)), [0, 0, 1, 2, 2, 2]);
  assert.equal(runAt([], 3), 0);
});

test("few runs are drawn as they are", () => {
  const runs: Run[] = [[0, 1, 0], [1, 1, 1]];
  assert.equal(drawable(runs, 2, 100), runs);
});

test("of many runs each pixel has the node with most of its pages", () => {
  const runs: Run[] = Array.from({ length: 1000 }, (_, at): Run => [at, 1, at % 4 === 3 ? 1 : 0]);
  assert.deepEqual(drawable(runs, 1000, 10), [[0, 1000, 0]]);
  const halves: Run[] = runs.map(([first]): Run => [first, 1, first < 500 ? 0 : first % 2 === 0 ? -1 : 2]);
  const drawn = drawable(halves, 1000, 10);
  assert.deepEqual(drawn[0], [0, 500, 0]);
  assert.equal(drawn.reduce((sum, [, count]) => sum + count, 0), 1000);
});

test("pages without a run stay empty when many runs are drawn", () => {
  const runs: Run[] = Array.from({ length: 100 }, (_, at): Run => [at, 1, 0]);
  assert.deepEqual(drawable(runs, 1000, 10), [[0, 100, 0]]);
});

test("nodes in order, the unknown last", () => {
  assert.deepEqual(nodesOf(strip), [0, 1, -1]);
  assert.deepEqual(tableOf(strip).rows[1], ["on", 4, 4, 1, "node not known"]);
});
