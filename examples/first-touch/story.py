# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The story of first touch, told by running it: a program written the usual way, the same binary
placed from outside, and the program cured in its source."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
STEPS = (
    ("As it is: one thread fills the arrays, so the kernel puts every page on that thread's node. "
     "The threads of other nodes work on far memory, and one memory controller serves everybody.",
     "as it is", ["--bind", "close"], "first-touch"),
    ("The same binary, started by nodewise: each array gets one block a thread, on the node where "
     "that thread runs, before the program touches it.",
     "under run --memory blocked", ["--memory", "blocked", "--bind", "close"], "first-touch"),
    ("Cured in the source: the threads that use the arrays fill them, by the same schedule.",
     "cured in the source", ["--bind", "close"], "first-touch-cured"),
)
WHERE = re.compile(r"^(\w+): (\d+) pages, ([\d.]+) % on the node of the thread that uses them", re.M)


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


def nodes_here(nodewise):
    """How many nodes with processors this machine has."""
    answer = subprocess.run([nodewise, "topo", "--json"], capture_output=True, text=True, check=True)
    return sum(1 for node in json.loads(answer.stdout)["nodes"] if node["has_cpus"] and node["allowed"])


def run(nodewise, machine, options, program, size):
    """Runs one step with its output shown; returns the shares the program itself found."""
    on = ["--on", machine, "--on-no-count"] if machine else []
    words = ["run", *on, *options, "--verify", "--", program, *size]
    TERMINAL.command(["nodewise", *words])
    words[words.index(program)] = str(PROGRAMS / program)
    process = subprocess.Popen([nodewise, *words], stdout=subprocess.PIPE, text=True)
    output = ""
    for line in process.stdout:
        output += line
        print(line, end="", flush=True)
    if process.wait() != 0:
        raise SystemExit(f"story: the command above ended with status {process.returncode}")
    return {name: float(share) for name, _, share in WHERE.findall(output)}


def tell(nodewise, machine, size):
    where = machine or "this machine"
    TERMINAL.heading(f"On {where}")
    if machine:
        TERMINAL.command(["nodewise", "lab", "describe", machine.removeprefix("lab:")])
        subprocess.run([nodewise, "lab", "describe", machine.removeprefix("lab:")], check=True)
    else:
        TERMINAL.command(["nodewise", "topo"])
        subprocess.run([nodewise, "topo"], check=True)
    rows = []
    for text, title, options, program in STEPS:
        TERMINAL.say(text)
        rows.append((title, run(nodewise, machine, options, program, size)))
    summary(where, rows)
    if machine:
        count(nodewise, machine, size)


def count(nodewise, machine, size):
    """The program as it is once more, with every access counted; the table is the command's own."""
    TERMINAL.heading(f"Which memory every access went to, on {machine}")
    TERMINAL.say("On a virtual machine nodewise counts what no processor here could: the cache lines "
                 "that each processor fetched from each memory, by array and source line.")
    words = ["run", "--on", machine, "--bind", "close", "--", "first-touch", *size]
    TERMINAL.command(["nodewise", *words])
    words[words.index("first-touch")] = str(PROGRAMS / "first-touch")
    if subprocess.run([nodewise, *words], stdout=subprocess.DEVNULL, check=False).returncode != 0:
        raise SystemExit("story: the command above failed")


def summary(where, rows):
    TERMINAL.heading(f"Pages on the node of the thread that uses them, on {where}")
    print(f"\n{'':28}" + "".join(f"{name:>9}" for name in rows[0][1]))
    for title, shares in rows:
        bar = "#" * round(min(shares.values()) / 5) if shares else ""
        print(f"{title:28}" + "".join(f"{share:>7.1f} %" for share in shares.values()) + f"  {bar}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodewise")
    parser.add_argument("--machine", default="lab:nehalem-2x4")
    parser.add_argument("--mib", default="16", help="MiB per array")
    arguments = parser.parse_args()
    nodewise = os.path.abspath(arguments.nodewise)
    size = [arguments.mib, "2"]

    TERMINAL.say("first-touch works on three arrays with all threads: a[i] += b[i] * c[i]. It is "
                 "written the usual way; docs/why-slow.md explains what that costs.")
    if nodes_here(nodewise) > 1:
        tell(nodewise, None, size)
    else:
        TERMINAL.say("This machine has one NUMA node, so the story plays on a virtual one with a "
                     "real kernel. It shows where pages are, not how fast they are read; the times "
                     "the program prints there are the emulator's.")
    tell(nodewise, arguments.machine, size)
    TERMINAL.say("Your own program: build/release/bin/nodewise run --memory blocked --bind close "
                 "--verify -- PROGRAM    (add --on lab:4x2 for a virtual machine of four nodes)")


TERMINAL = Terminal()
PROGRAMS = pathlib.Path(os.environ.get("NODEWISE_EXAMPLES", HERE.parents[1] / "build/release/examples/first-touch"))

if __name__ == "__main__":
    main()
