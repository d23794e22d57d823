# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Runs the tests of other programs without Nodewise, under `run` and under `profile`, and compares.

    tests/foreign/run.py BUILD [--minutes N] [--suite NAME]... [--every N]

It may be interrupted at any time, and ends by itself after N minutes (120): what is done is kept in
BUILD/foreign and not done again, unless the agent has changed. Cases that fail without Nodewise, or
answer differently each time, are left out. `blocked` and `profile` run all cases; the other modes a
fixed tenth: every tenth of a suite, from its first. With --every N, all modes run only each N-th.

At the end tests/foreign/results.json has the results, and docs/foreign.md their table.
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import table
from suites import EVERY, Case, Suite

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "tests/foreign/results.json"
THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
TENTH = 10
SECONDS_A_CASE = 900
MODES = {
    "blocked": ["run", "--memory", "blocked"],
    "profile": ["profile", "-o", "/dev/null"],
    "cyclic:64K": ["run", "--memory", "cyclic:64K"],
    "threshold 64K": ["run", "--memory", "blocked", "--threshold", "64K"],
    "huge pages always": ["run", "--memory", "blocked"],
}
ALL_CASES = {"plain", "again", "blocked", "profile"}


class Kept:
    """Outcomes by suite, mode and case, in a file; those with the agent hold for one agent."""

    def __init__(self, build: Path) -> None:
        self.file = build / "foreign/outcomes.json"
        self.file.parent.mkdir(exist_ok=True)
        parts = ("lib/nodewise/libnodewise-agent.so", "libexec/nodewise/nodewise-tool")
        self.agent = hashlib.sha256(b"".join((build / part).read_bytes() for part in parts)).hexdigest()[:16]
        self.outcomes: dict[str, dict] = json.loads(self.file.read_text()) if self.file.exists() else {}

    def key(self, suite: Suite, mode: str, case: Case) -> str:
        return " / ".join((suite.name, mode if mode in ("plain", "again") else f"{mode} {self.agent}", case.name))

    def get(self, suite: Suite, mode: str, case: Case) -> dict | None:
        return self.outcomes.get(self.key(suite, mode, case))

    def put(self, suite: Suite, mode: str, case: Case, outcome: dict) -> None:
        self.outcomes[self.key(suite, mode, case)] = outcome
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.outcomes, indent=0))
        new.replace(self.file)


