# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Profiles programs that are drawn by lot, applies their plans, and compares with the best placement.

    tests/corpus/run.py BUILD [--seed N] [--count 60] [--only K]... [--keep FOLDER] [--output FILE]

A program passes if with its plan at most 1.1 times the remote lines of the best placement are left (or
0.5 %), if what was predicted is within 2 points of what was counted, and if, built with -g, a finding
names the guilty line. The exit code is the number of those that do not.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))

import lab
from axes import draw
from judge import Judge, Verdict

MACHINE = "4x2"


def share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def row(number: int, verdict: Verdict, seconds: float) -> str:
    outcome = "; ".join(verdict.troubles) or "ok"
    return (f"{number:3} {share(verdict.plain):>6} {share(verdict.plan):>6} {share(verdict.best):>6} {seconds:4.0f} s  "
            f"{outcome}  [{verdict.spec}]")  # fmt: skip


def document(seed: int, verdicts: dict[int, Verdict]) -> dict:
    return {
        "seed": seed,
        "programs": [
            {"number": number, **dataclasses.asdict(verdict), "troubles": verdict.troubles}
            for number, verdict in sorted(verdicts.items())
        ],
    }


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("build", type=Path)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--count", type=int, default=60)
    given.add_argument("--only", type=int, action="append")
    given.add_argument("--keep", type=Path)
    given.add_argument("--output", type=Path)
    asked = given.parse_args()
    specs = dict(enumerate(draw(asked.seed, asked.count)))
    wanted = asked.only or list(specs)
    verdicts: dict[int, Verdict] = {}
    with tempfile.TemporaryDirectory(prefix="nodewise-corpus-") as made:
        folder = asked.keep or Path(made)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
        judge = Judge(asked.build.resolve() / "bin/nodewise", lab_machine(), folder)

        def one(number: int) -> None:
            begun = time.monotonic()
            verdicts[number] = judge.judge(specs[number], f"p{number:02}")
            print(row(number, verdicts[number], time.monotonic() - begun), flush=True)

        print("    plain   plan   best")
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            list(workers.map(one, wanted))
    if asked.output:
        asked.output.write_text(json.dumps(document(asked.seed, verdicts), indent=1) + "\n")
    failed = sum(1 for each in verdicts.values() if each.troubles)
    print(f"{len(verdicts) - failed} of {len(verdicts)} pass")
    return min(failed, 100)


def lab_machine() -> str:
    return "lab:" + lab.with_own_caches(MACHINE)


if __name__ == "__main__":
    sys.exit(main())
