# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Arrays of unmodified programs under `nodewise run`, by what the programs themselves ask the kernel."""

import json
import os
import subprocess
import unittest

from lab import BUILD, LabTest
from lines import in_guest

NODEWISE = BUILD / "bin/nodewise"
ARRAYS = BUILD / "tests/arrays"

C = {"malloc", "calloc", "aligned_alloc", "realloc", "mmap", "mremap", "static", "second_static"}
C_ROWS = {"rows", "more_rows"}
CXX = {"new", "vector", "grown_vector", "aligned_new"}
CXX_ROWS = {"matrix", "grown_matrix"}
FORTRAN = {"allocate", "matrix", "pointer", "save", "common"}


# Lines by what they are for; what has a report prints it behind the program's own lines.
BLOCKED = f"{NODEWISE} run --memory blocked --bind close"
REPORT = "--json -o /tmp/report.json"
LINES = {
    "plain": f"{NODEWISE} run --bind close -- {ARRAYS}/arrays",
    "C": f"{BLOCKED} -- {ARRAYS}/arrays",
    "C++": f"{BLOCKED} -- {ARRAYS}/arrays-cxx",
    "Fortran": f"{BLOCKED} -- {ARRAYS}/arrays-fortran",
    "cyclic": f"{NODEWISE} run --memory cyclic:64K -- {ARRAYS}/arrays cyclic 4",
    "report": f"{BLOCKED} {REPORT} -- {ARRAYS}/arrays",
    "rules": f"{NODEWISE} run {REPORT} --bind close --rule symbol=in_bss:bind:3 --rule site=make_rows:bind:2"
    f" --rule 'size<10M:local' --rule 'size>=10M:cyclic:256K:1,2' -- {ARRAYS}/arrays",
    "reused": f"{BLOCKED} -- {BUILD}/tests/agent/reused placed",
    "reused without system calls": f"{BLOCKED} -- {BUILD}/tests/agent/reused without_system_calls",
    "weights": f"{NODEWISE} run {REPORT} --memory weighted:0=3,2=1 -- {ARRAYS}/arrays",
}


