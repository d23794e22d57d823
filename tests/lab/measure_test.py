# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise measure` on machines with several nodes: no figure is looked at, since the lab has no speed,
but for what it is a figure. The lab's counter says which lines moved between the marks of each point."""

import json
import os
import re
import subprocess
import unittest
from collections import Counter, defaultdict

import lab
from traffic_counts import FOUR, NODES, NODEWISE

DENY = lab.BUILD / "tests/deny"
LINE = 64
MIB = 1 << 20
MATRICES = "bandwidth,latency,contention"
# Arrays, and of these how many a sweep fetches, writes back and streams; streams that are counted.
KERNELS = {
    "load": (1, 1, 0, 0, 1), "sum": (1, 1, 0, 0, 1), "store": (1, 1, 1, 0, 1), "update": (1, 1, 1, 0, 2),
    "copy": (2, 2, 1, 0, 2), "scale": (2, 2, 1, 0, 2), "add": (3, 3, 1, 0, 3), "triad": (3, 3, 1, 0, 3),
    "schoenauer": (4, 4, 1, 0, 4), "store_nt": (1, 0, 0, 1, 1), "copy_nt": (2, 1, 0, 1, 2),
    "scale_nt": (2, 1, 0, 1, 2), "add_nt": (3, 2, 0, 1, 3), "triad_nt": (3, 2, 0, 1, 3),
    "schoenauer_nt": (4, 3, 0, 1, 4),
    "strided_load": (1, 1, 0, 0, 1 / 8),  # one element of each line
}  # fmt: skip
# Two nodes of two cores with small caches, for which small buffers are large.
SMALL_CACHES = {
    "schema": "nodewise/machine/1", "name": "small-caches", "title": "small caches", "source": "a test", "notes": [],
    "threads_per_core": 1,
    "nodes": [{"id": n, "cpus": f"{2 * n}-{2 * n + 1}", "memory_bytes": 1 << 30, "kind": "dram"} for n in (0, 1)],
    "distances": [[10, 21], [21, 10]],
    "caches": [
        {"level": 1, "kind": "data", "size_bytes": 16 << 10, "line_bytes": LINE, "ways": 4, "shared_by": "core"},
        {"level": 2, "kind": "unified", "size_bytes": 64 << 10, "line_bytes": LINE, "ways": 16, "shared_by": "core"},
    ],
    "parameters": [], "lab": {"memory_bytes_per_node": 256 * MIB, "offline_nodes": []},
}  # fmt: skip


class Moved:
    """Lines between the marks of a point, by the processors' node and the memory's."""

    def __init__(self):
        self.lines = {kind: Counter() for kind in ("fills", "write_backs", "streams")}

    def all(self, kind="fills"):
        return self.lines[kind].total()

    def share(self, wanted):
        """Of what processors asked for, that of the (from, to) wanted."""
        asked = self.lines["fills"] + self.lines["streams"]
        return sum(count for way, count in asked.items() if wanted(*way)) / asked.total()


