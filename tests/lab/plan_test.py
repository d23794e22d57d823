# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise run --plan` with plans written by hand, on a machine of 4 nodes with 2 cores each."""

import json
import unittest
from pathlib import Path

import lab
from traffic_counts import FIRST_TOUCH, TrafficTest

MACHINE = "4x2"
PROGRAM = FIRST_TOUCH / "first-touch"
SOURCE = (lab.ROOT / "examples/first-touch/usual.c").read_text().splitlines()


def site(array: str) -> str:
    line = next(i for i, text in enumerate(SOURCE) if f"float* {array} = malloc" in text)
    return f"usual.c:{line + 1}"


def map_of(*threads: int) -> dict:
    return {"map": " ".join(f"{thread}*1" for thread in threads)}


class Plans(TrafficTest):
    def follow(self, placements: dict, *options: str, threads: dict, mib: int = 16) -> dict:
        """The result of the run; `self.result` is that of the count."""
        (self.directory / "p.json").write_text(json.dumps({
            "schema": "nodewise/plan/1",
            "program": {"name": "first-touch"},
            "threads": {"nodes": 4, "bind": "close", "count": 8} | threads,
            "objects": [{"site": site(array), "kind": "heap", "placement": placement}
                        for array, placement in placements.items()],
        }))  # fmt: skip
        run = ("--plan", "p.json", "--json", "-o", "run.json", *options)
        self.counted = self.count(MACHINE, PROGRAM, mib, 3, run=run)
        return json.loads((self.directory / "run.json").read_text())

    def assert_followed(self, result: dict, entries: int = 3) -> None:
        self.assertEqual([e["as_asked"] for e in result["plan"]["entries"]], [1] * entries)
        self.assertEqual([e["objects"] for e in result["plan"]["entries"]], [1] * entries)
        self.assertTrue(result["as_asked"], result["warnings"])

    def nodes_of(self, result: dict) -> dict:
        """Of each array, the node of each of its parts."""
        objects = result["processes"][0]["objects"]
        return {o["site"]: o["strip"] for o in objects}

    def test_a_cure_by_map_blocks_and_cycles(self) -> None:
        # A loop over 2^22 floats by 8 threads: blocks of 2 MiB, which granules of 2 MiB are as well.
        placements = {"a": map_of(*range(8)), "b": "blocked", "c": "cyclic:2M"}
        result = self.follow(placements, threads={})
        self.assert_followed(result)
        self.assertLess(self.counted.remote(), 0.01)
        self.assertEqual(result["asked"]["bind"], "close")

    def test_without_it_three_quarters_are_remote(self) -> None:
        result = self.follow({"a": "none"}, threads={})
        self.assertGreater(self.counted.remote(), 0.7)
        self.assertEqual(result["plan"]["unnamed_objects"], 2)

    def test_a_map_for_four_threads_with_eight(self) -> None:
        placements = {array: map_of(0, 1, 2, 3) for array in "abc"}
        result = self.follow(placements, "--threads", "8", threads={"count": 4})
        self.assert_followed(result)
        self.assertLess(self.counted.remote(), 0.01)

    def test_uneven_maps_and_one_thread(self) -> None:
        placements = {"a": {"map": "7*1 0*2 4*1"}, "b": "thread:5", "c": "interleave"}
        result = self.follow(placements, threads={})
        self.assertEqual([e["as_asked"] for e in result["plan"]["entries"]], [1, 1, "unavailable"])
        nodes = self.nodes_of(result)
        self.assertEqual(nodes[site("a")], [3] * 16 + [0] * 32 + [2] * 16)
        self.assertEqual(nodes[site("b")], [2] * 64)
        self.assertEqual(nodes[site("c")], ["mixed"] * 64)

    def test_a_plan_beside_the_program_is_found_in_the_machine(self) -> None:
        folder = Path(self.enterContext(lab.tempfile.TemporaryDirectory(prefix="nodewise-plan-")))
        folder.chmod(0o755)
        file = folder / "p.json"
        file.write_text(json.dumps({"schema": "nodewise/plan/1", "threads": {"bind": "close"},
                                    "objects": [{"bytes": ">= 1M", "placement": "blocked"}]}))  # fmt: skip
        file.chmod(0o644)
        counted = self.count(MACHINE, PROGRAM, 16, 3, run=("--plan", str(file)))
        self.assertLess(counted.remote(), 0.01)


if __name__ == "__main__":
    unittest.main()
