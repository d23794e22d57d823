# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Simulated races of `nodewise tune` (races.cpp): wrong winners, right choices, runs; beside them, designs with a
fixed number of runs, the best of three, and all runs of a candidate in a row.

The figures do not depend on the machine, except through the recorded noise (noise.py); the times do.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

from machine import describe_machine

HERE = pathlib.Path(__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the program races")
    parser.add_argument("--races", type=int, default=10_000, help="of each kind of noise and scenario (10000)")
    parser.add_argument("--noise", default=str(HERE / "data" / "noise.json"), help="the recorded noise")
    parser.add_argument("--output", help="write the result as JSON")
    options = parser.parse_args()
    result = {"benchmark": "races", "machine": describe_machine()}
    begin = time.perf_counter()
    with tempfile.NamedTemporaryFile(suffix=".json") as kept:
        subprocess.run([options.program, "--races", str(options.races), "--noise", options.noise,
                        "--output", kept.name], check=True)  # fmt: skip
        result |= json.loads(pathlib.Path(kept.name).read_text())
    result["seconds"] = round(time.perf_counter() - begin, 1)
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
