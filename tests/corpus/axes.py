# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The axes of the corpus, and programs drawn from them.

Every program fills its arrays in the main thread and then works on them with eight threads, so that
first touch puts all pages on one node. What differs is how the work is shared out, how the arrays are
stored, who uses which part, and what the user gives on the command line.
"""

import dataclasses
import random
from collections import Counter

KIB, MIB = 1 << 10, 1 << 20

OPENMP = ("static", "dynamic", "tasks", "nested", "orphaned")
THREADS = ("team once", "team anew")

AXES: dict[str, tuple] = {
    "language": ("C", "C++", "Fortran"),
    "work": (*OPENMP, "workshare", *THREADS, "oneTBB"),
    "store": ("flat", "static", "rows"),
    "row_bytes": (16, 112, 216, KIB, 12 * KIB, 56 * KIB, 110 * KIB, 256 * KIB, MIB),
    "array_bytes": (8 * MIB, 16 * MIB, 64 * MIB),
    "use": ("plain", "ping-pong", "check at the end", "phases", "shuffled", "table", "components"),
    "made": ("each by a line", "by a wrapper"),
    "bind": ("none", "close", "spread"),
    "debug": ("-g", "none", "stripped"),
}
WORK = {
    "C": {*OPENMP, *THREADS},
    "C++": {*OPENMP, *THREADS, "oneTBB"},
    "Fortran": {"static", "dynamic", "orphaned", "workshare"},
}


@dataclasses.dataclass(frozen=True)
class Spec:
    """`row_bytes` is the unit of work; with the store `rows` each row is an allocation of its own."""

    language: str
    work: str
    store: str
    row_bytes: int
    array_bytes: int
    use: str
    made: str
    bind: str
    debug: str

    @property
    def width(self) -> int:
        """Numbers of 8 bytes in a row."""
        return self.row_bytes // 8

    @property
    def units(self) -> int:
        return self.array_bytes // self.row_bytes

    @property
    def sweeps(self) -> int:
        return 4

    @property
    def is_static(self) -> bool:
        """The same thread works on the same rows in each run. GCC has one thread do an array assignment of
        `workshare`, any of them, and oneTBB's threads take any slot of their arena."""
        return self.work not in ("dynamic", "tasks", "workshare", "oneTBB")

    @property
    def has_one_worker(self) -> bool:
        """One thread does all the work of a loop, in each loop any of them: no placement is better than another,
        and how far its pages are in one run is luck."""
        return self.work == "workshare"

    def is_possible(self) -> bool:
        return (
            self.work in WORK[self.language]
            and self.units >= 64
            and (self.use != "components" or self.store != "rows")
            and (self.made == "each by a line" or self.store == "flat")
            and (self.work != "workshare" or self.use in ("plain", "ping-pong", "check at the end"))
            # A row of 16 bytes as a task or an allocation of its own takes minutes to emulate.
            and (self.row_bytes >= KIB or self.array_bytes == 8 * MIB)
            and (self.store != "rows" or self.array_bytes <= 16 * MIB)
            and not (self.work == "workshare" and self.store == "rows")
        )

    def __str__(self) -> str:
        return ", ".join(
            str(value) if not name.endswith("_bytes") else f"{name.removesuffix('_bytes')}s of {size_text(value)}"
            for name, value in dataclasses.asdict(self).items()
        )


def size_text(size: int) -> str:
    return next((f"{size // unit} {name}" for unit, name in ((MIB, "MiB"), (KIB, "KiB")) if size % unit == 0), f"{size} B")


def draw(seed: int, count: int) -> list[Spec]:
    """`count` programs, the same for the same seed. Of a handful of random ones each time the one whose
    values were drawn least so far is taken, so that a small corpus meets every value, too."""
    lot = random.Random(seed)
    seen: Counter = Counter()
    found: list[Spec] = []

    def candidate() -> Spec:
        while True:
            made = Spec(**{name: lot.choice(values) for name, values in AXES.items()})
            if made.is_possible() and made not in found:
                return made

    def novelty(spec: Spec) -> float:
        return sum(1 / (1 + seen[each]) for each in dataclasses.asdict(spec).items())

    for _ in range(count):
        best = max((candidate() for _ in range(20)), key=novelty)
        seen.update(dataclasses.asdict(best).items())
        found.append(best)
    return found
