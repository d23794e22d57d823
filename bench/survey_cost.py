# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What `nodewise survey` adds to each rank, beside `nodewise run --verify` and beside the bare program.

The rank is the tests' own (nodewise_survey_in_guest): two threads fill 32 MiB and work for a tenth of a second. Every
round starts each command once, in shuffled order. `survey` is once a rank of an unfinished job, which writes its
record only, and once the job's last rank, which also shows the job.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time

from machine import describe_machine


def seconds(argv, size, folder):
    environment = os.environ | {"OMP_NUM_THREADS": "2", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": size,
                                "PMIX_NAMESPACE": str(random.getrandbits(40))}
    begin = time.perf_counter()
    subprocess.run(argv, check=True, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--output")
    arguments = parser.parse_args()
    nodewise, program = os.path.abspath(arguments.nodewise), os.path.abspath(arguments.program)

    cases = {
        "the program": ([program], "2"),
        "nodewise run --verify": ([nodewise, "run", "--verify", "--", program], "2"),
        "nodewise survey, a record": ([nodewise, "survey", "--", program], "2"),
        "nodewise survey, the last rank": ([nodewise, "survey", "--", program], "1"),
    }
    times = {name: [] for name in cases}
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
        for _ in range(arguments.rounds):
            for name in random.sample(list(cases), len(cases)):
                times[name].append(seconds(*cases[name], folder))
    rows = {}
    for name, each in times.items():
        beside = [mine - theirs for mine, theirs in zip(each, times["nodewise run --verify"])]
        rows[name] = {"median_ms": round(1e3 * statistics.median(each), 2),
                      "beside_verify_ms": round(1e3 * statistics.median(beside), 2)}
        print("{median_ms:8.2f} ms, {beside_verify_ms:+7.2f} ms beside run --verify  ".format(**rows[name]) + name)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-survey-cost/1", "machine": describe_machine(),
                       "rounds": arguments.rounds, "results": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
