# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The story of first touch, as a run: a program written the usual way is profiled, the
profile's plan fixes the same binary, and the proof is counted. Beside it the fix in the source."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
PLAN = "first-touch.plan.json"


class Terminal:
    def __init__(self):
        self.colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def say(self, text):
        print("\n" + textwrap.fill(text, 79), flush=True)

    def heading(self, text):
        rule = "=" * len(text)
        print(f"\n\033[1m{text}\033[0m" if self.colour else f"\n{text}\n{rule}", flush=True)

    def command(self, words):
        line = "$ " + " ".join(words)
        print(f"\n\033[36m{line}\033[0m" if self.colour else f"\n{line}", flush=True)


class Nodewise:
    """The command, run where its files may be left."""

    def __init__(self, command, folder):
        self.command = command
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, words, hidden=()):
        """`hidden` options are not shown: they are for the story alone."""
        TERMINAL.command(["nodewise", *words])
        at = words.index("--")
        real = [*words[:at], *hidden, "--", str(PROGRAMS / words[at + 1]), *words[at + 2 :]]
        ended = subprocess.run(
            [self.command, *real], cwd=self.folder, stdout=subprocess.DEVNULL, check=False
        )
        if ended.returncode != 0:
            raise SystemExit(f"story: the command above ended with status {ended.returncode}")

    def read(self, name):
        return json.loads((self.folder / name).read_text())


def nodes_here(command):
    """How many nodes with processors this machine has."""
    answer = subprocess.run([command, "topo", "--json"], capture_output=True, text=True, check=True)
    return sum(1 for node in json.loads(answer.stdout)["nodes"] if node["has_cpus"] and node["allowed"])


def outcome(counts):
    """The share of lines in use that came from the own node's memory, and the time by the model."""
    return counts["use"]["local"], counts["predicted"][0]["seconds"]


def show_plan(nodewise):
    TERMINAL.command(["cat", PLAN])
    plan = nodewise.read(PLAN)
    shown = {key: plan[key] for key in ("program", "threads", "objects")}
    print("...\n" + json.dumps(shown, indent=1), flush=True)


def tell(nodewise, machine, size):
    on = ["--on", machine] if machine else []
    TERMINAL.heading("1. What is wrong?")
    TERMINAL.say("The profiler runs the program as it is. It hears which thread touches each page first, "
                 "from which line" + (", and in the virtual machine it counts who uses it." if machine else "."))
    nodewise.run(["profile", "--write-plan", PLAN, "--bind", "close", *on, "--", "first-touch", *size])
    TERMINAL.heading("2. The fix, as a file")
    show_plan(nodewise)
    TERMINAL.heading("3. The same binary with the plan")
    TERMINAL.say("Each array gets one block a thread, on the node where that thread runs, before the program "
                 "touches it. The kernel is asked where the pages went"
                 + ("; where the accesses went is counted." if machine else "."))
    counted = ["--on-counts", "planned.json"] if machine else []
    nodewise.run(["run", "--plan", PLAN, "--verify", *on, "--", "first-touch", *size], counted)
    if machine:
        prove(nodewise, on, size)


def prove(nodewise, on, size):
    TERMINAL.heading("4. Proof")
    TERMINAL.say("How many memory accesses of the working loop stayed on the thread's own node: as it is, with "
                 "the plan, and with the fix in the source (cured.c). The times are the model's, for the "
                 "machine that the virtual one stands for.")
    shares = [("with the plan", outcome(nodewise.read("planned.json")))]
    for title, program in (("as it is", "first-touch"), ("fixed in the source", "first-touch-cured")):
        name = f"{program}.json"
        nodewise.run(["run", "--bind", "close", *on, "--quiet", "--on-counts", name, "--", program, *size])
        shares.append((title, outcome(nodewise.read(name))))
    print()
    for title in ("as it is", "with the plan", "fixed in the source"):
        share, seconds = dict(shares)[title]
        print(f"  {title:20} {'#' * round(24 * share):24} {100 * share:5.1f} % local, "
              f"{1000 * seconds:.2f} ms predicted")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodewise")
    parser.add_argument("--machine", default="lab:nehalem-2x4")
    parser.add_argument("--mib", default="16", help="MiB per array")
    arguments = parser.parse_args()
    command = os.path.abspath(arguments.nodewise)
    nodewise = Nodewise(command, pathlib.Path(command).parents[1] / "story")
    size = [arguments.mib, "2"]

    TERMINAL.say("first-touch works on three arrays with all threads: a[i] += b[i] * c[i]. It is "
                 "written the usual way; docs/why-slow.md explains what that costs.")
    if nodes_here(command) > 1:
        TERMINAL.heading("On this machine")
        tell(nodewise, None, size)
    else:
        TERMINAL.say("This machine has one NUMA node, so the story plays on a virtual one with a real kernel. "
                     "It counts where accesses go; how long they take there is predicted by a model, from "
                     "the figures of the machine that it stands for.")
    TERMINAL.heading(f"On {arguments.machine}")
    tell(nodewise, arguments.machine, size)
    TERMINAL.say("Your own program: build/release/bin/nodewise profile -- PROGRAM    (add --on lab:4x2 for a "
                 "virtual machine of four nodes)")


TERMINAL = Terminal()
PROGRAMS = pathlib.Path(os.environ.get("NODEWISE_EXAMPLES", HERE.parents[1] / "build/release/examples/first-touch"))

if __name__ == "__main__":
    main()
