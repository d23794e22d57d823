// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Work in turns, so that the page answers between two of them.

const waiting: (() => void)[] = [];
let planned = false;

/** What it throws is reported, and leaves that part of the page as it was written. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    reportError(error);
  }
}

function next(): void {
  const work = waiting.shift();
  if (work) attempt(work);
  planned = waiting.length > 0;
  if (planned) window.setTimeout(next);
}

/** Does it after what waits already. */
export function later(work: () => void): void {
  waiting.push(work);
  if (!planned) {
    planned = true;
    window.setTimeout(next);
  }
}

/** Does at once what still waits: a print cannot wait. */
export function finish(): void {
  for (let work = waiting.shift(); work; work = waiting.shift()) attempt(work);
}
