// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
// The switch between the system's colours, light and dark.
import { element } from "./elements";
import { remember, remembered } from "./kept";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const NAME = "nodewise-report-theme";

export function isTheme(text: string | null): text is Theme {
  return THEMES.some((theme) => theme === text);
}

function apply(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
}

/** The switch, as the last part of the header. */
export function addThemeSwitch(): void {
  const kept = remembered(NAME);
  const now: Theme = isTheme(kept) ? kept : "auto";
  apply(now);
  const choices = THEMES.map((theme) => {
    const input = element("input", { type: "radio", name: NAME, value: theme });
    input.checked = theme === now;
    input.addEventListener("change", () => {
      apply(theme);
      remember(NAME, theme);
    });
    return element("label", {}, input, element("span", {}, theme));
  });
  const place = document.querySelector("body > header") ?? document.body;
  place.append(element("fieldset", { class: "report-theme" }, element("legend", {}, "Theme"), ...choices));
}
