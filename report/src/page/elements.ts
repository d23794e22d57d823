// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Elements with their attributes and their content. Data becomes text here and never markup.

const SVG = "http://www.w3.org/2000/svg";
type Content = Node | string;

function filled<E extends Element>(made: E, attributes: Record<string, string>, content: Content[]): E {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...content: Content[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(name), attributes, content);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...content: Content[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS(SVG, name), attributes, content);
}

export function button(text: string, act: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  const made = element("button", { type: "button", class: "report-button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

let identities = 0;
/** An id that the page does not have yet. */
export function newId(): string {
  do identities += 1;
  while (document.getElementById(`report-${identities}`));
  return `report-${identities}`;
}

/** The nearest heading that names an element, for labels of what the script adds. */
export function nameOf(of: Element): string {
  const own = of.closest("figure")?.querySelector("figcaption") ?? of.querySelector("caption");
  const heading = own ?? of.closest("section")?.querySelector("h2, h3");
  return heading?.textContent?.trim().slice(0, 200) || "table";
}
