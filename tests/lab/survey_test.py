# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise survey` under real launchers, beside what the guest's kernel reports to each rank itself."""

import json
import os
import re
import shutil
import tempfile
import unittest

from lab import BUILD, ROOT, LabTest
from lines import in_guest

MPIRUN = "mpirun.openmpi --oversubscribe" + (" --allow-run-as-root" if os.getuid() == 0 else "")
MPIEXEC = "mpiexec.hydra"
RANK = BUILD / "tests/nodewise_survey_in_guest"
CHANCE = {"memory is on other nodes than the threads", "memory is on one node, the threads on several"}


def rows():
    """The table of docs/clusters.md: the line as people write it, what is wrong with it, and the fixed line."""
    text = (ROOT / "docs/clusters.md").read_text().split("\n## Launchers\n")[1]
    found = re.findall(r"^\| [^|]+ \| `([^`]+)` \| ([^|]+) \| `([^`]+)` \|$", text, re.MULTILINE)
    return [(wrong, set(what.split(", ")), fixed) for wrong, what, fixed in found]


def installed(line):
    """The launchers by the names that Debian gives them beside others."""
    return re.sub(r"\bmpiexec ", f"{MPIEXEC} ", re.sub(r"\bmpirun ", f"{MPIRUN} ", line))


def cpus_in(listed):
    """The kernel's "0-2,5", and the test program's "0,1,2,5"."""
    found = set()
    for part in listed.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def parts_of(out):
    """What the ranks print of themselves, and survey's result after it, which is more than a line."""
    themselves = [json.loads(line) for line in out.splitlines() if line.startswith('{"rank"')]
    return {each["rank"]: each for each in themselves}, json.loads(out[out.index('{\n  "schema"'):])


class Survey(LabTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.getcwd())
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def records(self, number):
        return f"--records {self.folder}/{number}"

    def expect_facts(self, themselves, survey):
        """Masks, threads and pages of the survey are those that each rank got from the kernel."""
        ranks = [rank for host in survey["hosts"] for rank in host["ranks"]]
        self.assertEqual(sorted(rank["rank"] for rank in ranks), sorted(themselves))
        for rank in ranks:
            own = themselves[rank["rank"]]
            with self.subTest(rank=rank["rank"]):
                self.assertEqual(sorted(map(sorted, (cpus_in(each["allowed"]) for each in rank["workers"]))),
                                 sorted(map(sorted, map(cpus_in, own["masks"]))))
                for worker in rank["workers"]:
                    self.assertLessEqual(cpus_in(worker["ran"]), cpus_in(worker["allowed"]))
                self.assertEqual({node: count // 4096 for node, count in rank["bytes"].items()}, own["pages"])

    def surveyed(self, lines, name):
        """The lines with a survey in front of the rank, run, each with its own folder of records."""
        def line_of(line, number):
            job = f"nodewise survey --json {self.records(f'{name}-{number}')} -- {RANK}"
            return installed(line.replace("./a", job))

        for line, result in zip(lines, in_guest([line_of(line, i) for i, line in enumerate(lines)]), strict=True):
            self.assertEqual(result.status, 0, result)
            themselves, survey = parts_of(result.out)
            with self.subTest(line):
                self.expect_facts(themselves, survey)
                self.assertEqual((survey["surveyed"], survey["missing"], survey["problems"]),
                                 (len(themselves), [], []))
            yield survey

    def test_what_is_wrong_is_found_and_the_lines_of_survey_fix_it(self):
        table = rows()
        self.assertEqual(len(table), 5)
        again = []
        for (wrong, what, fixed), survey in zip(table, self.surveyed([row[0] for row in table], "wrong"), strict=True):
            with self.subTest(wrong):
                found = {finding["what"] for finding in survey["findings"]}
                # Where threads first touch their pages is chance if they are not bound.
                self.assertEqual(found - (CHANCE if "threads are not bound" in found else set()), what)
                lines = [fix["line"] for fix in survey["findings"][0]["fixes"] if "line" in fix]
                ranks = re.search(r"-n \d+", wrong)[0]
                launcher, ours = (re.sub(r"\.\.\.", ranks, line).replace("PROGRAM", "./a") for line in lines)
                self.assertEqual(launcher, fixed)
                threads = re.search(r"OMP_NUM_THREADS=\d+ ", wrong)[0]
                again += [threads + fixed, threads + ours]
        for line, survey in zip(again, self.surveyed(again, "fixed"), strict=True):
            with self.subTest(line):
                self.assertEqual(survey["findings"], [])

    def test_memory_of_all_ranks_on_one_node(self):
        # The ranks are bound after their memory was filled on node 0.
        job = f"nodewise survey --json {self.records('one')} -- {RANK} alone"
        done, = in_guest([f"OMP_NUM_THREADS=2 OMP_PLACES=cores OMP_PROC_BIND=close {MPIRUN} "
                          f"--map-by ppr:1:numa:PE=2 --bind-to core -n 4 numactl --membind 0 {job}"])
        self.assertEqual(done.status, 0, done)
        themselves, survey = parts_of(done.out)
        self.expect_facts(themselves, survey)
        away = {each["what"]: each["ranks"] for each in survey["findings"]}
        self.assertEqual(away, {"memory is on other nodes than the threads": [1, 2, 3]})

    def test_records_among_the_output_of_the_job(self):
        out, shown = in_guest([
            f"OMP_NUM_THREADS=2 OMP_PLACES=cores OMP_PROC_BIND=close {MPIEXEC} -bind-to numa -n 4 -prepend-rank nodewise survey --lines -- {RANK} > {self.folder}/out",
            f"nodewise survey --json --strict {self.folder}/out",
        ])
        self.assertEqual((out.status, shown.status), (0, 0), shown)
        self.assertEqual(json.loads(shown.out)["surveyed"], 4)


if __name__ == "__main__":
    unittest.main()
