# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Runs the slow tests and keeps their results in tests/slow_results.json: outcome, seconds, date and
commit of each. Tests that run are replaced, the others stay.

    tests/slow.py BUILD [REGEX]      those whose names match, or all
"""

import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "tests/slow_results.json"


def commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")


def run(build: str, regex: str) -> dict[str, dict]:
    at = {"date": datetime.date.today().isoformat(), "commit": commit()}
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        subprocess.run(
            ["ctest", "--test-dir", build, "-L", "slow", "-R", regex, "-j", "2", "--no-tests=error",
             "--output-on-failure", "--output-junit", report.name], check=False,
        )  # fmt: skip
        cases = xml.etree.ElementTree.parse(report.name).iter("testcase")
        return {
            case.get("name"): {
                "outcome": "passed" if case.get("status") == "run" else "failed",
                "seconds": round(float(case.get("time"))), **at,
            }
            for case in cases
        }  # fmt: skip


def main() -> int:
    build, regex = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "."
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found = run(build, regex)
    kept.update(found)
    RESULTS.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
    return int(any(each["outcome"] != "passed" for each in found.values()))


if __name__ == "__main__":
    sys.exit(main())
