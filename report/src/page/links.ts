// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// Links to sections: one in each heading, the section that is seen in the navigation, and closed parts that a link
// points into.
import { element } from "./elements";

function addAnchor(section: Element): void {
  const heading = section.querySelector("h2, h3");
  if (!heading || heading.querySelector("a")) return;
  const name = (heading.textContent ?? "").trim();
  const link = element("a", { class: "report-anchor", href: `#${section.id}`, "aria-label": `Link to ${name}` });
  heading.append(" ", link);
}

/** Opens what the address points into. */
function openTarget(): void {
  let id = window.location.hash.slice(1);
  try {
    id = decodeURIComponent(id);
  } catch {
    // An address that is not encoded names its part as it is.
  }
  const target = id ? document.getElementById(id) : null;
  let closed = target?.closest<HTMLDetailsElement>("details:not([open])");
  if (!target || !closed) return;
  while (closed) {
    closed.open = true;
    closed = target.closest<HTMLDetailsElement>("details:not([open])");
  }
  target.scrollIntoView();
}

function markSeen(links: HTMLAnchorElement[], sections: Element[]): void {
  const seen = new Set<Element>();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) seen.add(target);
      else seen.delete(target);
    }
    const first = sections.find((section) => seen.has(section));
    for (const link of links) {
      if (first && link.hash === `#${first.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  });
  sections.forEach((section) => observer.observe(section));
}

export function addSectionLinks(): void {
  const sections = [...document.querySelectorAll("main section[id]")];
  sections.forEach(addAnchor);
  markSeen([...document.querySelectorAll<HTMLAnchorElement>('body > nav a[href^="#"]')], sections);
  window.addEventListener("hashchange", openTarget);
  openTarget();
}
