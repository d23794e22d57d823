// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// One remembered word. A page from file:// may have no storage, and the page works without.

export function remembered(name: string): string | null {
  try {
    return window.localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    window.localStorage.setItem(name, value);
  } catch {
    // The choice then lasts as long as the page is open.
  }
}
