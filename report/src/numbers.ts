// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Numbers in words, for tooltips, counts and cells.

/** "10 000": grouped by thin spaces, as SI writes them. */
export function grouped(value: number): string {
  const [whole = "", part] = String(value).split(".");
  const text = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return part === undefined ? text : `${text}.${part}`;
}

/** Four significant digits, and never more than there are. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "unknown";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(3);
  return size >= 1000 ? grouped(Math.round(value)) : String(Number(value.toPrecision(4)));
}

/** "1 row", "2 rows". */
export function counted(count: number, one: string): string {
  return `${grouped(count)} ${one}${count === 1 ? "" : "s"}`;
}

/** "64 KiB", by powers of 1024; exact where it is a whole number of the unit. */
export function bytes(count: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${short(value)} ${units[unit] ?? ""}`;
}

/** "time (s)", or the label alone. */
export function labelled(label: string | undefined, unit: string | undefined): string {
  if (!label) return unit ?? "";
  return unit ? `${label} (${unit})` : label;
}
