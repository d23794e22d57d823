# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise pages` against a program that knows where its pages are, on four nodes.

One guest does all the looking (a start for each question would be slow); what it wrote down is
checked here: the runs of every mapping by every method that an ordinary user has, the totals
against numastat's, and what is moved by --migrate.
"""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from lab import BUILD, FOUR_NODES, PYTHON, ROOT, LabTest

NODEWISE = BUILD / "bin/nodewise"
PROGRAM = BUILD / "tests/nodewise_pages_in_guest"
DENY = BUILD / "tests/deny"
SPECIAL = {"absent": -2, "unknown": -1, "zero": -4}

SCRIPT = r"""
set -e
{program} expected.json &
pid=$!
while ! grep -q '^State:.T' /proc/$pid/status; do kill -0 $pid; sleep 0.05; done
{nodewise} pages --json -o auto.json $pid
{nodewise} pages --json --method move_pages -o move_pages.json -p $pid
{nodewise} pages --json --method numa_maps -o numa_maps.json $pid
{deny} move_pages EPERM -- {nodewise} pages --json -o denied.json $pid
{nodewise} pages $pid > text.txt
{nodewise} pages --totals $pid > totals.txt
COLUMNS=200 numastat -p $pid > numastat.txt
{nodewise} pages --csv --interval 0.1 --count 3 $pid > series.csv
cat /proc/$pid/smaps > smaps.txt
{nodewise} pages --openmetrics $pid > metrics.prom
{nodewise} pages --openmetrics --interval 0.1 -o moved.prom $pid &
looker=$!
while ! [ -s moved.prom ]; do kill -0 $looker; sleep 0.05; done
{nodewise} pages --migrate 1:0 -p $pid > migrate.txt
# The second file from now on is of a sample that began after this.
for round in 1 2; do
  touch before_it.dat
  while [ -z "$(find moved.prom -newer before_it.dat)" ]; do kill -0 $looker; sleep 0.05; done
done
kill -TERM $looker
wait $looker || true
{nodewise} pages --json -o migrated.json $pid
migratepages $pid 0 3
{nodewise} pages --json -o peer.json $pid
kill -KILL $pid
"""


PRIVILEGED_LAB = BUILD / "tests/privileged_lab/nodewise_lab"
PRIVILEGED_SCRIPT = r"""
set -e
{program} expected.json &
pid=$!
while ! grep -q '^State:.T' /proc/$pid/status; do kill -0 $pid; sleep 0.05; done
for method in auto pagemap move_pages; do
  {nodewise} pages --json --method $method -o $method.json $pid
