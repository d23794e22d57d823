// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { member, readData } from "report/data";
import { bytes, counted, grouped, labelled, short } from "report/numbers";

test("data of another version, or none, gives a static page", () => {
  assert.deepEqual(readData("{"), {});
  assert.deepEqual(readData("null"), {});
  assert.deepEqual(readData('{"schema": "nodewise/report-data/2", "tables": {}}'), {});
  assert.ok(readData('{"schema": "nodewise/report-data/1", "tables": {}}').tables);
});

test("names that every object has are names like others", () => {
  const { tables } = readData('{"tables": {"__proto__": {"columns": [], "rows": []}}}');
  assert.equal(member(tables, "constructor"), undefined);
  assert.ok(member(tables, "__proto__"));
  assert.equal(member(undefined, "a"), undefined);
});

test("numbers in words", () => {
  assert.equal(grouped(1234567), "1\u202f234\u202f567");
  assert.equal(short(0.123456), "0.1235");
  assert.equal(short(12345.6), "12\u202f346");
  assert.equal(short(NaN), "unknown");
  assert.equal(short(1e-7), "1.000e-7");
  assert.equal(counted(1, "row"), "1 row");
  assert.equal(counted(0, "row"), "0 rows");
  assert.equal(bytes(4096 * 128), "512 KiB");
  assert.equal(labelled("time", "s"), "time (s)");
  assert.equal(labelled(undefined, undefined), "");
});
