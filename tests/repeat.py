# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Repeats the tests that failed by chance once, or that wait for something, until each has passed
twenty times in a row, two at a time. tests/repeated_results.json keeps how often each has passed
since it last failed, so that an interrupted run goes on, and new code begins with --anew.

    tests/repeat.py BUILD [--times 20] [--anew] [--minutes M] [REGEX]
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from slow import ROOT, commit

RESULTS = ROOT / "tests/repeated_results.json"

# The test of CTest, and which of its cases; none: all.
WAITING = (
    "agent_descriptors", "agent_promises", "agent_reused", "agent_threads", "agent_undisturbed", "agent_trace",
    "cli_completion", "cli_measure", "cli_pages", "cli_profile", "cli_profile_progress", "cli_run",
    "cli_run_report", "cli_run_supervised",
    "lab.agent_arrays", "lab.command", "lab.doctor Changed", "lab.drop_cache", "lab.examples_traffic Others",
    "lab.host", "lab.library", "lab.library_examples", "lab.measure Matrices", "lab.migration", "lab.profile_ended",
    "lab.profile_held", "lab.profile_kernels", "lab.profile_patterns", "lab.programs", "lab.recorder",
    "lab.streams", "lab.tune", "unit.agent", "unit.library", "unit.locked_rings", "unit.openmp",
    "unit.openmp_thread_limit", "unit.system", "unit.tbb", "unit.teams_on_machines", "unit.tool",
)  # fmt: skip


def commands(build: str) -> dict[str, tuple[list[str], dict[str, str]]]:
    """By its name, each test's command and what it adds to the environment. What others need is run."""
    subprocess.run(["ctest", "--test-dir", build, "-R", "^consume.examples$"], stdout=subprocess.DEVNULL, check=True)
    text = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, check=True)
    found = {}
    for test in json.loads(text.stdout)["tests"]:
        added = next((each["value"] for each in test["properties"] if each["name"] == "ENVIRONMENT"), [])
        found[test["name"]] = (test["command"], dict(each.split("=", 1) for each in added))
    return found


class Repeats:
    def __init__(self, build: str, kept: dict[str, dict]):
        self.commands = commands(build)
        self.kept = kept
        self.at = {"date": datetime.date.today().isoformat(), "commit": commit()}
        self.lock = threading.Lock()

    def once(self, test: str) -> None:
        name, *cases = test.split()
        words, added = self.commands[name]
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(
                [*words, *cases], cwd=folder, env={**os.environ, **added}, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
        self.note(test, run, time.monotonic() - begun)

    def note(self, test: str, run: subprocess.CompletedProcess, seconds: float) -> None:
        with self.lock:
            now = self.kept.setdefault(test, {"passed_in_a_row": 0, "failed": 0, "since": self.at})
            if run.returncode == 0:
                now["passed_in_a_row"] += 1
            else:
                now.update(passed_in_a_row=0, failed=now["failed"] + 1, since=self.at)
                sys.stdout.buffer.write(run.stdout)
            now.update(seconds=round(seconds, 1), last=self.at)
            print(f"{test}: {now['passed_in_a_row']} in a row, {now['failed']} failed, {seconds:.1f} s", flush=True)
            RESULTS.write_text(json.dumps(dict(sorted(self.kept.items())), indent=1) + "\n")


def main() -> int:
    given = argparse.ArgumentParser()
    given.add_argument("build")
    given.add_argument("regex", nargs="?", default=".")
    given.add_argument("--times", type=int, default=20)
    given.add_argument("--anew", action="store_true")
    given.add_argument("--minutes", type=float, default=float("inf"))
    asked = given.parse_args()
    kept = {} if asked.anew or not RESULTS.exists() else json.loads(RESULTS.read_text())
    repeats = Repeats(asked.build, kept)
    tests = [each for each in WAITING if re.search(asked.regex, each)]
    end = time.monotonic() + 60 * asked.minutes

    def passed(test: str) -> int:
        return kept.get(test, {}).get("passed_in_a_row", 0)

    for round_ in range(asked.times):
        wanted = [each for each in tests if passed(each) <= round_]
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            for test in wanted:
                workers.submit(lambda test=test: repeats.once(test) if time.monotonic() < end else None)
    return int(any(passed(each) < asked.times for each in tests))


if __name__ == "__main__":
    sys.exit(main())