class MeasureTest(lab.LabTest):
    def measure(self, machine, *options, size, time=0.01, expected=0, before=(), counted=False, env=None):
        """Points by experiment and label; what moved for each where it is counted."""
        command = [NODEWISE, "measure", *options, "--size", str(size), "--time", str(time), "-o", "found.json"]
        counts = ["--on-counts", "counts.json"] if counted else ["--on-no-count"]
        self.done = subprocess.run(
            [NODEWISE, "run", "--on", f"lab:{machine}", "--quiet", *counts, "--", *before, *command],
            cwd=self.directory, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
        self.assertEqual(self.done.returncode, expected, self.done.stdout + self.done.stderr)
        return self.read_points()

    def read_points(self):
        self.result = json.loads((self.directory / "found.json").read_text())
        self.assertEqual(len(self.result["points"]), self.result["planned"])
        points = defaultdict(dict)
        for each in self.result["points"]:
            points[each["experiment"]][each["label"]] = each
        return points

    def moved(self):
        regions = defaultdict(Moved)
        for each in json.loads((self.directory / "counts.json").read_text())["regions"]:
            for kind, lines in regions[each["name"]].lines.items():
                lines[each["from"], each["to"]] += each[kind]
        return regions

    def assert_known(self, points):
        for label, each in points.items():
            with self.subTest(f"{each['experiment']}: {label}"):
                self.assertNotIn("unavailable", each)
                self.assertGreater(each["median"], 0)
                self.assertEqual(each["on_node"], 1)

    def assert_sweeps(self, lines, of_a_sweep, tolerance=0.01):
        """Returns how many sweeps the lines are: a whole number, but for the tolerance.

        The kernel and the program have lines beside the buffer's: as for the shares, up to a
        hundredth of all. The faster the machine, the more sweeps there are: of many the tolerance
        is more than half of one, and nothing is said of their number."""
        sweeps = lines / of_a_sweep
        self.assertGreater(sweeps, 0.9)
        if sweeps * tolerance < 0.4:
            self.assertAlmostEqual(sweeps, round(sweeps), delta=sweeps * tolerance)
        return sweeps


class Matrices(MeasureTest):
    def test_each_point_moves_lines_between_its_nodes_and_no_others(self):
        size, nodes = 8 * MIB, range(NODES[FOUR])
        points = self.measure(FOUR, "--only", MATRICES, size=size, counted=True)
        moved = self.moved()
        ways = {f"node {n} -> node {m}": (n, m) for n in nodes for m in nodes}
        for experiment in ("bandwidth", "latency"):
            self.assertEqual({label: (p["from"], p["to"]) for label, p in points[experiment].items()}, ways)
            self.assert_known(points[experiment])
            for label, way in ways.items():
                with self.subTest(f"{experiment}: {label}"):
                    lines = moved[f"{experiment}: {label}"]
                    self.assertGreater(lines.share(lambda *each, way=way: each == way), 0.99)
                    if experiment == "bandwidth":
                        self.assert_sweeps(lines.all(), size / LINE)
                    else:  # so many loads, nearly each of a line that is in no cache
                        self.assertGreater(lines.all(), 10_000)
        self.assertEqual(set(points["contention"]), {f"all -> node {m}" for m in nodes})
        self.assert_known(points["contention"])
        for m in nodes:
            with self.subTest(f"contention: {m}"):
                lines = moved[f"contention: all -> node {m}"]
                self.assertGreater(lines.share(lambda _, to, m=m: to == m), 0.99)
                for n in nodes:
                    self.assertAlmostEqual(lines.share(lambda from_, _, n=n: from_ == n), 1 / len(nodes), delta=0.005)
                self.assert_sweeps(lines.all(), size / LINE)


class Nodes(MeasureTest):
    def assert_matrix(self, rows, columns):
        done = subprocess.run(
            [NODEWISE, "measure", "--on", f"lab:{self.machine}", "--only", MATRICES, "--size", "1MiB", "--time", "0.01",
             "-o", "found.json"],
            cwd=self.directory, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        points = self.read_points()
        for experiment in ("bandwidth", "latency"):
            pairs = [(each["from"], each["to"]) for each in points[experiment].values()]
            self.assertEqual(pairs, [(n, m) for n in rows for m in columns])
            self.assert_known(points[experiment])
        self.assertEqual([each["to"] for each in points["contention"].values()], columns)
        self.assertIn(f"from \\ memory  {'  '.join(f'node {m}' for m in columns)}\n", done.stdout)

    def test_a_memory_without_processors_is_a_column_and_no_row(self):
        self.machine = "cxl"
        self.assert_matrix([0, 1], [0, 1, 2])

    def test_numbers_with_a_gap_are_the_kernel_s(self):
        self.machine = "gap"
        self.assert_matrix([0, 1, 3], [0, 1, 3])

    def test_a_node_0_without_memory_is_a_row_and_no_column(self):
        self.machine = "memoryless0"
        self.assert_matrix([0, 1], [1])

    def test_by_weight_is_in_proportion_to_what_the_firmware_says(self):
        """100, 100 and 25 GB/s, each by its own processors or the best of others': 4 to 4 to 1."""
        points = self.measure(lab.with_own_caches("cxl"), "--only", "interleave", size=18 * MIB, counted=True)
        self.assert_known(points["interleave"])
        moved = self.moved()
        for label, shares in (("in turn", (1 / 3, 1 / 3, 1 / 3)), ("by weight", (4 / 9, 4 / 9, 1 / 9))):
            for m, share in enumerate(shares):
                with self.subTest(label, memory=m):
                    found = moved[f"interleave: {label}"].share(lambda _, to, m=m: to == m)
                    self.assertAlmostEqual(found, share, delta=0.01)
        self.assertGreater(moved["interleave: local"].share(lambda n, m: n == m), 0.99)


class Full(MeasureTest):
    def test_every_experiment_has_its_points_and_each_kernel_moves_what_it_is_said_to(self):
        (self.directory / "small.json").write_text(json.dumps(SMALL_CACHES))
        size = 4 * MIB
        points = self.measure("./small.json", "--full", "--test", "all", size=size, counted=True)
        moved = self.moved()
        help_text = " ".join(subprocess.check_output([NODEWISE, "measure", "--help"], text=True).split())
        listed = re.search(r"only these experiments: (.*?) -t, --test", help_text)[1]
        names = re.findall(r"([a-z-]+) \([^)]*\)", listed)  # each with what it measures
        self.assertEqual(set(points), set(names))
        for experiment in names:
            self.assert_known(points[experiment])
        self.assertEqual(set(points["kernels"]), {*KERNELS, "random_load"})
        for experiment in ("kernels", "mixes"):
            for name, point in points[experiment].items():
                if name != "random_load":  # what it meets again in a cache is chance
                    with self.subTest(f"{experiment}: {name}"):
                        self.check_kernel(moved[f"{experiment}: {name}"], name, point, size)
        self.check_places(moved)
        self.assertEqual(
            set(points["migration"]), {f"node 0 -> node 1, {kind}" for kind in ("base pages", "transparent huge pages")}
        )
        self.assertEqual(set(points["transfer"]), {"cpu 0 -> cpu 1", "cpu 0 -> cpu 2"})
        self.assertEqual(len(points["touch"]), 4)
        for name, huge in (("base pages", 0), ("transparent huge pages", 1)):
            self.assertEqual(points["touch"][f"{name}, 1 thread"]["in_huge_pages"], huge)

    def check_kernel(self, lines, name, point, size):
        arrays, fetched, written, streamed, counted = KERNELS[name]
        array = size / LINE / arrays
        expected = (("fills", fetched, 0.01), ("streams", streamed, 0.01), ("write_backs", written, 0.05))
        sweeps = [
            (self.assert_sweeps(lines.all(kind), count * array, tolerance), tolerance)
            for kind, count, tolerance in expected
            if count != 0
        ]
        for each, tolerance in sweeps:  # as many of each kind
            self.assertAlmostEqual(each / sweeps[0][0], 1, delta=0.01 + tolerance)
        self.assertGreater(lines.share(lambda n, m: n == m), 0.99)
        self.assertAlmostEqual(point["moved_per_counted"], (fetched + written + streamed) / counted)

    def check_places(self, moved):
        for m in (0, 1):
            share = moved["interleave: in turn"].share(lambda _, to, m=m: to == m)
            self.assertAlmostEqual(share, 0.5, delta=0.01)
        for label in ("interleave: local", "scaling: 2 nodes", "scaling: 1 thread of node 0"):
            self.assertGreater(moved[label].share(lambda n, m: n == m), 0.99, label)
        beside = moved["loaded-latency: 0 pauses"]
        # How much it moves depends on the time of a visit: a few lines of the runtime's own weigh up to 1.1 %.
        self.assertGreater(beside.share(lambda n, m: (n, m) == (0, 0)), 0.95)


class Refused(MeasureTest):
    def test_what_the_kernel_refuses_is_said_and_has_no_figure(self):
        deny = (str(DENY), "mbind", "EPERM", "--")
        for options, status in (((), 0), (("--strict",), 1)):
            points = self.measure("gap", "--only", "bandwidth,latency,transfer,migration", *options, size=MIB,
                                  expected=status, before=deny)  # fmt: skip
            for each in (point for some in points.values() for point in some.values()):
                with self.subTest(each["label"], options=options):
                    self.assertIn("EPERM", each["unavailable"])
                    self.assertNotIn("median", each)
            self.assertEqual(len(points["bandwidth"]), 9)
        self.assertIn("EPERM", self.done.stdout)


class Kept(MeasureTest):
    def test_nothing_is_kept_in_the_lab(self):
        kept = self.directory / "kept.json"
        kept.write_text("the host's")
        self.measure("2x1", "--only", MATRICES, size=MIB, env={"NODEWISE_MEASURED": str(kept)})
        self.assertEqual(kept.read_text(), "the host's")
        self.assertIn("Not saved: the virtual machine 2x1", self.done.stdout)


if __name__ == "__main__":
    unittest.main()
