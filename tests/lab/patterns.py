# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The examples by what is wrong with them: how to run each, what the lab must count, and what a
profile must find. One table, for the tests of the counts and of the profiler.

Sources have their own marks, comments that end a line: `made` where the array is asked for, `touch`
where a page is first touched in the wrong place, `use` in the loop that pays for it; several words
are separated by commas, and a word may name its array, as in `touch: val`.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import lab

EXAMPLES = lab.ROOT / "examples"
_MARK = re.compile(r"(?://|!) ((?:made|touch|use)\b.*)$")


@cache
def marked(source: str, word: str) -> tuple[str, ...]:
    """The lines of a source (a path under examples/) with that mark, as "usual.c:26"."""
    path = EXAMPLES / source
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        mark = _MARK.search(line)
        if mark and word in re.findall(r"\b(?:made|touch|use)\b", mark[1]):
            found.append(f"{path.name}:{number}")
    return tuple(found)


@dataclass(frozen=True)
class Share:
    """The remote share of the use phase, all arrays together: at two nodes and at four."""

    two: float
    four: float
    tolerance: float = 0.03

    def of(self, nodes: int) -> float:
        return {2: self.two, 4: self.four}[nodes]


LOCAL = Share(0, 0)
SPREAD = Share(1 / 2, 3 / 4)  # (n-1)/n
HALF = Share(1 / 4, 3 / 8)  # (n-1)/n of one half


@dataclass(frozen=True)
class Form:
    """How a program is run: a path under the build's examples/, and its arguments."""

    command: str
    remote: Share

    @property
    def name(self) -> str:
        return self.command.split()[0].rsplit("/", 1)[-1]

    def words(self) -> list[str]:
        program, *arguments = self.command.split()
        return [str(lab.BUILD / "examples" / program), *arguments]


@dataclass(frozen=True)
class Program:
    pattern: str
    usual: Form
    cured: Form | None
    # Sources with marks; static arrays are named, since they have no line that asks for them.
    sources: tuple[str, ...]
    static: tuple[str, ...] = ()
    # The counter names what a function of the program's own asks for by that function's line alone.
    by_caller: bool = False

    @property
    def name(self) -> str:
        return self.usual.name

    def _marked(self, word: str) -> tuple[str, ...]:
        return tuple(line for source in self.sources for line in marked(source, word))

    def guilty(self) -> tuple[str, ...]:
        """The objects that are to blame, as `run --verify` and the counts name them."""
        return self.static or self._marked("made")

    def touches(self) -> tuple[str, ...]:
        """The lines that touch the guilty objects first; empty where that is no line's fault."""
        return self._marked("touch")

    def uses(self) -> tuple[str, ...]:
        return self._marked("use")

    def forms(self) -> tuple[Form, ...]:
        return (self.usual,) if self.cured is None else (self.usual, self.cured)


def row(
    pattern: str,
    command: str,
    sources: str,
    remote: Share = SPREAD,
    cured: Share | None = LOCAL,
    *,
    cured_command: str | None = None,
    static: tuple[str, ...] = (),
    by_caller: bool = False,
) -> Program:
    """Sources are in the folder of the program, or relative to it; the cured form takes the same
    arguments unless it is given."""
    program, *arguments = command.split()
    folder = program.split("/")[0]
    second = cured_command or " ".join([f"{program}-cured", *arguments])
    return Program(
        pattern,
        Form(command, remote),
        None if cured is None else Form(second, cured),
        tuple(f"{folder}/{source}" for source in sources.split()),
        static,
        by_caller,
    )


SERIAL, MEMBERS, TASKS = "serial initialisation", "dynamic members", "tasks"

