// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { keysOf, textOf } from "report/tables/cells";
import { matching, nextDirection, sorted } from "report/tables/order";
import { keysOfColumn, quantity } from "report/tables/quantity";
import { partAt, widths } from "report/tables/window";

test("unknown cells are named, and sort last in both directions", () => {
  assert.equal(textOf(null), "unknown");
  assert.equal(textOf(undefined), "unknown");
  const keys = [3, null, 1, 2];
  assert.deepEqual(sorted([0, 1, 2, 3], keys, "ascending"), [2, 3, 0, 1]);
  assert.deepEqual(sorted([0, 1, 2, 3], keys, "descending"), [0, 3, 2, 1]);
});

test("equal keys keep the order of the rows in both directions", () => {
  assert.deepEqual(sorted([0, 1, 2], ["a", "a", "a"], "ascending"), [0, 1, 2]);
  assert.deepEqual(sorted([0, 1, 2], ["a", "a", "a"], "descending"), [0, 1, 2]);
});

test("numbers inside names count as numbers", () => {
  assert.deepEqual(sorted([0, 1, 2], ["a10", "a9", "a1"], "ascending"), [2, 1, 0]);
});

test("a cell sorts by its value, a text by the figure that it is", () => {
  assert.deepEqual(keysOf([{ text: "1.5 GiB", value: 7 }, 12, "unavailable", "3 MiB"]), [7, 12, null, 3 * 2 ** 20]);
  assert.deepEqual(keysOf(["1.5 GiB", "900 MiB", "unavailable", null]), [1.5 * 2 ** 30, 900 * 2 ** 20, null, null]);
  assert.deepEqual(keysOf([{ text: "b", strip: "s" }, "a10"]), ["b", "a10"]);
  assert.deepEqual(keysOf([NaN, 1]), [null, 1]);
});

test("a search finds the rows with all of its words", () => {
  const texts = ["solve.c:12 alpha", "solve.c:13 beta", "main.c:1 alpha"];
  assert.deepEqual(matching(texts, "  ALPHA solve "), [0]);
  assert.deepEqual(matching(texts, ""), [0, 1, 2]);
  assert.deepEqual(matching(texts, "("), []);
});

test("the third press gives back the first order", () => {
  assert.equal(nextDirection(undefined, true), "descending");
  assert.equal(nextDirection("descending", true), "ascending");
  assert.equal(nextDirection("ascending", true), undefined);
  assert.equal(nextDirection(undefined, false), "ascending");
});

test("figures with units are compared by their size", () => {
  assert.deepEqual(quantity("1.5 GiB"), { value: 1.5 * 2 ** 30, dimension: "bytes" });
  assert.deepEqual(quantity("10 000"), { value: 10000, dimension: "" });
  assert.deepEqual(quantity("12%"), { value: 0.12, dimension: "share" });
  assert.equal(quantity("node 0"), undefined);
  assert.equal(quantity("3 constructor")?.value, 3);
  assert.deepEqual(keysOfColumn(["1 GiB", "unknown", "900 MiB"]), [2 ** 30, null, 900 * 2 ** 20]);
});

test("a column that mixes figures of two kinds is sorted by its texts", () => {
  assert.deepEqual(keysOfColumn(["1 s", "2 GiB", "-"]), ["1 s", "2 GiB", null]);
});

test("only rows near the view are in the page", () => {
  assert.deepEqual(partAt(0, 300, 30, 10000), { first: 0, end: 22 });
  assert.deepEqual(partAt(30000, 300, 30, 10000), { first: 988, end: 1022 });
  assert.deepEqual(partAt(299999, 300, 30, 10000), { first: 9987, end: 10000 });
  assert.deepEqual(partAt(900, 300, 30, 0), { first: 0, end: 0 });
});

test("widths come from all rows and have a bound", () => {
  assert.deepEqual(widths(["a", "name"], [["1", "x".repeat(20)], ["2", "y".repeat(5000)]]), [6, 44]);
  assert.deepEqual(widths(["a"], [[]]), [6]);
});
