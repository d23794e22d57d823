# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Files in the page cache: `nodewise pages --file` and `nodewise warm` against bare loops and `cat`, in pairs.

look: a file that is cached as a whole; the peer touches its pages and asks move_pages for their nodes.
cold: a file on a disk, evicted before each run; the peer is `cat FILE > /dev/null`.
moved: in the lab, a cached file on node 0 goes to four nodes; the peer calls move_pages for 16384 pages of one
node at a time. The time of a command that only looks is subtracted from both; `whole` is without this.

Ratios are pair by pair, below 1 where nodewise needs less time. `inside` compares with the peer's move_pages calls
alone, measured by the peer itself.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from agent_overhead import summary
from machine import describe_machine

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("look", "cold", "moved")


def timed(argv):
    """Seconds of a command, and those of its processor time in the kernel; its output."""
    begin = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{argv}: status {process.returncode}")
    return elapsed, used.ru_stime + used.ru_utime, text


def write_file(path, mib):
    """Bytes that no disk can shorten; on the disk and in the page cache afterwards."""
    block = os.urandom(2 << 20)
    with open(path, "wb") as f:
        for k in range(mib):
            f.write(block[k * 509 % (1 << 20):][:1 << 20])
        os.fsync(f.fileno())


def check_cached(peer, path, whole):
    """A few pages of a cached file may be missing: some machines evict pages even when idle."""
    cached, size = map(int, timed([peer, "cached", path])[2].split())
    if cached < 0.97 * size if whole else cached != 0:
        raise SystemExit(f"{path}: {cached} of {size} bytes are cached, {'all' if whole else 'none'} expected")


def row_of(mine, theirs, **more):
    return {"nodewise_s": round(statistics.median(mine), 4), "peer_s": round(statistics.median(theirs), 4),
            "nodewise_worst_s": round(max(mine), 4), "peer_worst_s": round(max(theirs), 4),
            "ratio": summary([a / b for a, b in zip(mine, theirs)]), "rounds": len(mine), **more}


def pairs(rounds, mine, theirs):
    """The results of both, each pair in random order."""
    results = {mine: [], theirs: []}
    for _ in range(rounds):
        for each in random.sample((mine, theirs), 2):
            results[each].append(each())
    return results[mine], results[theirs]


def measure_look(asked, peer):
    path = f"{asked.folder}/nodewise-bench-look.bin"
    try:
        write_file(path, asked.look_mib)
        check_cached(peer, path, whole=True)
        found = []

        def look():
            elapsed, used, text = timed([asked.nodewise, "pages", "--file", "--json", path])
            found.append(sum(cached_bytes(json.loads(text))) >> 20)
            return elapsed, used

        mine, theirs = pairs(asked.rounds, look, lambda: timed([peer, "look", path])[:2])
        check_cached(peer, path, whole=True)
    finally:
        pathlib.Path(path).unlink(missing_ok=True)
    return row_of([e for e, _ in mine], [e for e, _ in theirs], mib=asked.look_mib,
                  found_mib=min(found))


def cached_bytes(document):
    for each in document["files"]:
        yield from each["cached"].values()


def measure_cold(asked, peer):
    path = f"{asked.folder}/nodewise-bench-cold.bin"

    def cold(argv):
        subprocess.run([asked.nodewise, "drop-cache", "--quiet", path], check=True)
        check_cached(peer, path, whole=False)
        elapsed, used, _ = timed(argv)
        check_cached(peer, path, whole=True)
        return elapsed, used

    try:
        write_file(path, asked.cold_mib)
        mine, theirs = pairs(asked.cold_rounds, lambda: cold([asked.nodewise, "warm", "--quiet", path]),
                             lambda: cold(["sh", "-c", f"exec cat {path} > /dev/null"]))
    finally:
        pathlib.Path(path).unlink(missing_ok=True)
    return row_of([e for e, _ in mine], [e for e, _ in theirs], mib=asked.cold_mib,
                  nodewise_processor_s=round(statistics.median(u for _, u in mine), 4),
                  peer_processor_s=round(statistics.median(u for _, u in theirs), 4))


