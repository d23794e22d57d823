// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "html/style.hpp"

namespace nodewise::html {

std::string_view page_style() noexcept {
  // The viewer's scheme decides, or data-theme, which the script sets.
  return R"css(
:root {
  color-scheme: light dark;
  --ink: #1c2430; --faint: #5b6675; --paper: #ffffff; --raised: #f5f7f9;
  --line: #aab3bf; --accent: #0b5cad; --node-0: #0072b2; --node-1: #e69f00; --node-2: #009e73;
  --node-3: #cc79a7; --node-4: #56b4e9; --node-5: #d55e00; --node-6: #f0e442; --node-7: #7f5fb3;
}
:root[data-theme="light"] { color-scheme: light; }
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) {
    --ink: #e8ecf1; --faint: #a3adb9; --paper: #161b22; --raised: #1f2630;
    --line: #4d5866; --accent: #7fb8f0;
  }
}
:root[data-theme="dark"] {
  color-scheme: dark;
  --ink: #e8ecf1; --faint: #a3adb9; --paper: #161b22; --raised: #1f2630;
  --line: #4d5866; --accent: #7fb8f0;
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1rem clamp(0.75rem, 3vw, 2.5rem) 4rem; max-width: 72rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
h1 { font-size: 1.1rem; font-weight: 600; margin: 0; color: var(--faint); }
h2 { font-size: 1.35rem; margin: 2.5rem 0 0.75rem; }
h3 { font-size: 1.05rem; margin: 1.25rem 0 0.5rem; }
h4 { font-size: 1rem; margin: 1rem 0 0.25rem; }
.verdict { font-size: 1.5rem; line-height: 1.35; margin: 0.5rem 0 1rem; max-width: 60ch; }
h1, h2, h3, h4, p, li, figcaption, summary { overflow-wrap: anywhere; }
p, li { max-width: 80ch; }
a { color: var(--accent); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; list-style: none; padding: 0; }
.remark, .source, figcaption, dt, caption { color: var(--faint); }
h2 .source { font-size: 1rem; font-weight: 400; margin-left: 0.5rem; overflow-wrap: anywhere; }
.remark, figcaption { font-size: 0.9rem; }
dl { margin: 0.75rem 0; }
dl > div { display: flex; flex-wrap: wrap; gap: 0 0.75rem; }
dt { flex: 0 0 9rem; }
dd { margin: 0; flex: 1 1 20rem; overflow-wrap: anywhere; }
article {
  background: var(--raised); border-left: 4px solid var(--accent); border-radius: 4px;
  padding: 0.25rem 1.25rem 1rem; margin: 1rem 0;
}
code, pre { font-family: ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; font-size: 0.9em; }
pre {
  background: var(--raised); border: 1px solid var(--line); border-radius: 4px;
  padding: 0.6rem 0.8rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere;
}
article pre { background: var(--paper); }
pre .word { display: inline-block; max-width: 100%; }
figure { margin: 1rem 0; }
.scroll { overflow-x: auto; }
.scroll:focus-visible, a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); }
table { border-collapse: collapse; margin: 0.5rem 0; font-size: 0.92rem; }
caption { text-align: left; padding-bottom: 0.25rem; }
th, td {
  text-align: left; vertical-align: top; padding: 0.25rem 1rem 0.25rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; min-width: 5ch; max-width: 40ch;
}
th { overflow-wrap: break-word; }
td:not(.number) { min-width: 14ch; }
td:first-child:not(.number) { min-width: 18ch; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
summary { cursor: pointer; color: var(--accent); }
svg { display: block; }
svg text { font-family: inherit; }
svg .text { fill: var(--ink); } svg .faint { fill: var(--faint); }
svg .field { fill: var(--paper); stroke: var(--line); }
svg .outline { fill: none; stroke: var(--line); }
svg .frame { fill: none; stroke: var(--line); opacity: 0.5; }
svg .missing { fill: none; stroke: var(--line); stroke-dasharray: 2 2; }
@media print {
  :root, :root[data-theme="dark"] {
    color-scheme: light;
    --ink: #000000; --faint: #444444; --paper: #ffffff; --raised: #ffffff; --line: #999999;
  }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  article, figure, tr { break-inside: avoid; }
  .scroll { overflow: visible; }
  svg { max-width: 100%; height: auto; }
}
)css";
}

} // namespace nodewise::html
