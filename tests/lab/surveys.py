# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the tests of `nodewise survey` under real launchers share."""

import json
import os
import re
import shutil
import tempfile

from lab import BUILD, ROOT, LabTest

# Beside another MPI, Debian gives the launchers these names.
MPIRUN = "mpirun.openmpi --oversubscribe" + (" --allow-run-as-root" if os.getuid() == 0 else "")
MPIEXEC = "mpiexec.hydra"
RANK = BUILD / "tests/nodewise_survey_in_guest"
MPI_PROGRAM = ROOT / "tests/lab/mpi_in_guest.py"
# Where threads first touch their pages is chance if they are not bound.
CHANCE = {"memory is on other nodes than the threads", "memory is on one node, the threads on several"}


def rows(heading):
    """A table of docs/clusters.md: its rows, each with the text of its cells."""
    text = (ROOT / "docs/clusters.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\| (.+) \|$", text, re.MULTILINE)
    return [[cell.strip("`") for cell in line.split(" | ")] for line in lines[1:]]


def cluster_jobs(launcher):
    """The jobs of two hosts: the line, the hosts, and what is wrong with it."""
    return [tuple(row) for name, *row in rows("On a virtual cluster") if name == launcher]


def installed(line):
    """The line with the launchers by the names that Debian gives them."""
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


class SurveyTest(LabTest):
    """With a folder for records, which the guests share."""

    rank = RANK

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.getcwd())
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def records(self, name):
        return f"--records {self.folder}/{name}"

    def job(self, line, name):
        """The line with a survey in front of the rank, with its own folder of records."""
        return installed(line.replace("./a", f"nodewise survey --json {self.records(name)} -- {self.rank}"))

    def expect_facts(self, themselves, survey):
        """Hosts, masks, threads and pages of the survey are those that each rank got from the kernel."""
        ranks = {rank["rank"]: (rank, host["host"]) for host in survey["hosts"] for rank in host["ranks"]}
        self.assertEqual(sorted(ranks), sorted(themselves))
        for number, (rank, host) in ranks.items():
            own = themselves[number]
            with self.subTest(rank=number):
                self.assertEqual(host, own["host"])
                self.assertEqual(sorted(map(sorted, (cpus_in(each["allowed"]) for each in rank["workers"]))),
                                 sorted(map(sorted, map(cpus_in, own["masks"]))))
                for worker in rank["workers"]:
                    self.assertLessEqual(cpus_in(worker["ran"]), cpus_in(worker["allowed"]))
                self.assertEqual({node: count // 4096 for node, count in rank["bytes"].items()}, own["pages"])


class ClusterJobs(SurveyTest):
    """Jobs of the table of docs/clusters.md for two hosts."""

    def expect_findings(self, job, result):
        """Returns the survey of the job."""
        line, hosts, what = job
        self.assertEqual(result.status, 0, result)
        themselves, survey = parts_of(result.out)
        self.expect_facts(themselves, survey)
        self.assertEqual((survey["missing"], survey["problems"]), ([], []))
        self.assertEqual(", ".join(host["host"] for host in survey["hosts"]), hosts)
        found = {finding["what"] for finding in survey["findings"]}
        expected = set() if what == "nothing" else set(what.split(", "))
        self.assertEqual(found - (CHANCE if "threads are not bound" in found else set()), expected)
        return survey

    def expect_all_heard(self, out):
        """Each of four ranks on two hosts printed the sum of all ranks' numbers."""
        heard = sorted(re.findall(r"rank \d on host\d: \d+", out))
        self.assertEqual(heard, ["rank 0 on host1: 6", "rank 1 on host1: 6", "rank 2 on host2: 6", "rank 3 on host2: 6"])