def run_case(case: Case, prefix: list[str]) -> dict:
    """Exit code and outcome; in a folder of its own, which is removed."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="nodewise-foreign-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o777)
        try:
            done = subprocess.run(
                case.words(prefix), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS_A_CASE,
                check=False, start_new_session=True, env={**os.environ, "HOME": os.environ.get("HOME", folder)},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"code": "no end", "outcome": "", "seconds": SECONDS_A_CASE}
    output = done.stdout.decode(errors="replace").strip()
    outcome = {"code": done.returncode, "outcome": case.outcome(output) if output else ""}
    if done.returncode != 0:
        outcome["said"] = (output + done.stderr.decode(errors="replace"))[-2000:]
    return {**outcome, "seconds": round(time.monotonic() - begun, 1)}


@contextlib.contextmanager
def huge_pages(mode: str) -> Iterator[None]:
    """Transparent huge pages for all memory meanwhile; what was set comes back."""
    if mode != "huge pages always":
        yield
        return
    before = THP.read_text().split("[")[1].split("]")[0]
    THP.write_text("always")
    try:
        yield
    finally:
        THP.write_text(before)


def same(one: dict, other: dict) -> bool:
    return (one["code"], one["outcome"]) == (other["code"], other["outcome"])


class Runner:
    def __init__(self, build: Path, minutes: float) -> None:
        self.command = build / "bin/nodewise"
        self.kept = Kept(build)
        self.ends = time.monotonic() + 60 * minutes

    def prefix(self, mode: str) -> list[str]:
        if mode in ("plain", "again"):
            return []
        verb, *options = MODES[mode]
        return [str(self.command), verb, "--quiet", *options, "--"]

    def run(self, suite: Suite, mode: str, cases: list[Case]) -> bool:
        """Runs what has not run yet; whether all has."""
        open_cases = [case for case in cases if self.kept.get(suite, mode, case) is None]
        with huge_pages(mode), concurrent.futures.ThreadPoolExecutor(1 if suite.alone else 2) as pool:
            started = {pool.submit(self.run_in_time, case, mode): case for case in open_cases}
            for count, future in enumerate(concurrent.futures.as_completed(started), 1):
                if (outcome := future.result()) is not None:
                    self.kept.put(suite, mode, started[future], outcome)
                    print(f"{suite.name}, {mode}: {count} of {len(started)}, {started[future].name}: "
                          f"{outcome['code']} in {outcome['seconds']} s", flush=True)  # fmt: skip
        return all(self.kept.get(suite, mode, case) for case in cases)

    def run_in_time(self, case: Case, mode: str) -> dict | None:
        return run_case(case, self.prefix(mode)) if time.monotonic() < self.ends else None

    def passing(self, suite: Suite, cases: list[Case]) -> list[Case]:
        """Those that end well without Nodewise; and, where what they print counts, alike each time."""
        plain = [case for case in cases if (self.kept.get(suite, "plain", case) or {}).get("code") == 0]
        return [
            case for case in plain
            if (again := self.kept.get(suite, "again", case)) is None or same(again, self.kept.get(suite, "plain", case))
        ]  # fmt: skip

    def run_suite(self, suite: Suite, every: int) -> dict:
        cases = suite.cases()[::every]
        complete = self.run(suite, "plain", cases)
        modes = {}
        for mode in MODES:
            wanted = self.passing(suite, cases)
            wanted = wanted if mode in ALL_CASES else [case for case in wanted if case in cases[::TENTH]]
            complete = self.run(suite, mode, wanted) and complete
            self.run(suite, "again", [case for case in wanted if self.differs(suite, mode, case)])
            modes[mode] = self.summary(suite, mode, wanted)
        return {"cases": len(cases), "pass_without": len(self.passing(suite, cases)), "complete": complete, "modes": modes}

    def differs(self, suite: Suite, mode: str, case: Case) -> bool:
        found = self.kept.get(suite, mode, case)
        return found is not None and not same(found, self.kept.get(suite, "plain", case))

    def summary(self, suite: Suite, mode: str, cases: list[Case]) -> dict:
        known = {c.name: c for c in self.passing(suite, cases) if self.kept.get(suite, mode, c)}
        different = {n: self.kept.get(suite, mode, c) for n, c in known.items() if self.differs(suite, mode, c)}
        return {
            "same": len(known) - len(different),
            "seconds": round(sum(self.kept.get(suite, mode, c)["seconds"] for c in known.values())),
            "seconds_without": round(sum(self.kept.get(suite, "plain", c)["seconds"] for c in known.values())),
            "different": different,
        }


def version(suite: Suite) -> str:
    done = subprocess.run(suite.version, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip().splitlines()[0]


def commit() -> str:
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout
    return head.strip()


def missing_packages(suite: Suite) -> list[str]:
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *suite.packages],
                           capture_output=True, text=True, check=False).stdout if suite.packages else ""  # fmt: skip
    there = {line.split()[0] for line in asked.splitlines() if line.endswith(" installed")}
    return [package for package in suite.packages if package not in there]


def install(suites: list[Suite]) -> None:
    if packages := [package for suite in suites for package in missing_packages(suite)]:
        print("installing", *packages, flush=True)
        subprocess.run(["apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--suite", action="append", choices=[suite.name for suite in EVERY])
    parser.add_argument("--every", type=int, default=1)
    chosen = parser.parse_args()
    suites = [suite for suite in EVERY if not chosen.suite or suite.name in chosen.suite]
    install(suites)
    runner = Runner(chosen.build, chosen.minutes)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    at = {"date": datetime.date.today().isoformat(), "commit": commit()}
    for suite in suites:
        results[suite.name] = {"version": version(suite), **at, "every": chosen.every, **runner.run_suite(suite, chosen.every)}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        table.write(results)
    failed = [f"{s.name}, {m}: {n}" for s in suites for m, r in results[s.name]["modes"].items() for n in r["different"]]
    print(*failed, sep="\n")
    return int(bool(failed) or not all(results[suite.name]["complete"] for suite in suites))


if __name__ == "__main__":
    sys.exit(main())
