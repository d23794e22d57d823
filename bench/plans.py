# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What a plan makes of any program, beside what needs no plan. Each program runs in the lab as it is, with pages
interleaved, with arrays in blocks, under the kernel's NUMA balancing, and with the plan of `nodewise profile
--write-plan`. A cell is the median of several runs: the remote share of the lines in use and of the whole run, and
the times that the model predicts for both. The plan is made anew in each round.

    bench/plans.py --nodewise build/release/bin/nodewise --on lab:opteron-4x2 --rounds 5 \\
        stream='./stream' lulesh='./lulesh -s 30 -i 4 -q | ./lulesh -s 24 -i 4 -q | ./lulesh -s 38 -i 4 -q'

Behind `|` are the same program's other inputs, and --fewer 4 is another number of threads: there the plan of the first
command is compared with one that is made there.

A bar is missed only if the 95 % interval of the rounds' ratios lies wholly beyond it (Student's t of their logarithms;
of one round there is no interval):
    at most 1.05 of the best of plain, interleave and blocked, in predicted time of use
    not slower than plain both in use and in the whole run
    at most 1.3 of the remote share of the best static map, which is computed from exact counts, or 0.5 %
    at most 1.2 of a plan that is made for the other input or number of threads
"""

import argparse
import dataclasses
import json
import math
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from machine import describe_machine

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests/corpus"))

import oracle  # noqa: E402

THREADS = 8
VARIANTS = {
    "plain": ((), ()),
    "interleave": (("--memory", "interleave"), ()),
    "blocked": (("--memory", "blocked"), ()),
    "balancing": ((), ("--on-numa-balancing", "1")),
}
NEEDS_NO_PLAN = ("plain", "interleave", "blocked")
FIGURES = ("use_remote", "use_s", "whole_remote", "whole_s")
NEARLY_NONE = 0.005  # remote share
# Two-sided 95 % points of Student's t, by degrees of freedom.
STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


@dataclasses.dataclass
class Ratio:
    """Of two figures of the same rounds."""

    middle: float
    low: float
    high: float

    @staticmethod
    def of(pairs: list[tuple[float, float]]) -> "Ratio | None":
        logs = [math.log(one / other) for one, other in pairs if one > 0 and other > 0]
        if not logs:
            return None
        middle = statistics.fmean(logs)
        freedom = len(logs) - 1
        half = (STUDENT[min(freedom, len(STUDENT)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
                if freedom else 0.0)  # fmt: skip
        return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


class Runs:
    def __init__(self, nodewise: str, machine: str, folder: pathlib.Path, is_bound: bool):
        self.nodewise, self.machine, self.folder = nodewise, machine, folder
        self.bind = ("--bind", "close") if is_bound else ()

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

    def plan(self, program: list[str], threads: int, name: str) -> tuple[str, float] | None:
        """The plan's file, and the remote share of the best static map of the run that it is made of."""
        plan, profile = (str(self.folder / f"{name}.{kind}.json") for kind in ("plan", "profile"))
        pathlib.Path(plan).unlink(missing_ok=True)
        done = self.call("profile", "--on", self.machine, "--quiet", "--write-plan", plan, "-o", profile, "--threads",
                         str(threads), *self.bind, "--", *program)  # fmt: skip
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
            return None
        uses = oracle.Uses(pathlib.Path(profile))
        return plan, uses.remote(uses.best_map())

    def round(self, program: list[str]) -> dict:
        found = {
            name: self.count(program, "--threads", str(THREADS), *self.bind, *options, *lab)
            for name, (options, lab) in VARIANTS.items()
        }
        made = self.plan(program, THREADS, "first")
        found["plan"] = self.count(program, "--plan", made[0]) if made else None
        found["best_map_remote"] = made[1] if made else None
        return found

    def elsewhere(self, program: list[str], threads: int) -> dict:
        """With the plan of the first command, and with one of its own."""
        own = self.plan(program, threads, "own")
        options = ("--threads", str(threads))
        return {
            "first": self.count(program, "--plan", str(self.folder / "first.plan.json"), *options),
            "own": self.count(program, "--plan", own[0], *options) if own else None,
        }


def median_of(rounds: list[dict], variant: str) -> dict | None:
    cells = [each[variant] for each in rounds if each[variant] is not None]
    return {name: statistics.median(cell[name] for cell in cells) for name in FIGURES} if cells else None


def cell_text(cell: dict | None) -> str:
    if cell is None:
        return "failed"
    return f"{100 * cell['use_remote']:.1f} %, {1e3 * cell['use_s']:.3g} ms"


def pairs_of(rounds: list[dict], one: str, other: str, figure: str) -> list[tuple[float, float]]:
    return [(each[one][figure], each[other][figure]) for each in rounds if each.get(one) and each.get(other)]


def bars_of(rounds: list[dict], medians: dict) -> dict[str, tuple[float, Ratio | None]]:
    """What a bar is about, where it is, and the ratio that it is for."""
    best = min((name for name in NEEDS_NO_PLAN if medians[name]), key=lambda name: medians[name]["use_s"], default="plain")
    in_use, in_all = (Ratio.of(pairs_of(rounds, "plan", "plain", figure)) for figure in ("use_s", "whole_s"))
    better = min((each for each in (in_use, in_all) if each), key=lambda each: each.low, default=None)
    near = [(max(each["plan"]["use_remote"], NEARLY_NONE), max(each["best_map_remote"], NEARLY_NONE))
            for each in rounds if each["plan"] and each["best_map_remote"] is not None]  # fmt: skip
    return {
        f"plan to {best}, time of use": (1.05, Ratio.of(pairs_of(rounds, "plan", best, "use_s"))),
        "plan to plain, the better of use and whole run": (1.0, better),
        "plan to the best static map, remote share": (1.3, Ratio.of(near)),
    }


def told(what: str, bar: float, ratio: Ratio | None) -> dict:
    missed = ratio is None or ratio.low > bar
    text = f"{ratio.middle:.3f} ({ratio.low:.3f} to {ratio.high:.3f})" if ratio else "unavailable"
    print(f"    {what}: {text}, at most {bar}{': MISSED' if missed else ''}", flush=True)
    return {"of": what, "bar": bar, "missed": missed} | (dataclasses.asdict(ratio) if ratio else {})


def measure(runs: Runs, commands: list[list[str]], rounds: int, fewer: int | None) -> Iterator[dict]:
    """All rounds so far, after each: a round takes minutes."""
    found: list[dict] = []
    others: dict[str, list[dict]] = {}
    for _ in range(rounds):
        found.append(runs.round(commands[0]))
        for command in commands[1:]:
            others.setdefault(shlex.join(command), []).append(runs.elsewhere(command, THREADS))
        if fewer:
            others.setdefault(f"{fewer} threads", []).append(runs.elsewhere(commands[0], fewer))
        yield summary_of(found, others)


def summary_of(found: list[dict], others: dict[str, list[dict]]) -> dict:
    medians = {variant: median_of(found, variant) for variant in [*VARIANTS, "plan"]}
    bars = bars_of(found, medians) | {
        f"plan of the first to one of {name}, time of use": (1.2, Ratio.of(pairs_of(cells, "first", "own", "use_s")))
        for name, cells in others.items()
    }
    return {"median": medians, "rounds": found, "elsewhere": others, "bars": bars}


def tell(name: str, found: dict) -> dict:
    """With the bars as they are kept."""
    medians = found["median"]
    print(f"| {name} | " + " | ".join(cell_text(medians[variant]) for variant in medians) + " |", flush=True)
    return found | {"bars": [told(what, bar, ratio) for what, (bar, ratio) in found["bars"].items()]}


def keep(output: pathlib.Path | None, document: dict) -> None:
    if output:
        output.write_text(json.dumps(document, indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--on", required=True, metavar="lab:MACHINE")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fewer", type=int, metavar="THREADS")
    parser.add_argument("--unbound", action="store_true", help="threads as the program has them; the plan binds them")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", metavar="NAME=COMMAND")
    asked = parser.parse_args()
    results = {}
    machine = describe_machine()
    print("| program | " + " | ".join([*VARIANTS, "**plan**"]) + " |\n" + "|---" * (len(VARIANTS) + 2) + "|")
    for each in asked.programs:
        name, _, text = each.partition("=")
        commands = [shlex.split(command) for command in text.split("|")]
        with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
            runs = Runs(str(pathlib.Path(asked.nodewise).resolve()), asked.on, pathlib.Path(folder), not asked.unbound)
            for found in measure(runs, commands, asked.rounds, asked.fewer):
                results[name] = {"command": text} | tell(name, found)
                keep(asked.output, {"schema": "nodewise/bench-plans/2", "machine": machine, "lab": asked.on,
                                    "bound": not asked.unbound, "results": results})  # fmt: skip
    return int(any(bar["missed"] for each in results.values() for bar in each["bars"]))


if __name__ == "__main__":
    sys.exit(main())
