# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The command line: builds base and head, runs both in the lab, writes the comparison."""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_nodewise import LabError, Machine, Traffic
from pytest_nodewise.errors import LabUnavailable

from .checkout import base_files, commit_of, git, line_map
from .comment import Verdict, markdown, sarif, verdict
from .threshold import FEWEST_RUNS
from .traffic import PHASES, compared, sides

_OK, _ALARM, _NOT_JUDGED, _LAB_FAILED = 0, 1, 3, 125


def _number_of(kind: Callable, least: float, what: str) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            number = kind(text)
        except ValueError:
            number = least - 1
        if not least <= number < 1e6:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return number

    return parse


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nodewise-ci", usage="%(prog)s --base COMMIT [options] -- PROGRAM [ARGUMENT]...", allow_abbrev=False,
        description="Run PROGRAM in the lab before and after a change, and compare the remote memory traffic of its "
        "arrays and source lines. Start in the folder of the head. Exit codes: 0 as before, 1 more traffic is "
        "remote, 2 invalid command line, 3 not judged, 125 the lab failed.",
    )  # fmt: skip
    runs, points = f"a number of runs ({FEWEST_RUNS} or more)", "a number of percentage points"
    add = parser.add_argument
    add("--base", required=True, metavar="COMMIT", help="the commit to compare with")
    add("--on", default="4x2", metavar="MACHINE", help="the machine of the lab (default: 4x2)")
    add("--build", metavar="COMMAND", help="build PROGRAM by this command of the shell, in base and head")
    add("--runs", type=_number_of(int, FEWEST_RUNS, runs), default=10, metavar="N", help="runs of each (default: 10)")
    add("--tolerance", type=_number_of(float, 0, points), default=0.5, metavar="POINTS",
        help="least increase that is an alarm, in percentage points (default: 0.5)")  # fmt: skip
    add("--phase", choices=sorted(PHASES), default="use", help="phase of the traffic (default: use)")
    add("--option", action="append", default=[], metavar="OPTION",
        help="an option of `nodewise run`, such as --option=--bind=close (repeatable)")  # fmt: skip
    add("--timeout", type=_number_of(int, 1, "a number of seconds"), metavar="SECONDS",
        help="time limit of a run (default: 600)")  # fmt: skip
    add("--output", default="nodewise-placement", metavar="DIR", type=Path,
        help="write comment.markdown and placement.sarif there (default: nodewise-placement)")  # fmt: skip
    add("--nodewise", default="nodewise", metavar="FILE", help="the command nodewise (default: from PATH)")
    add("program", nargs="+", help=argparse.SUPPRESS)
    return parser


@dataclass(frozen=True)
class _Task:
    given: argparse.Namespace
    head: Path  # the folder where we are

    def build(self, side: str, folder: Path) -> None:
        if not self.given.build:
            return
        print(f"building the {side}", flush=True)
        status = subprocess.run(["sh", "-c", self.given.build], cwd=folder, stdin=subprocess.DEVNULL).returncode
        if status != 0:
            raise LabError(f"build the {side}: {self.given.build}", f"it failed with status {status}")

    def run(self, side: str, folder: Path) -> Traffic:
        given = self.given
        # A machine file is that of the head in both runs.
        name = str(self.head / given.on.removeprefix("lab:")) if given.on.endswith(".json") else given.on
        try:
            return Machine(name, given.nodewise).run(
                given.program, options=given.option, timeout=given.timeout, cwd=folder
            )
        except LabUnavailable:
            raise
        except LabError as error:
            raise LabError(f"run the {side}", str(error)) from error

    def verdict(self) -> Verdict:
        given = self.given
        root = Path(git("rev-parse", "--show-toplevel", folder=self.head).rstrip("\n")).resolve()
        inside = self.head.relative_to(root)
        commit = commit_of(given.base, root)
        with base_files(commit, root) as base_root:
            folders = {"base": base_root / inside, "head": self.head}
            for side, folder in folders.items():
                if not folder.is_dir():
                    raise LabError(f"--base {given.base}", f"it has no folder {inside}")
                self.build(side, folder)
            runs: dict[str, list[Traffic]] = {side: [] for side in folders}
            for number in range(given.runs):
                for side, folder in folders.items():  # in turn, so that what changes slowly changes both
                    runs[side].append(self.run(side, folder))
                    share = runs[side][-1].remote(phase=given.phase)
                    print(f"{side}, run {number + 1} of {given.runs}: {share:.2%} of the traffic is remote", flush=True)
            named = sides(base_root, root, inside, line_map(commit, root))
            return verdict(compared(runs["base"], runs["head"], named, given.phase), given.tolerance)


def _write(given: argparse.Namespace, found: Verdict) -> None:
    text = markdown(found, shlex.join(given.program), given.on.removeprefix("lab:"), given.phase, given.tolerance)
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / "comment.markdown").write_text(text, encoding="utf-8")
    version = subprocess.run([given.nodewise, "--version"], capture_output=True, text=True, check=False).stdout
    (given.output / "placement.sarif").write_text(
        json.dumps(sarif(found, version.split()[-1] if version.split() else "unknown"), indent=1), encoding="utf-8"
    )
    print("\n" + text)


def main(words: list[str]) -> int:
    given = _parser().parse_args(words)
    try:
        found = _Task(given, Path.cwd().resolve()).verdict()
        _write(given, found)
    except LabError as error:
        print(f"nodewise-ci: {error}", file=sys.stderr)
        return _LAB_FAILED if isinstance(error, LabUnavailable) else _NOT_JUDGED
    except OSError as error:
        print(f"nodewise-ci: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return _NOT_JUDGED
    return _ALARM if found.alarms else _OK
