# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""How long it takes to ask where 1 GiB of 4 KiB pages is: `nodewise pages` against a bare loop of move_pages.

Three columns: asking for the pages alone (nodewise tells it in its JSON, the loop measures itself),
and whole commands from start to end. Every round runs each once, in shuffled order; ratios are pair
by pair. The pagemap way needs root and is left out without. `auto` does not ask page by page where all of
a mapping is on one node, as it is here.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

from machine import describe_machine

HERE = pathlib.Path(__file__).resolve().parent


def ask_peer(peer, target, address, mib):
    begin = time.perf_counter()
    seconds, pages = subprocess.run([peer, "ask", str(target), address, str(mib)], capture_output=True, text=True,
                                    check=True).stdout.split()
    return float(seconds), time.perf_counter() - begin, int(pages)


def ask_nodewise(nodewise, method, target, address):
    begin = time.perf_counter()
    text = subprocess.run([nodewise, "pages", "--json", "--method", method, str(target)], capture_output=True,
                          text=True, check=True).stdout
    elapsed = time.perf_counter() - begin
    process = json.loads(text)["samples"][0]["processes"][0]
    area = next(a for a in process["areas"] if a["start"] == address)
    return process["query_seconds"], elapsed, area["resident"], process["method"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--output")
    arguments = parser.parse_args()
    nodewise = os.path.abspath(arguments.nodewise)

    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
        peer = f"{folder}/pages_peer"
        subprocess.run(["cc", "-O2", "-o", peer, HERE / "pages_peer.c"], check=True)
        holder = subprocess.Popen([peer, "hold", str(arguments.mib)], stdout=subprocess.PIPE, text=True)
        try:
            address = holder.stdout.readline().strip()
            rows = measure(nodewise, peer, holder.pid, address, arguments)
        finally:
            holder.kill()
            holder.wait()
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-pages/1", "machine": describe_machine(), "mib": arguments.mib,
                       "rounds": arguments.rounds, "results": rows}, f, indent=2)
            f.write("\n")


def measure(nodewise, peer, target, address, arguments):
    expected = arguments.mib * 256
    cases = {"bare move_pages": lambda: ask_peer(peer, target, address, arguments.mib)}
    for name, method in (("nodewise, move_pages", "move_pages"), ("nodewise, pagemap", "pagemap"),
                         ("nodewise, auto", "auto")):
        def case(method=method):
            query, whole, pages, used = ask_nodewise(nodewise, method, target, address)
            return (query, whole, pages) if method in (used, "auto") else None
        if case() is not None:
            cases[name] = case
    times = {name: [] for name in cases}
    for _ in range(arguments.rounds):
        for name in random.sample(list(cases), len(cases)):
            query, whole, pages = cases[name]()
            if pages != expected:
                raise SystemExit(f"{name}: {pages} pages, {expected} expected")
            times[name].append((query, whole))
    rows = {}
    print(f"{'query ms':>10} {'to bare':>8} {'command ms':>11} {'to bare':>8}")
    for name, pairs in times.items():
        row = {}
        for column, which in (("query", 0), ("command", 1)):
            row[f"{column}_ms"] = round(statistics.median(p[which] for p in pairs) * 1e3, 3)
            row[f"{column}_ratio"] = round(statistics.median(
                mine[which] / theirs[which] for mine, theirs in zip(pairs, times["bare move_pages"])), 4)
        rows[name] = row
        print(f"{row['query_ms']:>10.2f} {row['query_ratio']:>8.2f} {row['command_ms']:>11.2f} "
              f"{row['command_ratio']:>8.2f}  {name}")
    return rows


if __name__ == "__main__":
    main()