done
kill -KILL $pid
"""


def owners(area):
    """A page -> its node, or the number that stands for absent, unknown, zero."""
    found = []
    for run in area["runs"]:
        first, pages, node = run[:3]
        assert first == len(found), "runs follow each other"
        found += [SPECIAL.get(node, node)] * pages
    return found


class GuestTest(LabTest):
    """One guest for all tests of a class; `files` is what it left in its directory."""

    files = {}

    @classmethod
    def run_guest(cls, command, script):
        script = script.format(program=PROGRAM, nodewise=NODEWISE, deny=DENY)
        with tempfile.TemporaryDirectory(prefix="nodewise-pages-test-") as folder:
            Path(folder).chmod(0o777)
            done = subprocess.run([*command, "--", "sh", "-c", script], cwd=folder, capture_output=True, text=True,
                                  timeout=900, stdin=subprocess.DEVNULL)
            if done.returncode != 0:
                raise AssertionError(f"status {done.returncode}\n{done.stdout}{done.stderr}")
            cls.files = {p.name: p.read_text() for p in Path(folder).iterdir() if p.suffix != ".dat"}

    def document(self, name):
        return json.loads(self.files[name])

    def process(self, name):
        return self.document(name)["samples"][0]["processes"][0]

    def areas_of(self, name):
        """Expected area -> (its owners as expected, the same pages as reported)."""
        pages = {}  # address -> owner
        for area in self.process(name)["areas"]:
            start = int(area["start"], 16)
            for i, owner in enumerate(owners(area)):
                pages[start + 4096 * i] = owner
        found = {}
        for area in self.document("expected.json"):
            start = int(area["start"], 16)
            found[area["name"]] = (area["owners"],
                                   [pages.get(start + 4096 * i) for i in range(len(area["owners"]))])
        return found


class Pages(GuestTest):
    @classmethod
    def setUpClass(cls):
        cls.run_guest([NODEWISE, "run", "--on", "lab:opteron-4x2", "--on-no-count"], SCRIPT)

    def test_every_page_is_reported_where_it_is_by_every_method_for_users(self):
        for name in ("auto.json", "move_pages.json"):
            process = self.process(name)
            self.assertEqual(process["method"], "move_pages")
            self.assertEqual(process["resolution"], "page")
            areas = self.areas_of(name)
            self.assertEqual(len(areas), 9)
            for area, (expected, reported) in areas.items():
                self.assertEqual(reported, expected, f"{name}: {area}")

    def test_a_pattern_becomes_runs_of_the_same_length(self):
        blocked = next(a for a in self.document("expected.json") if a["name"] == "blocked")
        start = int(blocked["start"], 16)
        parts = [a for a in self.process("auto.json")["areas"]
                 if start <= int(a["start"], 16) < start + 256 * 4096]
        self.assertEqual([p["runs"] for p in parts], [[[0, 64, node]] for node in range(4)])
        self.assertEqual([p["policies"][0]["policy"] for p in parts], [f"bind:{node}" for node in range(4)])

    def test_a_static_array_has_its_name_and_policies(self):
        named = [a for a in self.process("auto.json")["areas"] if a["name"] == "static_array"]
        self.assertEqual(len(named), 1)
        self.assertEqual(named[0]["kind"], "static")
        self.assertEqual(named[0]["runs"], [[64 * n, 64, n] for n in range(4)])
        self.assertEqual(named[0]["policies"],
                         [{"pages": 64, "policy": f"bind:{n}"} for n in range(4)])

    def test_kinds_and_page_sizes(self):
        areas = self.process("auto.json")["areas"]
        shm = [a for a in areas if a["name"] == "/dev/shm/nodewise-pages-test"]
        self.assertTrue(shm and all(a["kind"] == "shared" for a in shm))
        file = [a for a in areas if a["name"].endswith("nodewise-pages-test.dat")]
        self.assertTrue(file and all(a["kind"] == "file" for a in file))
        self.assertTrue(any(a["kind"] == "heap" for a in areas))
        self.assertEqual(sum(a["kind"] == "stack" for a in areas), 3, "of the main thread and two others")
        thp = next(a for a in self.document("expected.json") if a["name"] == "thp")
        huge = next(a for a in areas if a["start"] == thp["start"])
        block = self.files["smaps.txt"].split(thp["start"][2:] + "-", 1)[1]
        kib = int(re.search(r"AnonHugePages:\s+(\d+) kB", block)[1])
        self.assertEqual(kib, 8192, "the guest has huge pages for a program that asks")
        self.assertEqual(huge["huge_bytes"], kib * 1024)

    def test_shares_are_local_to_the_nodes_of_threads(self):
        process = self.process("auto.json")
        self.assertEqual({t["node"] for t in process["threads"]}, {1})
        self.assertEqual({t["cpu"] for t in process["threads"]}, {2, 3})
        at = {a["start"]: a for a in process["areas"]}
        expected = {a["name"]: a for a in self.document("expected.json")}
        self.assertEqual(at[expected["bound"]["start"]]["local"], 1)
        self.assertEqual(at[expected["thp"]["start"]]["local"], 0)
        interleaved = expected["interleaved"]
        self.assertEqual(at[interleaved["start"]]["local"],
                         interleaved["owners"].count(1) / len(interleaved["owners"]))

    def test_refused_move_pages_leaves_totals_and_no_page_on_node_0(self):
        for name in ("denied.json", "numa_maps.json"):
            process = self.process(name)
            self.assertEqual(process["method"], "numa_maps")
            self.assertEqual(process["resolution"], "reduced")
            for area in process["areas"]:
                self.assertLessEqual(set(owners(area)), {-1, -2})
            expected = {a["name"]: a for a in self.document("expected.json")}
            bound = next(a for a in process["areas"] if a["start"] == expected["bound"]["start"])
            self.assertEqual(bound["per_node"], [{"node": 1, "pages": 256}])
        self.assertEqual(self.process("denied.json")["move_pages_errno"], 1)

    def test_totals_are_numastat_s(self):
        mine, theirs = {}, {}
        for line in self.files["totals.txt"].splitlines():
            if row := re.match(r"  (Huge|Heap|Stack|Private|Total)\s+([\d. ]+)$", line):
                mine[row[1]] = [float(x) for x in row[2].split()]
        for line in self.files["numastat.txt"].splitlines():
            if row := re.match(r"(Huge|Heap|Stack|Private|Total)\s+([\d. ]+)$", line):
                theirs[row[1]] = [float(x) for x in row[2].split()]
        self.assertEqual(len(theirs), 5, self.files["numastat.txt"])
        self.assertEqual(mine, theirs)
        self.assertEqual(len(theirs["Total"]), 5, "four nodes and the sum")

    def test_a_time_series_has_a_row_a_node(self):
        lines = self.files["series.csv"].splitlines()
        self.assertEqual(lines[0], "time_s,process,node,resident_bytes,threads,active_threads")
        rows = [line.split(",") for line in lines[1:]]
        self.assertEqual([row[2] for row in rows], ["0", "1", "2", "3"] * 3)
        self.assertEqual(len({row[0] for row in rows}), 3)
        by_node = {node: 0 for node in range(4)}
        for area in self.process("auto.json")["areas"]:
            for share in area["per_node"]:
                by_node[share["node"]] += share["pages"] * 4096
        self.assertEqual([int(row[3]) for row in rows], list(by_node.values()) * 3)
        self.assertEqual([int(row[4]) for row in rows[:4]], [0, 3, 0, 0])

    def metrics(self, name):
        """Node, or none -> value, of each metric."""
        found = {}
        for family in text_string_to_metric_families(self.files[name]):
            for sample in family.samples:
                found.setdefault(sample.name, {})[sample.labels.get("node")] = sample.value
        return found

    def test_metrics_are_of_the_nodes(self):
        expected = {str(node): 0 for node in range(4)}
        for area in self.process("auto.json")["areas"]:
            for share in area["per_node"]:
                expected[str(share["node"])] += share["pages"] * 4096
        found = self.metrics("metrics.prom")
        self.assertEqual(found["nodewise_process_memory_bytes"], expected)
        self.assertEqual(found["nodewise_process_threads"], {"0": 0, "1": 3, "2": 0, "3": 0})
        self.assertEqual(found["nodewise_process_near_memory_bytes"][None], expected["1"])
        self.assertEqual(found["nodewise_process_far_memory_bytes"][None], sum(expected.values()) - expected["1"])

    def test_a_series_counts_the_pages_that_moved(self):
        def pages(name):
            return {int(area["start"], 16) // 4096 + i: owner for area in self.process(name)["areas"]
                    for i, owner in enumerate(owners(area)) if owner >= 0}

        before, after = pages("auto.json"), pages("migrated.json")
        moved = sum(before[page] != after[page] for page in before.keys() & after.keys())
        self.assertGreater(moved, 64)
        self.assertEqual(self.metrics("moved.prom")["nodewise_process_moved_pages_total"], {None: moved})

    def test_migrate_moves_what_migratepages_would(self):
        before, after, peer = (self.areas_of(f"{name}.json") for name in ("auto", "migrated", "peer"))
        self.assertRegex(self.files["migrate.txt"], r"^\d+ pages? could not be moved\n$")
        for area in ("bound", "blocked", "interleaved", "thp", "static_array"):
            moved = [0 if owner == 1 else owner for owner in before[area][1]]
            self.assertEqual(after[area][1], moved, area)
            again = [3 if owner == 0 else owner for owner in moved]
            self.assertEqual(peer[area][1], again, f"{area}: the peer moved the same kind of pages")

    def test_the_text_draws_the_blocks(self):
        text = self.files["text.txt"]
        row = next(line for line in text.splitlines() if line.lstrip().startswith("static_array"))
        self.assertRegex(row, r" 0+1+2+3+ ")
        self.assertIn("4 parts", row)
        self.assertIn("0:25 1:25 2:25 3:25", row)
        self.assertIn("3 threads: 3 on node 1", text)

    def test_json_conforms_to_its_schema(self):
        for name in ("auto.json", "numa_maps.json", "denied.json", "migrated.json"):
            file = self.directory / name
            file.write_text(self.files[name])
            done = subprocess.run(["/usr/bin/python3", ROOT / "tests/topology/validate_json.py",
                                   ROOT / "docs/schemas/pages-1.json", file], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class PagesAsRoot(GuestTest):
    """By frame numbers, on four nodes."""

    @classmethod
    def setUpClass(cls):
        cls.run_guest([PYTHON, "-B", PRIVILEGED_LAB, "run", "--machine", FOUR_NODES], PRIVILEGED_SCRIPT)

    def test_every_page_is_reported_where_it_is_by_its_frame(self):
        self.assertEqual(self.process("pagemap.json")["method"], "pagemap")
        for area, (expected, reported) in self.areas_of("pagemap.json").items():
            self.assertEqual(reported, expected, area)

    def test_all_ways_agree_on_all_memory_of_the_process(self):
        by = {name: {a["start"]: [run[:3] for run in a["runs"]] for a in self.process(f"{name}.json")["areas"]}
              for name in ("pagemap", "move_pages", "auto")}
        self.assertGreater(len(by["pagemap"]), 20)
        self.assertEqual(by["pagemap"], by["move_pages"])
        self.assertEqual(by["pagemap"], by["auto"])

    def test_frames_tell_which_pages_are_huge(self):
        thp = next(a for a in self.document("expected.json") if a["name"] == "thp")
        huge = next(a for a in self.process("pagemap.json")["areas"] if a["start"] == thp["start"])
        self.assertEqual(huge["runs"], [[0, 2048, 2, "huge"]])


if __name__ == "__main__":
    unittest.main()
