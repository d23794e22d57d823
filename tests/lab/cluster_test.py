# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Several virtual machines as the hosts of a cluster: the network, the files, how it ends, MPI over it."""

import hashlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import lab

sys.path.insert(0, str(lab.ROOT / "tests/cli"))
from command import conforms
from lab import BUILD, FOUR_NODES, TWO_NODES
from lines import in_guest
from nodewise_lab import machine
from surveys import MPI_PROGRAM, MPIEXEC, MPIRUN, RANK, ClusterJobs, cluster_jobs

REMOTE = BUILD / "libexec/nodewise/lab/guest-remote"
MPI = f"{lab.PYTHON} -IB {MPI_PROGRAM}"
FIRST_TOUCH = BUILD / "examples/first-touch/first-touch"
SECOND = ("--host", str(FOUR_NODES))


def shell(script, *options, **rest):
    return lab.run("sh", "-c", script, options=(*SECOND, *options), **rest)


class Hosts(lab.LabTest):
    def test_each_host_has_its_name_its_machine_and_reaches_the_others(self):
        result = lab.run("sh", "-c", f"for host in host1 host2 host3; do {REMOTE} $host hostname \\; nproc \\; 'ls -d /sys/devices/system/node/node*' \\| wc -l; done",
                         machine=TWO_NODES, options=(*SECOND, "--host", str(lab.MEMORY_ONLY)))
        memory_only = machine.load(lab.MEMORY_ONLY)
        self.assert_output(result, f"host1\n8\n2\nhost2\n8\n4\nhost3\n{memory_only.cpu_count}\n{len(memory_only.online_nodes)}\n")

    def test_streams_and_exit_codes_of_other_hosts(self):
        result = shell(f"echo in | {REMOTE} -x host2 'cat; echo error >&2; exit 3'; echo $?; {REMOTE} host2 'kill -KILL $$'; echo $?;"
                       f"{REMOTE} host3 true; echo $?")
        self.assertEqual(result.stdout.decode(), "in\n3\n137\n255\n")
        self.assertRegex(result.stderr.decode(), r"\Aerror\nguest-remote: cannot find the host host3: ")

    def test_what_the_command_prints_and_returns_is_its_own(self):
        self.assertEqual(shell("exit 7").returncode, 7)
        self.assertEqual(shell("kill -USR1 $$").returncode, -signal.SIGUSR1)
        self.assert_output(shell("cat", input=b"x" * 100_000), "x" * 100_000)

    def test_variables_of_the_caller_come_first(self):
        result = shell("echo $HYDRA_LAUNCHER $OMPI_MCA_mpi_yield_when_idle", "--env", "HYDRA_LAUNCHER=mine")
        self.assert_output(result, "mine 1\n")

    def test_a_large_transfer(self):
        sum_of_zeros = hashlib.md5(bytes(20_000_000)).hexdigest()
        result = shell(f"{REMOTE} host2 'head -c 20000000 /dev/zero' | md5sum; head -c 20000000 /dev/zero | {REMOTE} host2 md5sum")
        self.assert_output(result, f"{sum_of_zeros}  -\n" * 2)


class Files(lab.LabTest):
    def test_all_hosts_share_the_working_directory(self):
        script = f"echo first > a; {REMOTE} host2 'cat a; echo second > b'; cat b"
        self.assert_output(shell(script, cwd=self.directory), "first\nsecond\n")
        self.assertEqual((self.directory / "b").read_text(), "second\n")

    def test_with_an_overlay_the_changes_of_all_hosts_come_back_at_the_end(self):
        script = f"echo first > a; {REMOTE} host2 'echo second > b'"
        self.assert_output(shell(script, "--overlay", cwd=self.directory), "")
        self.assertEqual({file.name: file.read_text() for file in self.directory.iterdir()}, {"a": "first\n", "b": "second\n"})

    def test_discarded_changes_of_all_hosts_stay_in_the_guests(self):
        self.assert_output(shell(f"touch a; {REMOTE} host2 'touch b'", "--discard", cwd=self.directory), "")
        self.assertEqual(list(self.directory.iterdir()), [])