def measure_moved(asked, peer):
    machine = json.loads(timed([asked.nodewise, "lab", "describe", "4x2", "--json"])[2])
    machine["lab"] = {"memory_bytes_per_node": 3 * asked.moved_mib << 20}
    file = pathlib.Path(peer).parent / "machine.json"
    file.write_text(json.dumps(machine))
    text = timed([asked.nodewise, "run", "--on", f"lab:{file}", "--on-no-count", "--on-disk",
                  f"{4 * asked.moved_mib}M", "--on-timeout", "1800", "--", sys.executable, "-B", __file__,
                  "--nodewise", asked.nodewise, "--moved-mib", str(asked.moved_mib), "--rounds", str(asked.rounds),
                  "--in-guest", peer])[2]
    times = json.loads(text.splitlines()[-1])
    for name in ("look", "whole", "inside"):
        print(f"  moved, {name}: " + json.dumps({k: v for k, v in times.items() if k.endswith(name)}), flush=True)
    mine_look, their_look = (statistics.median(times[f"{who}_look"]) for who in ("nodewise", "peer"))
    mine = [whole - mine_look for whole in times["nodewise_whole"]]
    theirs = [whole - their_look for whole in times["peer_whole"]]
    return row_of(mine, theirs, mib=asked.moved_mib, moved_pages=asked.moved_mib * 192,
                  nodewise_microseconds_per_page=round(statistics.median(mine) / asked.moved_mib / 192 * 1e6, 3),
                  peer_microseconds_per_page=round(statistics.median(theirs) / asked.moved_mib / 192 * 1e6, 3),
                  nodewise_look_s=round(mine_look, 4), peer_look_s=round(their_look, 4),
                  inside=summary([a / b for a, b in zip(mine, times["peer_inside"])]),
                  whole=summary([a / b for a, b in zip(times["nodewise_whole"], times["peer_whole"])]))


def move_in_guest(asked):
    """Prints the seconds of each run. The peer puts all pages on node 0: those of a written file are on several."""
    peer = asked.in_guest
    path = "/scratch/file"
    quarter = asked.moved_mib * 64

    def nodes(text):
        return list(map(int, text.split()[3:]))

    def place():
        if nodes(timed([peer, "move", path, "0"])[2]) != [4 * quarter, 0, 0, 0]:
            raise SystemExit("the file is not on node 0")

    def expect_moved(text):
        if nodes(text) != [quarter] * 4:
            raise SystemExit(f"the file is not in four blocks: {text}")

    subprocess.run(["taskset", "-c", "0", "head", "-c", str(asked.moved_mib << 20), "/dev/zero"],
                   stdout=open(path, "wb"), check=True)
    os.sync()
    times = {f"{who}_{what}": [] for who in ("nodewise", "peer") for what in ("look", "whole", "inside")}

    def nodewise_round():
        place()
        times["nodewise_look"].append(timed([asked.nodewise, "warm", "--look", "--quiet", path])[0])
        times["nodewise_whole"].append(timed([asked.nodewise, "warm", "--quiet", path])[0])
        expect_moved(timed([peer, "look", path])[2])

    def peer_round():
        place()
        times["peer_look"].append(timed([peer, "look", path])[0])
        elapsed, _, text = timed([peer, "move", path, "0", "1", "2", "3"])
        times["peer_whole"].append(elapsed)
        times["peer_inside"].append(float(text.split()[1]))
        expect_moved(text)

    pairs(asked.rounds, nodewise_round, peer_round)
    print(json.dumps(times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--only", choices=PARTS, action="append", help="default: all")
    parser.add_argument("--folder", default="/var/tmp",
                        help="on a disk, with room for the largest file (default: %(default)s)")
    parser.add_argument("--look-mib", type=int, default=8192)
    parser.add_argument("--cold-mib", type=int, default=1536)
    parser.add_argument("--moved-mib", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--cold-rounds", type=int, default=21)
    parser.add_argument("--output", help="parts that were not measured keep their results in it")
    parser.add_argument("--in-guest", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    asked.nodewise = os.path.abspath(asked.nodewise)
    if asked.in_guest:
        move_in_guest(asked)
        return

    output = pathlib.Path(asked.output) if asked.output else None
    rows = json.loads(output.read_text())["results"] if output and output.exists() else {}
    machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
        peer = f"{folder}/files_peer"
        subprocess.run(["cc", "-O2", "-o", peer, HERE / "files_peer.c"], check=True)
        for part in asked.only or PARTS:
            row = {"look": measure_look, "cold": measure_cold, "moved": measure_moved}[part](asked, peer)
            rows[part] = {"machine": machine, **row}
            print(f"{part:6} nodewise {row['nodewise_s']:7.3f} s  peer {row['peer_s']:7.3f} s  "
                  f"ratio {row['ratio']['median']:.3f}  {row['ratio']['low']:.3f} .. {row['ratio']['high']:.3f}",
                  flush=True)
    if output:
        output.write_text(json.dumps({"schema": "nodewise/bench-files/1", "results": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