# Counted here for the first time.
PROGRAMS = (
    row("growing vector", "push-back/push-back", "usual.cpp records.hpp"),
    row("placed by capacity", "push-back/push-back-misplaced", "touching.hpp records.hpp",
        cured_command="push-back/push-back-cured"),
    row(MEMBERS, "object-members/object-members 32 4", "station.hpp", Share(0.49, 0.735)),
    row("headers touched serially", "jagged/jagged", "usual.c"),
    # The first nodes have the shorter rows, and less of the matrix's traffic.
    row("sparse matrix", "sparse-matrix/sparse-matrix", "usual.c matrix.h", Share(0.57, 0.795)),
    row("sparse matrix", "sparse-matrix/sparse-matrix-f", "usual.f90", Share(0.57, 0.805),
        cured_command="sparse-matrix/sparse-matrix-f-cured"),
    # The agent pins the threads that the program makes: the main thread, with an eighth of the work,
    # may move.
    row("memset", "memset-touch/memset-touch", "usual.c ../shared/workers.h",
        Share(1 / 2, 3 / 4, 0.13), Share(0, 0, 0.13)),
    row("static arrays", "static-arrays/static-arrays", "usual.c", static=("field", "weight")),
    row("static arrays", "static-arrays/static-arrays-f", "usual.f90",
        static=("fields::field", "weights_")),
    row("half parallel", "half-parallel/half-parallel", "usual.c", HALF),
    # A dirty line that the other phase wants comes from a cache, not from memory.
    row("two axes", "axes/axes", "usual.c", cured=Share(0.24, 0.355)),
    # The emulated processors take turns: one may do nearly all tasks.
    row(TASKS, "tasks/tasks", "usual.cpp pieces.hpp", Share(1 / 2, 3 / 4, 0.5)),
    row(TASKS, "tasks/tasks-omp", "usual.c pieces.h", Share(1 / 2, 3 / 4, 0.5)),
)  # fmt: skip

# By chance, so not in any table of shares: threads go where the kernel sends them.
UNPINNED = row(
    "threads not pinned", "unpinned/unpinned", "usual.c ../shared/workers.h", Share(1 / 2, 3 / 4, 0.75)
)

KERNELS = (
    row(SERIAL, "kernels/cg", "cg.c", by_caller=True),
    row(SERIAL, "kernels/mg", "mg.c", by_caller=True),
    row(SERIAL, "kernels/ft", "ft.c", cured=HALF, by_caller=True),
    row(SERIAL, "kernels/is", "is.c", cured=Share(0.10, 0.15), by_caller=True),  # (n-1)/5n
    row(SERIAL, "kernels/stencil", "stencil.F90"),
)  # fmt: skip

# Counted by examples_traffic_test.py too, which knows more about them.
EARLIER = (
    row(SERIAL, "first-touch/first-touch 16", "usual.c"),
    row(SERIAL, "first-touch/first-touch-f 16", "usual.f90",
        cured_command="first-touch/first-touch-cured-f 16"),
    row("serial file read", "file-read/file-read", "usual.c"),
    row("constructors", "vector/vector", "usual.cpp"),
    row("constructors", "new-array/new-array", "usual.cpp"),
    row("misplaced rows", "triangular/triangular-misplaced 2048", "misplaced.c matrix.h",
        cured_command="triangular/triangular-cured 2048"),
    row("schedule is not the first touch's", "schedules/schedules blocked static,4096 32",
        "schedules.c", cured_command="schedules/schedules blocked static 32"),
)  # fmt: skip

# What is wrong with these is not, or not only, a share of remote lines: examples_traffic_test.py says
# what each must show.
OTHERS = (
    row("one process larger than a node", "process-per-node/process-per-node", "usual.c"),
    row("teams spread, data not", "nested/nested", "usual.c", Share(1 / 2, 1 / 2)),
    row("fewer threads than nodes", "few-threads/few-threads 1", "usual.c", LOCAL, SPREAD),
    row("full buffer cache", "buffer-cache/buffer-cache 200 64", "usual.c", Share(0.5, 0.25, 0.06)),
    row("unbalanced work", "triangular/triangular 2048", "usual.c matrix.h", LOCAL),
    row("false sharing", "false-sharing/false-sharing", "usual.c", LOCAL, static=("counters",)),
)
