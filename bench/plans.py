# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What a plan makes of any program, beside what needs no plan. Each program runs in the lab as it is, with pages
interleaved, with arrays in blocks, under the kernel's NUMA balancing, and with the plan of `nodewise profile
--write-plan`. A cell is the median of several runs: the remote share of the lines in use and of the whole run, and
the times that the model predicts for both. The plan is made anew in each round.

    bench/plans.py --nodewise build/release/bin/nodewise --on lab:opteron-4x2 --rounds 5 \\
        stream='./stream' lulesh='./lulesh -s 30 -i 4 -q'
"""

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

from machine import describe_machine

BOUND = ("--bind", "close", "--threads", "8")
VARIANTS = {
    "plain": ((), ()),
    "interleave": (("--memory", "interleave"), ()),
    "blocked": (("--memory", "blocked"), ()),
    "balancing": ((), ("--on-numa-balancing", "1")),
}
FIGURES = ("use_remote", "use_s", "whole_remote", "whole_s")


class Runs:
    def __init__(self, nodewise: str, machine: str, folder: pathlib.Path):
        self.nodewise, self.machine, self.folder = nodewise, machine, folder

    def call(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.nodewise, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)

    def predicted(self, counts: str, phase: str) -> float:
        done = self.call("model", "-i", self.machine, "--phase", phase, "--json", counts)
        return json.loads(done.stdout)["predicted"]["seconds"]

    def count(self, program: list[str], *options: str) -> dict | None:
        counts = str(self.folder / "counts.json")
        done = self.call("run", "--on", self.machine, "--quiet", "--on-counts", counts, *options, "--", *program)
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
            return None
        document = json.loads(pathlib.Path(counts).read_text())
        local, remote = ([document[phase][f"{where}_lines"] for phase in ("use", "init")] for where in ("local", "remote"))
        return {
            "use_remote": remote[0] / max(local[0] + remote[0], 1),
            "use_s": self.predicted(counts, "use"),
            "whole_remote": sum(remote) / max(sum(local) + sum(remote), 1),
            "whole_s": self.predicted(counts, "all"),
        }

    def plan(self, program: list[str], *options: str) -> str | None:
        file = str(self.folder / "plan.json")
        done = self.call("profile", "--on", self.machine, "--quiet", "--write-plan", file, *options, "--", *program)
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
        return file if done.returncode == 0 else None

    def round(self, program: list[str], bound: tuple[str, ...]) -> dict:
        found = {name: self.count(program, *bound, *options, *lab) for name, (options, lab) in VARIANTS.items()}
        file = self.plan(program, *bound)
        found["plan"] = self.count(program, "--plan", file) if file else None
        return found


def median_of(rounds: list[dict], variant: str) -> dict | None:
    cells = [each[variant] for each in rounds if each[variant] is not None]
    return {name: statistics.median(cell[name] for cell in cells) for name in FIGURES} if cells else None


def cell_text(cell: dict | None) -> str:
    if cell is None:
        return "failed"
    return f"{100 * cell['use_remote']:.1f} %, {1e3 * cell['use_s']:.3g} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--on", required=True, metavar="lab:MACHINE")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--unbound", action="store_true", help="threads as the program has them; the plan binds them")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", metavar="NAME=COMMAND")
    asked = parser.parse_args()
    bound = ("--threads", "8") if asked.unbound else BOUND
    results = {}
    print("| program | " + " | ".join([*VARIANTS, "**plan**"]) + " |\n" + "|---" * (len(VARIANTS) + 2) + "|")
    for each in asked.programs:
        name, _, command = each.partition("=")
        with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
            runs = Runs(str(pathlib.Path(asked.nodewise).resolve()), asked.on, pathlib.Path(folder))
            rounds = [runs.round(shlex.split(command), bound) for _ in range(asked.rounds)]
        medians = {variant: median_of(rounds, variant) for variant in [*VARIANTS, "plan"]}
        results[name] = {"command": command, "median": medians, "rounds": rounds}
        print(f"| {name} | " + " | ".join(cell_text(medians[variant]) for variant in medians) + " |", flush=True)
        if asked.output:
            asked.output.write_text(json.dumps(
                {"schema": "nodewise/bench-plans/1", "machine": describe_machine(), "lab": asked.on,
                 "bound": not asked.unbound, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
