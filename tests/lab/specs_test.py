# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Lists of processors and nodes, held against numactl, hwloc-calc and LIKWID on the same machine.

Each machine is started once: a script in the guest asks everybody all the questions.
"""

import shlex
import shutil
import subprocess
import unittest

from lab import BUILD, PYTHON, LabTest

NODEWISE = BUILD / "bin/nodewise"
IN_GUEST = BUILD / "tests/nodewise_specs_in_guest"

NUMACTL_CPUS = ["0", "0-1", "0,2-3", "+0", "+0-1", "!0", "!0-1", "!+1", "all"]
NUMACTL_NODES = ["0", "0-1", "+0", "+1", "!0", "!+0", "all"]

HWLOC = [
    "core:0", "core:1-", "core:all", "core:odd", "core:0:2", "pu:0-1", "pu:2", "package:1",
    "package:1.core:0", "package:all.core:0", "package:all.core:0.pu:0", "numa:0.core:1",
    "node:1.pu:0-1", "l3:0", "l3:1.core:0", "l2:1", "l1:2", "root ~core:0", "package:0 xcore:0-2",
    "core:0-1 ^core:1-2", "0x3", "0x0c", "0x0,0x3 0x4",
]
HWLOC_NODES = [
    "numa:0", "numa:1", "numa:2", "numa:1-", "package:0", "package:0.numa:1", "core:1", "root",
]

LIKWID = [
    "N", "S0", "S1", "D1", "C0", "M1", "N:0-3", "S0:0-1", "S0:0-1@S1:0-1", "S0:0,1", "S1:1-0",
    "S1:2,0-1", "S0:0,0", "L:S0:0-1", "D0:0", "C1:0-1", "M0:0-1", "M1:0", "0-1@S1:0",
    "E:N:4", "E:N:4:2:4", "E:N:4:1:2", "E:S1:3:1:2", "E:N:12", "E:N:20:4:8", "E:N:3:2:0",
    "E:N:4:2:4:1", "E:M1:4", "E:C0", "E:N:6:2:4@S0:0",
    "M:scatter", "M:scatter:4", "S:scatter", "C:scatter:3", "N:scatter", "S1:scatter",
    "S:balanced:4", "S:balanced:5", "N:balanced:3", "S:balanced",
    "S:cbalanced:2", "S:cbalanced:3", "S:cbalanced:4", "M:cbalanced:4", "S:cbalanced",
]
# Where packages have too few processors LIKWID's answers are left-overs of its memory.
LIKWID_NEEDS_FOUR_A_PACKAGE = ["S1:2,0-1", "S:cbalanced:3"]
# With processors 1 and 3-5 allowed. (M domains: LIKWID lists processors that it may not use. Plain
# numbers: it counts them within what is allowed.)
LIKWID_RESTRICTED = ["N", "S0", "S0:0", "S1:0-1", "N:0-1", "E:N:3", "S:scatter", "S:balanced:3"]

# LIKWID's own function in one process: a start of likwid-pin for each costs half a second there.
LIKWID_CALLER = """
import ctypes, sys
likwid = ctypes.CDLL("liblikwid.so.5.2")
likwid.topology_init(); likwid.numa_init(); likwid.affinity_init()
for line in sys.stdin:
    cpus = (ctypes.c_int * 4096)()
    found = likwid.cpustr_to_cpulist(line.strip().encode(), cpus, 4096)
    print("answer", ",".join(map(str, cpus[:max(found, 0)])), flush=True)