class Arrays(LabTest):
    """All lines are run in one guest, but those that need another setting of the kernel or a file."""

    @classmethod
    def setUpClass(cls):
        texts = [f"rm -f /tmp/report.json; {line} && if [ -e /tmp/report.json ]; then cat /tmp/report.json; fi"
                 for line in LINES.values()]
        cls.done = dict(zip(LINES, in_guest(texts), strict=True))

    def together(self, name):
        """The program's own lines as name -> share in percent, and the report or None."""
        done = self.done[name]
        self.assertEqual(done.status, 0, done)
        own, brace, report = done.out.partition("{")
        shares = {name: float(share) for name, share in map(str.split, own.splitlines())}
        return shares, json.loads(brace + report) if brace else None

    def shares(self, *words, env=None):
        """The same of a guest of its own, without a report."""
        done = subprocess.run(
            [NODEWISE, "run", *map(str, words)], capture_output=True, text=True, cwd=self.directory,
            stdin=subprocess.DEVNULL, timeout=900, env=env,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return {name: float(share) for name, share in map(str.split, done.stdout.splitlines())}

    def assert_shares(self, found, names, least):
        for name in names:
            with self.subTest(name):
                self.assertGreaterEqual(found[name], least)

    def test_without_the_agent_a_quarter_is_local(self):
        found, _ = self.together("plain")
        self.assertEqual(set(found), C | C_ROWS)
        for name, share in found.items():
            self.assertLess(share, 30, name)

    def test_blocks_in_the_memory_of_others_are_placed(self):
        done = self.done["reused"]
        self.assertEqual(done.out, "".join(f"{name} 2048 100.00\n" for name in ("first", "second", "third")), done)
        self.assertEqual([self.done[name].status for name in LINES if name.startswith("reused")], [7, 7])

    def test_blocked_arrays_of_c(self):
        found, _ = self.together("C")
        self.assertEqual(set(found), C | C_ROWS)
        self.assert_shares(found, C, 99)
        self.assert_shares(found, C_ROWS, 95)

    def test_blocked_arrays_of_cxx(self):
        found, _ = self.together("C++")
        self.assertEqual(set(found), CXX | CXX_ROWS)
        self.assert_shares(found, CXX, 99)
        self.assert_shares(found, CXX_ROWS, 95)

    def test_blocked_arrays_of_fortran(self):
        found, _ = self.together("Fortran")
        self.assertEqual(set(found), FORTRAN)
        self.assert_shares(found, FORTRAN, 99)

    def test_blocked_with_huge_pages(self):
        found = self.shares("--on", "lab:opteron-4x2", "--on-no-count", "--on-thp", "always", "--memory", "blocked",
                            "--bind", "close", "--", ARRAYS / "arrays")
        self.assert_shares(found, C, 99)
        self.assert_shares(found, C_ROWS, 95)

    def test_cyclic_places_every_granule(self):
        found, _ = self.together("cyclic")
        self.assertEqual(set(found), C)
        self.assert_shares(found, C, 100)

    def test_cyclic_with_huge_pages_places_every_granule(self):
        found = self.shares("--on", "lab:opteron-4x2", "--on-no-count", "--on-thp", "always", "--memory", "cyclic:64K", "--", ARRAYS / "arrays",
                            "cyclic", 4)
        self.assert_shares(found, C, 100)

    def test_the_report_names_arrays_by_line_and_by_symbol(self):
        _, report = self.together("report")
        process = report["processes"][0]
        self.assertEqual(process["totals"]["placed"], len(process["objects"]))
        kinds = [found["kind"] for found in process["objects"]]
        self.assertEqual((kinds.count("static"), kinds.count("group"), kinds.count("map")), (2, 2, 2))
        self.assertEqual({found["name"] for found in process["objects"] if found["kind"] == "static"},
                         {"in_bss", "second_in_bss"})
        groups = [found for found in process["objects"] if found["kind"] == "group"]
        for group in groups:
            self.assertRegex(group["site"], r"^arrays\.c:\d+$")
            self.assertGreater(group["blocks"], 16000)
        on_node = {}
        for thread in process["threads"]:
            on_node.setdefault(thread["cpus"], 0)
            on_node[thread["cpus"]] += 1
        self.assertEqual(len(on_node), 8)

    def test_rules_by_line_symbol_and_size(self):
        _, report = self.together("rules")
        objects = report["processes"][0]["objects"]
        nodes = lambda found: {share["node"] for share in found["per_node"]}
        for found in objects:
            with self.subTest(found.get("name", found.get("site"))):
                if found.get("name") == "in_bss":
                    self.assertEqual((found["rule"], nodes(found)), (0, {3}))
                elif found["kind"] == "group":
                    self.assertEqual((found["rule"], nodes(found)), (1, {2}))
                elif found["bytes"] < 10 << 20:
                    self.assertEqual(found["rule"], 2)
                else:
                    self.assertEqual((found["rule"], nodes(found), found["as_asked"]), (3, {1, 2}, 1))

    def test_weights_are_shares(self):
        _, report = self.together("weights")
        for found in report["processes"][0]["objects"]:
            if found["kind"] != "group" and found["bytes"] >= 16 << 20:
                pages = {share["node"]: share["pages"] / found["pages"] for share in found["per_node"]}
                self.assertEqual(set(pages), {0, 2})
                self.assertAlmostEqual(pages[0], 0.75, delta=0.01)
                self.assertEqual(found["as_asked"], 1)

    def test_measured_weights_are_shares(self):
        described = subprocess.run([NODEWISE, "topo", "--json", "-i", "lab:opteron-4x2"], capture_output=True, text=True, check=True)
        machine = dict(json.loads(described.stdout)["machine"], parameters=[
            {"name": "bandwidth", "from": n, "to": n, "value": 30 if n == 0 else 10, "unit": "GB/s", "source": "measured in a test"}
            for n in range(4)])
        profile = self.directory / "measured.json"
        profile.write_text(json.dumps({"schema": "nodewise/measurement/1", "nodewise": "0.1.0", "machine": machine, "settings": {}}))
        report = self.directory / "run.json"
        self.shares("--on", "lab:opteron-4x2", "--on-no-count", "--json", "-o", report, "--memory", "weighted:auto",
                    "--", ARRAYS / "arrays", env={**os.environ, "NODEWISE_MEASURED": str(profile)})
        result = json.loads(report.read_text())
        told = result["asked"]["memory"]["measured_weights"][0]
        self.assertEqual([each["weight"] for each in told["per_node"]], [3, 1, 1, 1])
        self.assertEqual(told["file"], str(profile))
        large = [found for found in result["processes"][0]["objects"] if found["kind"] != "group" and found["bytes"] >= 16 << 20]
        self.assertTrue(large)
        for found in large:
            pages = {share["node"]: share["pages"] / found["pages"] for share in found["per_node"]}
            self.assertEqual(set(pages), {0, 1, 2, 3})
            self.assertAlmostEqual(pages[0], 3 / 6, delta=0.01)
            for node in (1, 2, 3):
                self.assertAlmostEqual(pages[node], 1 / 6, delta=0.01)
            self.assertEqual(found["as_asked"], 1)

    def test_granules_too_fine_for_the_map_limit_are_made_coarser_and_that_is_said(self):
        program = ("import mmap; big = mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS);"
                   "big[:4 << 20] = b'x' * (4 << 20);"
                   "small = [mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for _ in range(64)]")
        report = self.directory / "run.json"
        command = [NODEWISE, "run", "--on", "lab:opteron-4x2", "--on-no-count", "--memory", "cyclic:4K", "--strict", "--json", "-o", report,
                   "--", "/usr/bin/python3", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.directory,
                              stdin=subprocess.DEVNULL, timeout=900)
        self.assertEqual(done.returncode, 1, done.stderr)
        result = json.loads(report.read_text())
        self.assertFalse(result["as_asked"])
        big = max(result["processes"][0]["objects"], key=lambda found: found["bytes"])
        self.assertEqual((big["bytes"], big["map_limit"], big["placed"]), (256 << 20, "coarser granules", True))
        self.assertGreater(big["granule_bytes"], 4096)
        self.assertLess(big["extents"], 65530 / 4)
        self.assertEqual(big["as_asked"], 1)  # by the granules that were given
        self.assertEqual(result["processes"][0]["totals"]["map_limited"], 0)


if __name__ == "__main__":
    unittest.main()