class Ends(lab.LabTest):
    def start(self, script, *options):
        process = subprocess.Popen(lab.on(FOUR_NODES, "sh", "-c", script, options=(*SECOND, *options)), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def machines_of(self, process):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        return [int(child) for child in children.split()]

    def test_a_signal_goes_to_the_command(self):
        process = self.start(f"trap 'echo got; exit 5' TERM; {REMOTE} host2 'echo there; sleep 600' & wait")
        self.assertEqual(process.stdout.readline(), b"there\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.read(), b"got\n")
        self.assertEqual(process.wait(), 5)

    def test_all_machines_end_with_the_command(self):
        process = self.start(f"{REMOTE} host2 'echo there; sleep 600' & sleep 3")
        self.assertEqual(process.stdout.readline(), b"there\n")
        machines = self.machines_of(process)
        self.assertEqual(len(machines), 2)
        self.assertEqual(process.wait(), 0)
        self.assertEqual([each for each in machines if Path(f"/proc/{each}").exists()], [])

    def test_a_host_that_fails_ends_the_command_with_the_reason(self):
        process = self.start(f"trap 'exit 9' TERM; {REMOTE} host2 'echo there; sleep 600' & while :; do sleep 0.1; done")
        self.assertEqual(process.stdout.readline(), b"there\n")
        _, second = self.machines_of(process)
        subprocess.run(["kill", "-KILL", str(second)], check=True)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 125, errors)
        self.assertIn(b"host2: cannot run the command to its end: the virtual machine ended first", errors)

    def test_the_time_limit(self):
        process = self.start(f"{REMOTE} host2 'sleep 600'", "--timeout", "4")
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 124, errors)


