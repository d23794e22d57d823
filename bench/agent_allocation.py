# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What allocating and freeing costs under the agent, beside the C library, jemalloc and tcmalloc.

The first table has processor time for malloc, a touch of each page and free, as a multiple of the C
library's. The second one has each operation with 10^5 live blocks of 64 KiB as a multiple of the same
with 10^2. All variants run in each round, in random order; the median of the rounds' ratios is shown.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess

from machine import describe_machine

KIB = 1 << 10
SIZES = (64 * KIB, 128 * KIB, 300 * KIB, 512 * KIB, 1024 * KIB, 1100 * KIB, 2048 * KIB, 4096 * KIB)
THREADS = (1, 2)
LIVE = (100, 100_000)


def library(name):
    """The path by which the loader finds it; None where it is not installed."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return next((line.split(" => ")[1] for line in listed.splitlines() if line.split()[0] == name), None)


def variants(agent):
    """Environments by name; the first is the one that the others are compared with."""
    nodes = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1
    # At least four owners, so that a machine with one node has as many policies as one with four.
    each = ",".join(f"{node}*{max(1, 4 // nodes)}" for node in range(nodes)) if nodes > 1 else "0,0,0,0"
    placed = {"LD_PRELOAD": agent}
    found = {
        "glibc": {},
        "blocked": placed | {"NODEWISE_AGENT": f"v3;threshold=1048576;owners={each};default=blocked"},
        "blocked, 64 KiB": placed | {"NODEWISE_AGENT": f"v3;threshold=65536;owners={each};default=blocked"},
        "cyclic, 64 KiB": placed | {"NODEWISE_AGENT": f"v3;threshold=65536;default=cyclic@65536@{each}"},
    }
    for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
        path = library(name)
        if path:
            found[name.removeprefix("lib").split(".")[0]] = {"LD_PRELOAD": path}
    return found


def times(program, words, variables):
    """Nanoseconds by operation."""
    done = subprocess.run([program, *map(str, words)], env=os.environ | variables, capture_output=True, text=True,
                          check=True)
    return {name: float(ns) for name, ns in (line.rsplit(" ", 1) for line in done.stdout.splitlines())}


def cycle_row(program, environments, size, threads, rounds):
    ratios = {name: [] for name in environments}
    plain = []
    for _ in range(rounds):
        ns = {name: times(program, ("cycle", size, threads), environments[name])["cycle"]
              for name in random.sample(list(environments), len(environments))}
        first = ns[next(iter(environments))]
        plain.append(first)
        for name, value in ns.items():
            ratios[name].append(value / first)
    return {"bytes": size, "threads": threads, "glibc_ns": statistics.median(plain),
            "ratios": {name: round(statistics.median(values), 3) for name, values in ratios.items()}}


def live_rows(program, environments, rounds):
    found = {}
    for name, variables in environments.items():
        ratios = {}
        for _ in range(rounds):
            few, many = (times(program, ("live", count), variables) for count in LIVE)
            for operation, ns in many.items():
                ratios.setdefault(operation, []).append(ns / few[operation])
        found[name] = {operation: round(statistics.median(values), 3) for operation, values in ratios.items()}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agent", required=True, help="libnodewise-agent.so")
    parser.add_argument("--program", required=True, help="agent_allocation")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output")
    arguments = parser.parse_args()
    agent = os.path.abspath(arguments.agent)
    environments = variants(agent)
    print(f"{'malloc, touch, free':24}{'glibc, us':>10}" + "".join(f"{name:>18}" for name in list(environments)[1:]))
    cycles = []
    for size in SIZES:
        for threads in THREADS:
            row = cycle_row(arguments.program, environments, size, threads, arguments.rounds)
            cycles.append(row)
            title = f"{size // KIB} KiB, {threads} thread{'s' if threads > 1 else ''}"
            print(f"{title:24}{row['glibc_ns'] / 1000:10.1f}" +
                  "".join(f"{row['ratios'][name]:17.2f}x" for name in list(environments)[1:]), flush=True)
    observed = {"LD_PRELOAD": agent, "NODEWISE_AGENT": "v3;threshold=65536;owners=0,0;observe"}
    live = live_rows(arguments.program, {"glibc": {}, "observed": observed, "blocked": environments["blocked, 64 KiB"]},
                     arguments.rounds)
    print(f"\n{'10^5 live blocks, 10^2: 1':24}" + "".join(f"{name:>18}" for name in live))
    for operation in live["glibc"]:
        print(f"{operation:24}" + "".join(f"{live[name][operation]:17.2f}x" for name in live), flush=True)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-agent-allocation/1", "machine": describe_machine(),
                       "rounds": arguments.rounds, "cycles": cycles, "live": live}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
