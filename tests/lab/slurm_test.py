# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Slurm on a virtual cluster, whose daemons run as an ordinary user: root steps down to nobody."""

import json
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import lab
from lab import BUILD, FOUR_NODES
from lines import PROBE, Done
from surveys import MPI_PROGRAM, RANK, ClusterJobs, cluster_jobs

ALL_PROCESSORS = "salloc --quiet -N 2 --exclusive"
BY_SLURM = "-N 2 --ntasks-per-node=2"


class OrdinaryUser(ClusterJobs):
    """Everything that the user needs is copied, since nobody may not look everywhere."""

    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="nodewise-slurm-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.user = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        for folder in ("bin", "lib", "libexec", "share"):
            shutil.copytree(BUILD / folder, cls.root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        files = (RANK, MPI_PROGRAM, FOUR_NODES, lab.ROOT / "tests/lab/lines_in_guest.py", PROBE)
        cls.rank, cls.mpi, cls.machine, cls.server, cls.probe = (shutil.copy(file, cls.root) for file in files)
        cls.folder = cls.root / "work"
        cls.folder.mkdir()
        cache = lab.private_cache(cls.root)
        for path in (cls.root, cls.folder, cache, *cache.rglob("*")):
            os.chown(path, cls.user.pw_uid, cls.user.pw_gid)
        cls.environment = {"PATH": f"{cls.root / 'bin'}:/usr/bin:/bin", "HOME": str(cls.folder), "NODEWISE_CACHE": str(cache)}

    def on_slurm(self, lines):
        """Each line, run by a shell of its own on the first host, all in one cluster."""
        runner = self.root / "libexec/nodewise/lab/nodewise_lab"
        command = [lab.PYTHON, "-B", runner, "run", "--machine", self.machine, "--host", self.machine, "--slurm", "--"]
        result = subprocess.run(
            [*command, lab.PYTHON, "-IB", self.server], input=json.dumps(lines).encode(), capture_output=True, check=False, timeout=900,
            cwd=self.folder, env=self.environment, user=self.user.pw_uid, group=self.user.pw_gid, extra_groups=[],
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return [Done(line, *done) for line, done in zip(lines, json.loads(result.stdout), strict=True)]

    def test_ranks_on_both_hosts_talk_to_one_another(self):
        lines = [f"srun --mpi={interface} {BY_SLURM} {lab.PYTHON} -IB {self.mpi} {mpi}"
                 for mpi, interface in (("mpich", "pmi2"), ("openmpi", "pmix"))]
        for each in self.on_slurm(lines):
            with self.subTest(each.line):
                self.assertEqual(each.status, 0, each)
                self.expect_all_heard(each.out)

    def test_survey_finds_what_is_wrong_and_its_lines_fix_it(self):
        jobs = cluster_jobs("Slurm")
        self.assertEqual(len(jobs), 4)
        again = []
        results = self.on_slurm([self.job(line, f"job-{number}") for number, (line, *_) in enumerate(jobs)])
        for job, result in zip(jobs, results, strict=True):
            with self.subTest(job[0]):
                survey = self.expect_findings(job, result)
                threads = re.search(r"OMP_NUM_THREADS=\d ", job[0])[0]
                for fix in (survey["findings"] or [{"fixes": []}])[0]["fixes"]:
                    self.assertNotIn("not tried", fix["meaning"])
                    again.append(threads + re.sub(r"\.\.\.", BY_SLURM, fix["line"]).replace("PROGRAM", "./a"))
        self.assertEqual(len(again), 6)
        results = self.on_slurm([self.job(line, f"again-{number}") for number, line in enumerate(again)])
        for line, result in zip(again, results, strict=True):
            with self.subTest(line):
                self.expect_findings((line, "host1, host2", "nothing"), result)


    def test_lines_of_for_slurm_do_what_nodewise_run_does_under_srun(self):
        cases = [(4, "--ranks-per node+memory --bind close"), (3, "--ranks-per node"), (8, "--ranks-per core --bind close")]
        lines = []
        for ranks, options in cases:
            mode = "openmp" if "--bind" in options else "none"
            program = f"sh -c 'echo $(hostname) $({self.probe} {mode})'"
            line = f"nodewise run {options} --for slurm:{ranks} --dry-run {program}"
            lines += [f"{line} > line; cat line >&2; {ALL_PROCESSORS} sh line",
                      f"{ALL_PROCESSORS} srun --ntasks-per-node={ranks} --cpu-bind=none nodewise run {options} {program}"]
        done = self.on_slurm(lines)
        for (ranks, options), theirs, ours in zip(cases, done[::2], done[1::2], strict=True):
            with self.subTest(options, ranks=ranks):
                self.assertEqual((theirs.status, ours.status), (0, 0), (theirs, ours))
                self.assertEqual(sorted(theirs.out.splitlines()), sorted(ours.out.splitlines()), theirs.err)
                self.assertEqual(ours.err, "")
                self.assertEqual(len(set(ours.out.splitlines())), 2 * ranks)


class Refused(lab.LabTest):
    @unittest.skipUnless(os.getuid() == 0, "only root is refused")
    def test_by_root(self):
        result = lab.run("true", options=("--slurm",))
        self.assertEqual((result.returncode, result.stdout), (125, b""))
        self.assertIn(b"cannot start Slurm in the guests (--on-slurm): its daemons refuse to run as root", result.stderr)


if __name__ == "__main__":
    unittest.main()
