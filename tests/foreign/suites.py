# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Tests that others wrote for programs of theirs, as cases that run one by one.

A case is a command. What it is compared by is its exit code and what `outcome` finds in its output:
nothing, all of it, or the counts of a summary. The words in front of the program ("nodewise run
--memory blocked --", or none) take the place of PREFIX; a script gets them as "$@".
"""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "<prefix>"
SCRIPTS = Path(__file__).resolve().parent / "scripts"


def nothing(_: str) -> str:
    return ""


def everything(output: str) -> str:
    return output


def pytest_counts(output: str) -> str:
    """ "12 passed, 3 skipped" of the last line, without its warnings and its seconds."""
    return ", ".join(re.findall(r"\d+ (?:passed|failed|error\w*|skipped|xfailed|xpassed)", output.splitlines()[-1]))


@dataclass(frozen=True)
class Case:
    name: str
    command: tuple[str, ...]
    outcome: Callable[[str], str] = nothing

    def words(self, prefix: list[str]) -> list[str]:
        at = self.command.index(PREFIX)
        return [*self.command[:at], *prefix, *self.command[at + 1 :]]


@dataclass(frozen=True)
class Suite:
    """`packages` are Debian's. `cases` is asked where they are installed. Cases run two at a time, but
    `alone`."""

    name: str
    packages: tuple[str, ...]
    version: tuple[str, ...]
    cases: Callable[[], list[Case]] = field(repr=False)
    alone: bool = False


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout


def script(name: str, *words: str, suite: str) -> Case:
    """A file of scripts/: its arguments, "--", and the prefix."""
    path = str(SCRIPTS / f"{suite}.sh")
    return Case(name, ("bash", path, *words, "--", PREFIX), everything)


PYTHON = "/usr/bin/python3"
PYTHON_TESTS = f"lib{Path(PYTHON).resolve().name}-testsuite"  # libpython3.11-testsuite, ...
# These need a network or a terminal, or test the time that something takes.
NOT_CPYTHON = {
    "test_ssl", "test_urllib2net", "test_urllibnet", "test_robotparser", "test_timeout", "test_socket",
    "test_asyncio", "test_signal", "test_faulthandler", "test_gdb",
}  # fmt: skip


def cpython() -> list[Case]:
    names = output_of(PYTHON, "-m", "test", "--list-tests").split()
    return [Case(n, (PREFIX, PYTHON, "-m", "test", "-q", n)) for n in names if n not in NOT_CPYTHON]


def numpy() -> list[Case]:
    folder = Path(output_of(PYTHON, "-c", "import numpy; print(numpy.__path__[0])").strip())
    command = (PREFIX, PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly")
    files = sorted(folder.rglob("tests/test_*.py"))
    return [Case(str(file.relative_to(folder)), (*command, str(file)), pytest_counts) for file in files]


def stress_ng() -> list[Case]:
    listed = subprocess.run(["stress-ng", "--class", "memory?"], capture_output=True, text=True, check=False)
    names = (listed.stdout + listed.stderr).split(":", 1)[1].split()
    command = (PREFIX, "stress-ng", "--quiet", "--verify", "--timeout", "2", "--oomable")
    return [Case(name, (*command, f"--{name}", "2")) for name in names]


def postgresql() -> list[Case]:
    return [script(f"pgbench, {what}, checksums", what, suite="postgresql") for what in ("tpcb-like", "select-only")]


def redis() -> list[Case]:
    return [script("populate, benchmark, reload, digest", suite="redis")]


def sqlite() -> list[Case]:
    return [script("rows, indices, vacuum, integrity", suite="sqlite")]


def java() -> list[Case]:
    return [script(f"javac with {gc}", gc, suite="java") for gc in ("G1", "Z", "Parallel", "Serial")]


def node() -> list[Case]:
    return [script(program, program, suite="node") for program in ("uglifyjs", "tsc")]


def go() -> list[Case]:
    packages = ("bytes", "compress/...", "container/...", "encoding/json", "hash/...", "runtime", "sort", "strings", "sync")
    built = script("the compiler builds gofmt", suite="go")
    return [built, *(Case(f"test {p}", (PREFIX, "go", "test", "-short", "-count=1", p)) for p in packages)]


def rust() -> list[Case]:
    return [script("rayon's own tests", suite="rust")]


EVERY = (
    Suite("CPython", ("python3", PYTHON_TESTS), (PYTHON, "--version"), cpython),
    Suite("NumPy", ("python3-numpy", "python3-pytest", "python3-hypothesis"),
          (PYTHON, "-c", "import numpy; print(numpy.__version__)"), numpy),
    Suite("stress-ng", ("stress-ng",), ("stress-ng", "--version"), stress_ng, alone=True),
    Suite("PostgreSQL", ("postgresql", "postgresql-contrib"), ("psql", "--version"), postgresql),
    Suite("Redis", ("redis-server", "redis-tools"), ("redis-server", "--version"), redis),
    Suite("SQLite", ("sqlite3",), ("sqlite3", "--version"), sqlite),
    Suite("Java", ("openjdk-17-jdk-headless", "openjdk-17-source"), ("java", "--version"), java),
    Suite("Node", ("nodejs", "node-typescript", "uglifyjs"), ("node", "--version"), node),
    Suite("Go", () if shutil.which("go") else ("golang-go",), ("go", "version"), go),
    Suite("Rust", () if shutil.which("cargo") else ("cargo",), ("cargo", "--version"), rust),
)  # fmt: skip
