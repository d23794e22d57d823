# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The kernels of `nodewise measure` beside likwid-bench's and STREAM's, and the chase beside lat_mem_rd's.

Every run is a process with memory of its own: its pages lie otherwise each time, and that alone is a
few per cent. In a round each kernel runs once for us and once for each peer, in random order; ratios are
ours to the peer's of the same round, so that a drift of the machine's speed meets both. Of likwid-bench
the variant (scalar, SSE, AVX, AVX-512, with FMA) is taken that was fastest here beforehand; its
rate is that of all sweeps together, so ours is too. STREAM's loops are bench/stream_peer.c, left to the
compiler; of each process the median of the sweeps. Its copy is memcpy in GCC's hands, which streams: it
stands beside copy_nt, and the loop that was asked for beside copy. Huge pages are given to all, to
likwid-bench by glibc's tunable.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import tempfile
import time

from agent_overhead import summary
from library import thp
from machine import describe_machine, version_of

HERE = pathlib.Path(__file__).resolve().parent
LIKWID = {"load": "load", "sum": "sum", "store": "store", "copy": "copy", "update": "update", "triad": "stream",
          "schoenauer": "triad", "store_nt": "store_mem", "copy_nt": "copy_mem", "triad_nt": "stream_mem",
          "schoenauer_nt": "triad_mem"}
STREAM = {"sum": "sum", "store": "store", "copy": "copy", "update": "update", "scale": "scale", "add": "add",
          "triad": "triad", "schoenauer": "schoenauer", "copy_nt": "memcpy"}
ALONE = ("scale_nt", "add_nt", "strided_load", "random_load")
FLAGS = ["-O3", "-march=native", "-fopenmp"]
BAR = 0.98  # not slower, but for 2 % of noise
CHASE_BAR = 0.03

Party = collections.namedtuple("Party", "who what")


