# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Many command lines in one guest, and the tables of lines in docs."""

import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from lab import BUILD, FOUR_NODES, PYTHON, ROOT, run

PROBE = BUILD / "tests/where_threads_run"
PROBE_LLVM = BUILD / "tests/where_threads_run_llvm"


class Done(NamedTuple):
    """What a line came to."""

    line: str
    status: int
    out: str
    err: str


def in_guest(lines: list[str], machine: Path = FOUR_NODES, options: tuple[str, ...] = ()) -> list[Done]:
    """Runs each line by a shell of its own, one after the other, all in one guest (or cluster, by the options)."""
    server = ROOT / "tests/lab/lines_in_guest.py"
    path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
    result = run(PYTHON, "-IB", str(server), input=json.dumps(lines).encode(), machine=machine, options=options,
                 env=os.environ | {"PATH": path}, timeout=900)
    if result.returncode != 0:
        raise AssertionError(f"{result.returncode}: {result.stdout!r} {result.stderr.decode()}")
    return [Done(line, *done) for line, done in zip(lines, json.loads(result.stdout), strict=True)]


def tables(heading: str) -> list[tuple[str, str]]:
    """The pairs of lines (theirs, ours) of the tables below a heading of docs/run.md."""
    text = (ROOT / "docs/run.md").read_text()
    part = text.split(f"\n### {heading}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", part, re.MULTILINE)
    if not rows:
        raise AssertionError(f"no table of lines under {heading}")
    return rows


def own_lines(page: str) -> list[str]:
    """The lines of Nodewise in the tables of a page of docs, in the page's order."""
    rows = re.findall(r"^\| .* \|$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    return [line for row in rows for line in re.findall(r"`(nodewise [^`]+)`", row)]


def with_probe(line: str, mode: str = "") -> str:
    """The line with ./a replaced by the probe."""
    return re.sub(r"\./a$", f"{PROBE} {mode}".strip(), line)