"""


def expand(text):
    """"0-2,5" as [0, 1, 2, 5]."""
    numbers = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


class Specs(LabTest):
    def setUp(self):
        super().setUp()
        for tool in ("numactl", "hwloc-calc", "likwid-pin", "taskset"):
            self.assertIsNotNone(shutil.which(tool), f"{tool} is missing: run scripts/setup")

    def answers(self, machine, questions):
        """Runs commands in one guest, each with a text on standard input; their lines."""
        script = ["set -e"]
        for number, (command, lines) in enumerate(questions):
            file = self.directory / f"in{number}"
            file.write_text("".join(line + "\n" for line in lines))
            script.append(f"echo; echo '@@@ {number}'; {{ {command}; }} < {file}")
        file = self.directory / "script"
        file.write_text("\n".join(script) + "\n")
        command = [NODEWISE, "run", "--on", f"lab:{machine}", "--on-no-count", "--", "bash", str(file)]
        result = subprocess.run(
            command, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        parts = result.stdout.split("\n@@@ ")[1:]
        self.assertEqual(len(parts), len(questions), result.stdout + result.stderr)
        return [part.split("\n", 1)[1].rstrip("\n").split("\n") for part in parts]

    def ask_us(self, question, texts, prefix=""):
        return (f"{prefix}{shlex.quote(str(IN_GUEST))}", [f"{question} {text}" for text in texts])

    def each_by(self, command, texts, prefix=""):
        """A command once a text, which takes the place of {}; it prints one line."""
        once = prefix + command.replace("{}", '"$text"')
        return (f"while read -r text; do {once}; done", texts)

    def hold(self, machine, texts, ours, theirs, ordered=False):
        self.assertEqual(len(ours), len(texts))
        self.assertEqual(len(theirs), len(texts))
        for text, mine, other in zip(texts, ours, theirs):
            with self.subTest(machine=machine, text=text):
                self.assertFalse(mine.startswith("refused"), mine)
                expected = expand(other)
                self.assertTrue(expected, "the other answered nothing")
                self.assertEqual(expand(mine), expected if ordered else sorted(expected))

    def test_numactl_names_the_same(self):
        self.numactl("4x2", NUMACTL_CPUS, NUMACTL_NODES)

    def test_numactl_counts_the_same_allowed_processors(self):
        # Without "all" and "!": numactl takes an affinity mask for no limit and goes beyond it.
        self.numactl("4x2", ["2", "+0", "+0-1", "3,5"], ["1"], "taskset -c 2-5 ")

    def numactl(self, machine, cpu_texts, node_texts, prefix=""):
        status = "grep ^Cpus_allowed_list /proc/self/status | cut -f2"
        cpus, cpu_others, nodes, node_others, memory, memory_others = self.answers(
            machine,
            [
                self.ask_us("cpus", cpu_texts, prefix),
                self.each_by(f"numactl -C {{}} {status}", cpu_texts, prefix),
                self.ask_us("nodes", node_texts, prefix),
                self.each_by(
                    "numactl -N {} numactl --show | sed -n 's/^cpubind: //p'", node_texts, prefix
                ),
                self.ask_us("memory", node_texts, prefix),
                self.each_by(
                    "numactl -m {} numactl --show | sed -n 's/^membind: //p'", node_texts, prefix
                ),
            ],
        )
        commas = [[line.strip().replace(" ", ",") for line in lines]
                  for lines in (node_others, memory_others)]
        self.hold(machine, cpu_texts, cpus, cpu_others)
        self.hold(machine, node_texts, nodes, commas[0])
        self.hold(machine, node_texts, memory, commas[1])

    def test_hwloc_names_the_same(self):
        for machine in ("2x2x2", "opteron-4x2"):
            ours, theirs = self.answers(
                machine,
                [
                    self.ask_us("cpus", HWLOC),
                    ("hwloc-calc -q --po -I pu | grep -v ^Waiting", HWLOC),
                ],
            )
            self.hold(machine, HWLOC, ours, theirs)

    def test_hwloc_numbers_nodes_without_processors_the_same(self):
        for machine in ("cxl", "hbm-ddr"):
            ours, theirs = self.answers(
                machine,
                [
                    self.ask_us("memory", HWLOC_NODES),
                    ("hwloc-calc -q --no --taskset | grep -v ^Waiting", HWLOC_NODES),
                ],
            )
            masks = [int(mask, 16) for mask in theirs]
            lists = [",".join(str(n) for n in range(64) if mask >> n & 1) for mask in masks]
            self.hold(machine, HWLOC_NODES, ours, lists)

    def likwid(self):
        """What makes the guest ready for LIKWID, and LIKWID."""
        # In the guest each hardware thread has a first-level cache of its own, and LIKWID 5.2 then
        # sees no second thread of any core: it is shown the machine without these caches.
        xml = self.directory / "machine.xml"
        caller = self.directory / "likwid.py"
        caller.write_text(LIKWID_CALLER)
        return (
            (f"lstopo-no-graphics --filter l1cache:none --filter l1icache:none --of xml > {xml}",
             []),
            f"HWLOC_XMLFILE={xml} HWLOC_THISSYSTEM=1 {PYTHON} -B {caller} 2>&1"
            " | sed -n 's/^answer //p'",
        )

    def test_likwid_names_the_same(self):
        xml, likwid = self.likwid()
        for machine in ("2x2x2", "2x4x2", "4x2"):
            texts = [
                text
                for text in LIKWID
                if machine != "4x2" or text not in LIKWID_NEEDS_FOUR_A_PACKAGE
            ]
            _, ours, theirs = self.answers(
                machine,
                [
                    xml,
                    self.ask_us("cpus", texts),
                    (likwid, texts),
                ],
            )
            self.hold(machine, texts, ours, theirs, ordered=True)

    def test_likwid_counts_the_same_allowed_processors(self):
        restricted = "taskset -c 1,3-5 "
        xml, command = self.likwid()
        _, ours, theirs = self.answers(
            "2x2x2",
            [
                xml,
                self.ask_us("cpus", LIKWID_RESTRICTED, restricted),
                (command.replace(PYTHON, restricted + PYTHON), LIKWID_RESTRICTED),
            ],
        )
        self.hold("2x2x2", LIKWID_RESTRICTED, ours, theirs, ordered=True)


if __name__ == "__main__":
    unittest.main()
