# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The comparison as a comment in Markdown, and as SARIF 2.1.0."""

import statistics
from dataclasses import dataclass
from urllib.parse import quote

from .threshold import Limit, is_alarm, limit_of
from .traffic import Comparison, Row

# A comment begins with it, so that the next comment replaces this one (workflows/placement-comment.yml).
MARK = "<!-- nodewise-placement -->"
_MOST_ROWS = 10
_LEAST_SHOWN = 0.05  # percentage points
_WIDE_SPREAD = 5.0


@dataclass(frozen=True)
class Judged:
    row: Row
    limit: Limit
    alarm: bool


def judged(row: Row, tolerance: float) -> Judged:
    limit = limit_of(row.base, tolerance)
    return Judged(row, limit, row.judged and is_alarm(row.head, limit))


@dataclass(frozen=True)
class Verdict:
    comparison: Comparison
    whole: Judged
    arrays: list[Judged]

    @property
    def alarms(self) -> list[Judged]:
        return [each for each in (self.whole, *self.arrays) if each.alarm]


def verdict(comparison: Comparison, tolerance: float) -> Verdict:
    arrays = [judged(row, tolerance) for row in comparison.arrays]
    return Verdict(comparison, judged(comparison.whole, tolerance), arrays)


def code(text: str) -> str:
    """A code span that a cell of a table can contain. Names of a program may hold any characters."""
    plain = "".join(each if each.isprintable() else "?" for each in text)
    return f"`{plain.replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def _percents(runs: tuple[float, ...]) -> str:
    low, high = (f"{value:.1f}" for value in (min(runs), max(runs)))
    return f"{low} %" if low == high else f"{low} to {high} %"


def _array_line(each: Judged, name: str) -> str:
    row = each.row
    above = f"{each.limit.alarm_above:.1f} %" if row.judged else "-"
    change = f"{row.change:+.1f}" + (" **alarm**" if each.alarm else "")
    return f"| {name} | {_percents(row.base)} | {_percents(row.head)} | {change} | {above} |"


def _shown(rows: list[Row]) -> list[Row]:
    changed = [row for row in rows if abs(row.change) >= _LEAST_SHOWN]
    return sorted(changed, key=lambda row: -abs(row.change))[:_MOST_ROWS]


def _arrays_text(all_of: Verdict) -> list[str]:
    chosen = _shown([each.row for each in all_of.arrays])
    shown = [each for each in all_of.arrays if each.alarm or each.row in chosen]
    head = ["| remote traffic of | base | head | change | alarm above |", "|---|---:|---:|---:|---:|"]
    whole = _array_line(all_of.whole, "all traffic")
    return [*head, whole, *(_array_line(each, code(each.row.name)) for each in shown), ""]


def _lines_text(rows: list[Row]) -> list[str]:
    shown = _shown(rows)
    if not shown:
        return ["No source line has changed its remote traffic.", ""]
    head = ["| remote traffic by source line | base | head | change |", "|---|---:|---:|---:|"]
    cells = (f"| {code(r.name)} | {_percents(r.base)} | {_percents(r.head)} | {r.change:+.1f} |" for r in shown)
    return [*head, *cells, ""]


def _method_text(all_of: Verdict, tolerance: float) -> list[str]:
    runs, limit = len(all_of.whole.row.base), all_of.whole.limit
    sentences = [
        f"100 % are the {all_of.comparison.base_lines} cache lines that the base fetched; the head fetched "
        f"{all_of.comparison.head_lines} (medians of {runs} runs).",
        f"An alarm needs all {runs} runs of the head above the limit. The limit is the highest run of the base, plus the "
        f"spread of its runs ({limit.spread:.1f} points for all traffic) or {tolerance:g} points, whichever is more.",
    ]
    if limit.threshold < 100:
        sentences.append(f"The threshold for all traffic is an increase by {limit.threshold:.1f} points.")
    if limit.spread > _WIDE_SPREAD:
        sentences.append(
            f"**The runs of the base differ by {limit.spread:.1f} points**, so small changes are not found. Are the "
            "threads bound (`OMP_PROC_BIND=spread OMP_PLACES=cores`)?"
        )
    return [" ".join(sentences), ""]


def markdown(all_of: Verdict, what: str, machine: str, phase: str, tolerance: float) -> str:
    when = {"use": "in use", "init": "in initialisation", "all": "in all phases"}[phase]
    title = "More memory traffic is remote" if all_of.alarms else "Memory placement is as before"
    parts = [
        [MARK, f"### {title}", "", f"{code(what)} on {code(f'lab:{machine}')}, traffic {when}.", ""],
        _arrays_text(all_of),
        _lines_text(all_of.comparison.lines),
        _method_text(all_of, tolerance),
    ]
    return "\n".join(line for part in parts for line in part)


def _message(each: Judged) -> str:
    row = each.row
    base, head = (statistics.median(runs) for runs in (row.base, row.head))
    return (
        f"Remote traffic of {row.name} grew from {base:.1f} to {head:.1f} percent of the base's traffic; more than "
        f"{each.limit.alarm_above:.1f} percent is an alarm."
    )


def sarif(all_of: Verdict, version: str) -> dict:
    """One result for each alarm, at the source line whose remote traffic has grown most."""
    grown = next((r.place for r in all_of.comparison.lines if r.place and r.change > 0), None)
    results = []
    for each in all_of.alarms:
        result = {"ruleId": "remote-traffic-grew", "level": "error", "message": {"text": _message(each)}}
        if place := grown or each.row.place:
            where = {"artifactLocation": {"uri": quote(place[0])}, "region": {"startLine": max(place[1], 1)}}
            result["locations"] = [{"physicalLocation": where}]
        results.append(result)
    rule = {
        "id": "remote-traffic-grew",
        "shortDescription": {"text": "More memory traffic is remote than on the base branch."},
        "help": {"text": "Let the thread that uses a part of an array also write it first."},
    }
    driver = {"name": "Nodewise CI", "version": version, "rules": [rule]}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
