// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Figures as text: "1.5 GiB" is more than "900 MiB".
import type { Key } from "./order";

const UNITS: Record<string, [dimension: string, factor: number]> = {
  "%": ["share", 0.01],
  B: ["bytes", 1], byte: ["bytes", 1], bytes: ["bytes", 1],
  KiB: ["bytes", 2 ** 10], MiB: ["bytes", 2 ** 20], GiB: ["bytes", 2 ** 30], TiB: ["bytes", 2 ** 40],
  kB: ["bytes", 1e3], MB: ["bytes", 1e6], GB: ["bytes", 1e9], TB: ["bytes", 1e12],
  "B/s": ["rate", 1], "kB/s": ["rate", 1e3], "MB/s": ["rate", 1e6], "GB/s": ["rate", 1e9],
  "KiB/s": ["rate", 2 ** 10], "MiB/s": ["rate", 2 ** 20], "GiB/s": ["rate", 2 ** 30],
  ns: ["time", 1e-9], us: ["time", 1e-6], "µs": ["time", 1e-6], ms: ["time", 1e-3], s: ["time", 1], min: ["time", 60],
};
const FIGURE = /^([-+\u2212]?\d[\d ,\u00a0\u202f]*(?:\.\d+)?(?:e[-+]?\d+)?)\s*(\S*)$/i;
const UNKNOWN = new Set(["", "-", "–", "—", "unknown", "unavailable", "not known"]);

/** Words for what was not observed: they are no names, and are sorted last. */
export function isUnknown(text: string): boolean {
  return UNKNOWN.has(text.trim().toLowerCase());
}

export interface Quantity {
  value: number;
  dimension: string;
}

/** The figure that a text is, in the unit of its dimension; nothing if it is not one figure. */
export function quantity(text: string): Quantity | undefined {
  const [, digits, name = ""] = FIGURE.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const value = Number(digits.replace(/[ ,\u00a0\u202f]/g, "").replace("\u2212", "-"));
  const [dimension, factor] = (Object.hasOwn(UNITS, name) ? UNITS[name] : undefined) ?? [name, 1];
  return Number.isNaN(value) ? undefined : { value: value * factor, dimension };
}

/** Keys by which a column is sorted: figures if all known cells are figures of one dimension, else their texts. */
export function keysOfColumn(texts: string[]): Key[] {
  const known = texts.map((text) => !isUnknown(text));
  const figures = texts.map(quantity);
  const dimensions = new Set(figures.filter((_, at) => known[at]).map((figure) => figure?.dimension));
  const sameKind = dimensions.size === 1 && !dimensions.has(undefined);
  return texts.map((text, at) => (known[at] ? (sameKind ? (figures[at]?.value ?? null) : text) : null));
}
