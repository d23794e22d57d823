# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The input vector of a sparse product is read from other nodes as much as `choose_input` predicts, under each of
its placements."""

import json
import re
import tempfile
import unittest
from pathlib import Path

import lab
from batch import Counted, Fills, run_batch

IN_GUEST = str(lab.BUILD / "tests/nodewise_input_in_guest")
MEMORY = re.compile(r"^x (\d+) (0x[0-9a-f]+) (\d+)$", re.MULTILINE)
PREDICTED_WITHIN = 0.05
PAGE = 4096
RUNS = {
    "4x2": ("band blocked", "spread blocked", "random blocked", "random interleaved", "random copied"),
    "2x4": ("spread blocked", "spread interleaved"),
}


def fills_of_vector(counts: dict, output: str) -> Fills:
    """The lines in use of the memory that the program printed."""
    ranges = [(int(pid), int(start, 16), int(size)) for pid, start, size in MEMORY.findall(output)]
    objects = {
        (each["pid"], each["object"])
        for each in counts["objects"]
        for pid, start, size in ranges
        if each["pid"] == pid and start - PAGE < int(each["start"], 16) <= start and each["bytes"] >= size
    }
    fills = Fills()
    for pages in counts["pages"]:
        if (pages["pid"], pages.get("object")) in objects:
            fills.local += pages["use"]["local_fills"]
            fills.remote += pages["use"]["remote_fills"]
    return fills


class Input(unittest.TestCase):
    def check(self, counted: Counted, counts: dict) -> None:
        self.assertEqual(counted.status, 0, counted.output)
        self.assertIn("result right 1\n", counted.output)
        predicted = float(counted.output.split("predicted ")[1].split()[0])
        fills = fills_of_vector(counts, counted.output)
        self.assertGreater(fills.all, 50000, "the vector was not found, or was in the caches")
        self.assertAlmostEqual(fills.share, predicted, delta=PREDICTED_WITHIN)

    def test_reads_of_other_nodes_are_as_predicted(self) -> None:
        for machine, runs in RUNS.items():
            with tempfile.TemporaryDirectory(prefix="nodewise-lab-test-") as name:
                directory = Path(name)
                directory.chmod(0o777)
                commands = [[IN_GUEST, *run.split()] for run in runs]
                batch = run_batch(machine, commands, directory, run=(), environment={})
                counts = json.loads((directory / "counts.json").read_text())
            for run, counted in zip(runs, batch, strict=True):
                with self.subTest(f"{run} on {machine}"):
                    self.check(counted, counts)


if __name__ == "__main__":
    unittest.main()