class Command(lab.LabTest):
    def nodewise(self, *words):
        return subprocess.run([BUILD / "bin/nodewise", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)

    def test_run_on_a_cluster(self):
        done = self.nodewise("run", "--on", "lab:1x2+2x1", "--", "sh", "-c", f"hostname; {REMOTE} host2 hostname")
        self.assertEqual((done.returncode, done.stdout), (0, "host1\nhost2\n"), done.stderr)
        self.assertNotIn("Memory traffic", done.stderr)

    def test_a_shell(self):
        own = self.directory / "shell"
        own.write_text(f"#!/bin/sh\nhostname; {REMOTE} host2 hostname; tty; exit 5\n")
        own.chmod(0o755)
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        process = subprocess.Popen([BUILD / "bin/nodewise", "lab", "shell", "1x2+2x1"], stdin=theirs, stdout=theirs, stderr=theirs,
                                   env=os.environ | {"SHELL": str(own)})
        os.close(theirs)
        self.assertEqual(process.wait(300), 5)
        self.assertIn(b"host1\r\nhost2\r\n/dev/pts/0\r\n", os.read(ours, 65536))

    def test_what_needs_one_machine_refuses_a_cluster(self):
        for words in (["topo"], ["doctor"], ["profile", "--", "true"], ["tune", "--", "true"]):
            with self.subTest(words):
                at = words.index("--") if "--" in words else len(words)
                done = self.nodewise(*words[:at], "--on", "lab:1x2+2x1", *words[at:])
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("this needs one machine, and that is a cluster", done.stderr)

    def test_wrong_clusters(self):
        for where, why in (("lab:1x2+nothing", "lab:nothing"), ("lab:1x2+", "lab:"), ("lab:1x2+lab:2x1", "lab:lab:2x1")):
            with self.subTest(where):
                done = self.nodewise("run", "--on", where, "--", "true")
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"the machine {why}: ", done.stderr)
        done = self.nodewise("run", "--on", "lab:1x2+1x2", "--on-slurm", "--on-counts", "-", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Slurm's daemons start the ranks", done.stderr)
        done = self.nodewise("lab", "check", "--on", "lab:1x2+1x2", "--min-local", "0.9", "-o", "x.sarif", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--sarif with a cluster", done.stderr)


class Counts(lab.LabTest):
    """The traffic of each host: ranks with two threads on cores of one node, whose memory is there or, on host2, elsewhere."""

    JOB = f"{MPIEXEC} -n 4 -ppn 2 -bind-to core:2 sh -c '[ $(hostname) = host1 ] || set -- {{}}; exec $* {FIRST_TOUCH} 4 3'"
    CLUSTER = "lab:opteron-4x2+opteron-4x2"

    def nodewise(self, words, on_host2):
        return subprocess.run(["sh", "-c", f"{BUILD / 'bin/nodewise'} {words} -- {self.JOB.format(on_host2)}"], cwd=self.directory, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "2"}, check=False)

    def test_of_each_host(self):
        done = self.nodewise(f"run --on {self.CLUSTER} --on-counts counts.json", "numactl -m 3")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads((self.directory / "counts.json").read_text())
        self.assertIsNone(conforms(result, "cluster-traffic-1"))
        self.assertEqual([host["host"] for host in result["hosts"]], ["host1", "host2"])
        arrays = [[each for each in host["traffic"]["sites"] if each["name"].startswith("usual.c:")] for host in result["hosts"]]
        for host, local in zip(arrays, (1, 0), strict=True):
            self.assertEqual(len(host), 3)
            for each in host:
                self.assertAlmostEqual(each["use"]["local"], local, delta=0.01)
        self.assertLess(done.stderr.index("host1, opteron-4x2\n"), done.stderr.index("host2, opteron-4x2\n"))

    def test_a_check_judges_the_whole_job(self):
        good = self.nodewise(f"lab check --on {self.CLUSTER} --min-local 0.95", "")
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertEqual(re.findall(r"^nodewise lab check: (host\d: \w+):", good.stdout, re.MULTILINE), ["host1: passed", "host2: passed"])
        bad = self.nodewise(f"lab check --on {self.CLUSTER} --min-local 0.95 -o check.json", "numactl -m 3")
        self.assertEqual(bad.returncode, 1, bad.stderr)
        self.assertEqual(re.findall(r"^nodewise lab check: (host\d: \w+):", bad.stdout, re.MULTILINE), ["host1: passed", "host2: failed"])
        result = json.loads((self.directory / "check.json").read_text())
        self.assertIsNone(conforms(result, "cluster-traffic-1"))
        self.assertEqual([host["traffic"]["check"]["passed"] for host in result["hosts"]], [True, False])


class Jobs(ClusterJobs):
    def test_ranks_on_both_hosts_talk_to_one_another(self):
        lines = [f"{MPIRUN} -n 4 --map-by ppr:2:node {MPI} openmpi", f"{MPIEXEC} -n 4 -ppn 2 {MPI} mpich"]
        for each in in_guest(lines, options=SECOND):
            with self.subTest(each.line):
                self.assertEqual(each.status, 0, each)
                self.expect_all_heard(each.out)

    def test_survey_finds_what_is_wrong_on_both_hosts(self):
        jobs = cluster_jobs("Open MPI") + cluster_jobs("MPICH")
        self.assertEqual(len(jobs), 8)
        results = in_guest([self.job(line, f"job-{number}") for number, (line, *_) in enumerate(jobs)], options=SECOND)
        for job, result in zip(jobs, results, strict=True):
            with self.subTest(job[0]):
                self.expect_findings(job, result)

    def test_the_survey_in_the_readme(self):
        line, shown = re.search(r"^\$ (nodewise run --on lab:\S+\+(?:.*\\\n)*.*)\n((?:.*\n)*?)```$", (lab.ROOT / "README.md").read_text(), re.MULTILINE).groups()
        program = shutil.copy(RANK, self.directory / "solver")
        line = re.sub(r"\bmpirun ", f"{MPIRUN} ", line)
        done = subprocess.run(["sh", "-c", line], cwd=self.directory, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
                              env=os.environ | {"PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "COLUMNS": "80"})
        self.assertEqual(done.stdout.count('"rank"'), 4, done.stdout)
        self.assertEqual(re.sub(r"job \d+", "job", done.stderr), re.sub(r"job \d+", "job", shown), program)


if __name__ == "__main__":
    unittest.main()
