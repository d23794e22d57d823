# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Remote traffic of all runs: of the whole program, by array and by source line, base beside head.

Each figure is in percent of the cache lines that the base fetched. So a change that only removes local traffic does
not look like more remote traffic, and the figures of the arrays add up to that of the program.
"""

import os
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_nodewise import Traffic

from .checkout import LineMap

PHASES = {"use": ("use",), "init": ("init",), "all": ("init", "use")}
TOGETHER = "new and removed arrays together"
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")


@dataclass(frozen=True)
class Row:
    name: str
    base: tuple[float, ...]
    head: tuple[float, ...]
    place: tuple[str, int] | None = None  # file and line in the head
    judged: bool = True

    @property
    def change(self) -> float:
        return statistics.median(self.head) - statistics.median(self.base)


@dataclass(frozen=True)
class Comparison:
    base_lines: int  # cache lines, which are 100 %
    head_lines: int
    whole: Row
    arrays: list[Row] = field(default_factory=list)
    lines: list[Row] = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """A name in the results, the same for base and head if it is the same thing."""

    name: str
    file: str = ""
    line: int = 0
    gone: bool = False  # in the base only


@dataclass(frozen=True)
class Side:
    """Where a side's files are, and what its source lines are called in the head."""

    root: Path
    folder: Path  # the command ran here
    head_line: Callable[[str, int], tuple[str, int] | None] = lambda file, line: (file, line)

    def place(self, entry: dict) -> Place:
        if "file" not in entry or "line" not in entry:
            return Place(_OFFSET.sub("", entry["name"]))  # offsets differ after each compilation
        file, line = self._relative(entry["file"]), entry["line"]
        there = self.head_line(file, line)
        if there is None:
            return Place(f"{file}:{line}", gone=True)
        return Place(f"{there[0]}:{there[1]}", *there)

    def _relative(self, file: str) -> str:
        for path in (self.folder / file, self.root / file):
            if path.exists():
                file = os.path.normpath(path)
                break
        return file.removeprefix(f"{self.root}/")


def sides(base_root: Path, head_root: Path, inside: Path, mapped: LineMap) -> tuple[Side, Side]:
    return Side(base_root, base_root / inside, mapped.head), Side(head_root, head_root / inside)


def _lines(entry: dict, phase: str, kinds: Sequence[str]) -> int:
    return sum(entry[each][f"{kind}_lines"] for each in PHASES[phase] for kind in kinds)


def remote_lines(entry: dict, phase: str) -> int:
    """Cache lines of an unknown node are not local."""
    return _lines(entry, phase, ("remote", "unknown"))


def all_lines(entry: dict, phase: str) -> int:
    return _lines(entry, phase, ("local", "remote", "unknown"))


def _by_place(entries: Iterable[dict], side: Side, phase: str) -> dict[Place, int]:
    found: dict[Place, int] = defaultdict(int)
    for entry in entries:
        found[side.place(entry)] += remote_lines(entry, phase)
    return found


def _rows(base: list[dict[Place, int]], head: list[dict[Place, int]], percent: float) -> list[Row]:
    """In the order of the change. What only one side has is not judged by itself, since it may have got a new name."""
    in_base, in_head = ({place for run in runs for place in run} for runs in (base, head))

    def row(place: Place) -> Row:
        figures = [tuple(run.get(place, 0) * percent for run in runs) for runs in (base, head)]
        where = (place.file, place.line) if place.file else None
        return Row(place.name, *figures, where, judged=place in in_base and place in in_head)

    return sorted(map(row, in_base | in_head), key=lambda row: (-row.change, row.name))


def _together(rows: list[Row]) -> list[Row]:
    alone = [row for row in rows if not row.judged]
    if not alone:
        return []
    base, head = (tuple(map(sum, zip(*runs))) for runs in ([r.base for r in alone], [r.head for r in alone]))
    return [Row(TOGETHER, base, head)]


def compared(base: list[Traffic], head: list[Traffic], of: tuple[Side, Side], phase: str) -> Comparison:
    """Raises LabError if a run has too few cache lines to judge."""
    for run in (*base, *head):
        run.remote(phase=phase)
    documents = [[run.document for run in runs] for runs in (base, head)]
    totals = [round(statistics.median(all_lines(each, phase) for each in runs)) for runs in documents]
    percent = 100 / totals[0]
    whole = (tuple(remote_lines(each, phase) * percent for each in runs) for runs in documents)

    def rows(entries: Callable[[dict], Iterable[dict]]) -> list[Row]:
        by_place = ([_by_place(entries(each), side, phase) for each in runs] for runs, side in zip(documents, of))
        return _rows(*by_place, percent)

    arrays = rows(lambda document: document["sites"])
    lines = rows(lambda document: (each for each in document["lines"] if "line" in each))
    return Comparison(*totals, Row("all traffic", *whole), arrays + _together(arrays), lines)