def foreign_share(run):
    """What `run` gives, and how much of the processors everybody else had meanwhile."""
    def busy():
        words = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        return sum(int(words[i]) for i in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")  # user, nice, system, interrupts

    def own():
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(each.ru_utime + each.ru_stime for each in used)

    begin, busy_before, own_before = time.monotonic(), busy(), own()
    value = run()
    share = (busy() - busy_before - own() + own_before) / ((time.monotonic() - begin) * os.cpu_count())
    return value, max(share, 0)


class Bench:
    def __init__(self, arguments, folder):
        self.foreign = arguments.foreign
        self.repeated = 0
        self.program = arguments.program
        self.bytes = arguments.mb * 1_000_000
        self.pages = arguments.pages
        self.sweeps = arguments.sweeps
        self.peers = {}
        for name, more in (("loops", ["-fno-tree-loop-distribute-patterns"]), ("memcpy", [])):
            self.peers[name] = f"{folder}/stream_{name}"
            subprocess.run(["gcc", *FLAGS, *more, HERE / "stream_peer.c", "-o", self.peers[name]], check=True)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_", "GLIBC_"))}
        self.likwid_environment = clean | (
            {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"} if self.pages == "huge" else {})
        self.openmp_environment = {
            threads: clean | {"OMP_NUM_THREADS": str(threads), "OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}
            for threads in arguments.threads}

    def quietly(self, run):
        """`run` again until nobody disturbs; after a minute as it is."""
        until = time.monotonic() + 60
        while True:
            value, share = foreign_share(run)
            if share <= self.foreign or time.monotonic() > until:
                return value, share
            self.repeated += 1
            time.sleep(2)

    def ours(self, kernel, threads):
        return self.answer([self.program, kernel, threads, self.bytes, self.pages, self.sweeps], None)

    def stream(self, loop, threads):
        which = "memcpy" if loop == "memcpy" else "loops"
        return self.answer([self.peers[which], "copy" if loop == "memcpy" else loop, self.bytes, self.pages, self.sweeps],
                           self.openmp_environment[threads])

    @staticmethod
    def answer(argv, environment):
        return json.loads(subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=True,
                                         env=environment).stdout)

    def likwid_argv(self, variant, threads, sweeps):
        return ["likwid-bench", "-t", variant, "-w", f"S0:{self.bytes // 1_000_000}MB:{threads}", "-i", str(sweeps)]

    def likwid(self, variant, threads):
        """GB/s, by its own account."""
        text = subprocess.run(self.likwid_argv(variant, threads, self.sweeps), capture_output=True, text=True,
                              check=True, env=self.likwid_environment).stdout
        size = int(re.search(r"^Size \(Byte\):\s+(\d+)", text, re.MULTILINE)[1])
        if not 0.99 < size / self.bytes <= 1.01:
            raise SystemExit(f"likwid-bench {variant}: {size} bytes instead of {self.bytes}")
        return float(re.search(r"^MByte/s:\s+([0-9.]+)", text, re.MULTILINE)[1]) / 1e3

    def likwid_huge_bytes(self):
        """How much of likwid-bench's memory is in huge pages, as the kernel says."""
        process = subprocess.Popen(self.likwid_argv("load", 1, 1000), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=self.likwid_environment)
        try:
            most = 0
            until = time.monotonic() + 60
            while time.monotonic() < until and most < 0.9 * self.bytes and process.poll() is None:
                time.sleep(0.2)
                try:
                    text = pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text()
                except ProcessLookupError:
                    break
                most = max(most, int(re.search(r"AnonHugePages:\s+(\d+)", text)[1]) * 1024)
            return most
        finally:
            process.kill()
            process.wait()


def variants_of(word):
    """Those of likwid-bench that this processor can run, all of double precision."""
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    text = subprocess.run(["likwid-bench", "-a"], capture_output=True, text=True, check=True).stdout
    found = re.findall(rf"^({word}(?:_sse|_avx|_avx512)?(?:_fma)?) - ", text, re.MULTILINE)
    needs = {"avx": "avx", "avx512": "avx512f", "fma": "fma"}
    return [name for name in found if all(needs.get(part, "fpu") in flags for part in name.split("_"))]


def fastest_variant(bench, word, threads):
    """One run of each, and one more of the best two. Some of likwid-bench's die of misaligned streaming stores."""
    rates = {}
    for name in variants_of(word):
        try:
            rates[name] = [bench.quietly(lambda name=name: bench.likwid(name, threads))[0]]
        except subprocess.CalledProcessError as died:
            print(f"likwid-bench {name}: left out, it ended with {died.returncode}")
    for name in sorted(rates, key=lambda name: -rates[name][0])[:2]:
        rates[name].append(bench.quietly(lambda name=name: bench.likwid(name, threads))[0])
    return max(rates, key=lambda name: max(rates[name]))


def chosen_before(path):
    """The variants of an earlier result: choosing takes as long as four rounds."""
    rows = json.loads(path.read_text())["results"] if path else []
    return {(row["kernel"], row["threads"]): row["variant"] for row in rows if row["peer"] == "likwid"}


def run_round(bench, parties, found):
    for case in random.sample(list(parties), len(parties)):
        kernel, threads = case
        row = {}
        for party in random.sample(parties[case], len(parties[case])):
            if party.who == "likwid":
                run = lambda what=party.what: {"whole_gb_per_s": bench.likwid(what, threads)}
            elif party.who == "stream":
                run = lambda what=party.what: bench.stream(what, threads)
            else:
                run = lambda: bench.ours(kernel, threads)
            row[party], share = bench.quietly(run)
            row[party] = row[party] | {"foreign": share}
        found[case].append(row)


def rows_of(found):
    rows = []
    for (kernel, threads), rounds in found.items():
        ours = Party("ours", kernel)
        rows.append({"kernel": kernel, "threads": threads, "peer": None} | {
            key: round(pick(row[ours][key] for row in rounds), 3)
            for key, pick in (("best_gb_per_s", max), ("median_gb_per_s", statistics.median),
                              ("whole_gb_per_s", statistics.median)) if key in rounds[0][ours]})
        if kernel == "chase":
            rows[-1] |= {"best_ns": min(row[ours]["best_ns"] for row in rounds),
                         "median_ns": statistics.median(row[ours]["median_ns"] for row in rounds),
                         "link_seconds": statistics.median(row[ours]["link_seconds"] for row in rounds)}
        for peer in rounds[0]:
            if peer == ours:
                continue
            key = "median_ns" if kernel == "chase" else "whole_gb_per_s" if peer.who == "likwid" else "median_gb_per_s"
            rows.append({
                "kernel": kernel, "threads": threads, "peer": peer.who, "variant": peer.what, "figure": key,
                "ours": round(statistics.median(row[ours][key] for row in rounds), 3),
                "theirs": round(statistics.median(row[peer][key] for row in rounds), 3),
                "foreign": round(statistics.mean(row[who]["foreign"] for row in rounds for who in (ours, peer)), 3),
                "ratio": summary([row[ours][key] / row[peer][key] for row in rounds]),
            })
            low, high = rows[-1]["ratio"]["low"], rows[-1]["ratio"]["high"]
            rows[-1]["bar"] = CHASE_BAR if kernel == "chase" else BAR
            rows[-1]["missed"] = (low > 1 + CHASE_BAR or high < 1 - CHASE_BAR) if kernel == "chase" else high < BAR
    return rows


def print_table(rows):
    print(f"{'':18}{'threads':>8} {'peer':26}{'ours':>9}{'peer':>9}{'ratio':>8}  95 % interval")
    for row in rows:
        if row["peer"] is None:
            continue
        ratio = row["ratio"]
        print(f"{row['kernel']:18}{row['threads']:>8} {row['peer'] + ' ' + row['variant']:26}{row['ours']:>9.2f}"
              f"{row['theirs']:>9.2f}{ratio['median']:>8.3f}  {ratio['low']:.3f}..{ratio['high']:.3f}"
              f"{'  missed' if row['missed'] else ''}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path, help="bench/kernels of a build folder")
    parser.add_argument("--rounds", type=int, default=12, help="processes of each party")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no round after so many")
    parser.add_argument("--mb", type=int, default=1200, help="10^6 bytes of all arrays together")
    parser.add_argument("--sweeps", type=int, default=8)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--pages", choices=["huge", "base"], default="huge")
    parser.add_argument("--only", help="kernels whose name has this in it")
    parser.add_argument("--foreign", type=float, default=0.08,
                        help="share of all processors that others may have during a run; else it is done again")
    parser.add_argument("--variants", type=pathlib.Path, help="an earlier result, to take likwid-bench's variants from")
    parser.add_argument("--no-likwid", action="store_true", help="where likwid-bench does not run: STREAM's loops alone")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    arguments.program = arguments.program.resolve()
    machine = describe_machine() | {"likwid": version_of("likwid"), "highway": version_of("libhwy-dev"),
                                    "compiler": version_of("gcc"), "transparent_hugepage": thp()}
    chosen = chosen_before(arguments.variants)
    begin = time.monotonic()
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
        bench = Bench(arguments, folder)
        huge = 0 if arguments.no_likwid else bench.likwid_huge_bytes()
        if not arguments.no_likwid and arguments.pages == "huge" and huge < 0.9 * bench.bytes:
            raise SystemExit(f"likwid-bench got {huge} bytes in huge pages, not {bench.bytes}: is transparent_hugepage on?")
        parties = {}
        for threads in arguments.threads:
            for kernel in dict.fromkeys((*LIKWID, *STREAM, *ALONE, "chase")):
                if (arguments.only and arguments.only not in kernel) or (kernel == "chase" and threads > 1):
                    continue
                parties[kernel, threads] = [Party("ours", kernel)]
                if kernel in LIKWID and not arguments.no_likwid:
                    variant = chosen.get((kernel, threads)) or fastest_variant(bench, LIKWID[kernel], threads)
                    parties[kernel, threads].append(Party("likwid", variant))
                if kernel in STREAM or kernel == "chase":
                    parties[kernel, threads].append(Party("stream", STREAM.get(kernel, kernel)))
        rounds = 0
        print(f"variants are chosen: {time.monotonic() - begin:.0f} s", flush=True)
        while rounds < arguments.rounds and (rounds == 0 or time.monotonic() - begin < arguments.seconds):
            run_round(bench, parties, found)
            rounds += 1
    rows = rows_of({case: found[case] for case in parties})
    print_table(rows)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-kernels/1", "machine": machine, "flags_of_stream": FLAGS,
                       "bytes": arguments.mb * 1_000_000, "pages": arguments.pages, "likwid_huge_bytes": huge,
                       "sweeps": arguments.sweeps, "rounds": rounds,
                       "runs_repeated_for_foreign_load": bench.repeated, "results": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
