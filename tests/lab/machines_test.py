# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The guest matches the machine file: nodes, processors, distances, memory, costs.

With --all: every shipped machine, which takes minutes. Without: one of each kind.
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

import lab

EVERYDAY = ("opteron-4x2", "cxl", "memoryless0", "gap")
everything = False


class Shipped(lab.LabTest):
    def test_guest_is_the_machine_file(self):
        names = (
            sorted(path.stem for path in lab.MACHINES.glob("*.json")) if everything else EVERYDAY
        )
        self.assertGreaterEqual(len(names), 4)
        for name in names:
            with self.subTest(machine=name):
                command = lab.runner("selftest", "--machine", lab.MACHINES / f"{name}.json")
                result = subprocess.run(
                    command, capture_output=True, text=True, stdin=subprocess.DEVNULL
                )
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertIn(f"{name}: the guest matches the machine file", result.stdout)

    def test_names_titles_and_sources(self):
        for path in lab.MACHINES.glob("*.json"):
            with self.subTest(machine=path.name):
                document = json.loads(path.read_text())
                self.assertEqual(document["name"], path.stem)
                self.assertTrue(document["title"] and document["source"] and document["notes"])
                self.assertTrue(all(parameter["source"] for parameter in document["parameters"]))


class Gap(lab.LabTest):
    def test_an_offline_node_leaves_a_gap(self):
        result = lab.run(
            "cat", "/sys/devices/system/node/online", machine=lab.MACHINES / "gap.json"
        )
        self.assert_output(result, "0-1,3\n")


class Invented(lab.LabTest):
    """Numberings that need the board's tricks, and those that cannot be had."""

    def write(self, nodes: list[str], **rest: object) -> Path:
        entries = [{"id": i, "cpus": cpus, "memory_bytes": 1 << 30} for i, cpus in enumerate(nodes)]
        file = self.directory / "machine.json"
        file.write_text(
            json.dumps(
                {"schema": "nodewise/machine/1", "name": "invented", "nodes": entries, **rest}
            )
        )
        return file

    def online(self, file: Path) -> subprocess.CompletedProcess[bytes]:
        return lab.shell(
            "cd /sys/devices/system/node; cat node*/cpulist",
            machine=file,
            options=("--no-snapshot",),
        )

    def test_uneven_nodes_with_a_memory_between(self):
        """Gaps in the interrupt controllers' numbers hung QEMU 7.2 at boot."""
        self.assert_output(self.online(self.write(["0-2", "", "3"])), "0-2\n\n3\n")

    def test_interleaved_processors(self):
        result = self.online(self.write(["0,2", "1,3"]))
        self.assert_output(result, "0,2\n1,3\n")
        self.assertIn(b"a package of its own", result.stderr)

    def test_hardware_threads(self):
        file = self.write(["0-3", "4-7"], threads_per_core=2)
        siblings = "cat /sys/devices/system/cpu/cpu[05]/topology/thread_siblings_list"
        self.assert_output(
            lab.shell(siblings, machine=file, options=("--no-snapshot",)), "0-1\n4-5\n"
        )

    def test_what_cannot_be_had_is_refused(self):
        for nodes, rest, answer in (
            (["0-64"], {}, b"65 processors"),
            (["", "0-1"], {}, b"node 0 must have a processor"),
            (["2-3", "0-1"], {}, b"renumber"),
            (["0", "2"], {}, b"gaps"),
            (["0"], {"distances": [[9]]}, b"distance 9"),
            (["0"], {"schema": "other"}, b"schema"),
        ):
            with self.subTest(nodes=nodes, rest=rest):
                result = lab.run("true", machine=self.write(nodes, **rest))
                self.assertEqual(result.returncode, 125)
                self.assertIn(answer, result.stderr)


if __name__ == "__main__":
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        everything = True
    unittest.main()
