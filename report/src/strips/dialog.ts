// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The pages of one object, drawn when they are asked for.
import type { StripData } from "../data";
import { bytes, counted } from "../numbers";
import { button, element, newId } from "../page/elements";
import { makeBigTable } from "../tables/big_table";
import { bandView, type BandView } from "./band";
import { patterns, sampleOf } from "./picture";
import { nodeName, nodesOf, tableOf } from "./runs";

function keys(strip: StripData): HTMLElement {
  const parts = nodesOf(strip).map((node) => element("li", {}, sampleOf(node), nodeName(node)));
  return element("ul", { class: "report-keys", "aria-label": "Colours" }, ...parts);
}

function bands(strip: StripData, say: (text: string) => void): HTMLElement[] {
  const views: BandView[] = strip.bands.map((band, at) =>
    bandView(band, strip, say, (step, page) => views[at + step]?.focusAt(page)));
  return views.map(({ part }) => part);
}

/** The runs as a table, made when it is opened. */
function table(strip: StripData): HTMLElement {
  const details = element("details", {}, element("summary", {}, "Show as table"));
  details.addEventListener("toggle", () => {
    if (details.querySelector("table")) return;
    const made = element("table", {}, element("tbody"));
    details.append(made);
    makeBigTable(made, tableOf(strip), () => undefined, `Pages of ${strip.title}, as a table`);
  });
  return details;
}

/** Shows a strip above the page until it is closed; the browser then gives the keys back to what opened it. */
export function openStrip(strip: StripData): void {
  const id = newId();
  const dialog = element("dialog", { class: "report-dialog", "aria-labelledby": id });
  const said = element("output", { class: "report-said", "aria-live": "polite" }, "Choose a part of a band.");
  const size = strip.page_bytes === undefined ? "" : ` of ${bytes(strip.page_bytes)}`;
  const help = "Left and right arrow keys move along the parts of a band, up and down to the other bands. A part has the colour of the node with the largest share of it.";
  dialog.append(
    element("header", {}, element("h2", { id }, strip.title), button("Close", () => dialog.close())),
    element("p", {}, `${counted(strip.pages, "page")}${size}. ${help}`),
    patterns(),
    keys(strip),
    ...bands(strip, (text) => (said.textContent = text)),
    said,
    table(strip),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  dialog.querySelector<HTMLElement>(".report-band")?.focus();
}
