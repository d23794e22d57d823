# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise run`: processors, threads and ranks. Machines of several nodes are in tests/lab."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from command import BUILD, CommandTest

PROBE = str(BUILD / "tests/where_threads_run")
FIRST, *OTHERS = sorted(os.sched_getaffinity(0))
NO_RANK = {name: "" for name in ("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID", "PMIX_LOCAL_RANK",
                                 "PALS_LOCAL_RANKID", "MV2_COMM_WORLD_LOCAL_RANK")}


def words(text):
    """Line by line: numactl's columns have had several widths, and free memory changes."""
    return [line.split() for line in text.splitlines() if " free: " not in line]


class Numactl(CommandTest):
    def numactl(self, *arguments):
        return subprocess.run(["numactl", *arguments], capture_output=True, text=True, check=True).stdout

    def test_show_and_hardware_print_what_numactl_prints(self):
        for options in ([], ["-N", "0", "-m", "0"], ["-i", "all"], ["-p", "0"], ["-C", str(FIRST)]):
            with self.subTest(options):
                self.assertEqual(self.expect(0, "run", *options, "-s").stdout, self.numactl(*options, "-s"))
        self.assertEqual(words(self.expect(0, "run", "--hardware").stdout), words(self.numactl("-H")))

    def test_they_need_no_program_and_other_runs_do(self):
        self.expect(0, "run", "-s")
        self.expect(0, "run", "--show", "--bind", "close", "--", "ignored")
        self.assertIn("the program is missing", self.expect(2, "run", "-N", "0").stderr)

    def test_the_older_name_of_cpunodebind(self):
        self.assertEqual(self.expect(0, "run", "--cpubind=0", "--dry-run", "true").stdout,
                         self.expect(0, "run", "-N0", "--dry-run", "true").stdout)

    @unittest.skipUnless(OTHERS, "one processor")
    def test_the_last_choice_of_processors_holds(self):
        cpus = ["sh", "-c", "grep -o '[0-9,-]*$' /proc/self/status -m1 >/dev/null; "
                            "sed -n 's/^Cpus_allowed_list:.//p' /proc/self/status"]
        self.assertEqual(self.expect(0, "run", "-N", "all", "-C", str(FIRST), "--", *cpus).stdout, f"{FIRST}\n")
        self.assertEqual(self.expect(0, "run", "-C", str(FIRST), "-C", str(OTHERS[0]), "--", *cpus).stdout,
                         f"{OTHERS[0]}\n")

    @unittest.skipUnless(OTHERS, "one processor")
    def test_all_leaves_the_callers_affinity(self):
        before = ["taskset", "-c", str(FIRST)]
        refused = self.expect(2, "run", "-C", str(OTHERS[0]), "--", "true", before=before)
        self.assertIn("--all drops the affinity", refused.stderr)
        show = ("-s", "-a", "-C", str(OTHERS[0]))
        self.assertIn(f"physcpubind: {OTHERS[0]} \n", self.expect(0, "run", *show, before=before).stdout)
        everything = self.expect(0, "run", "--all", "-s", before=before).stdout
        self.assertEqual(everything, self.expect(0, "run", "-s", before=["taskset", "-c", "0-1023"]).stdout)


class Threads(CommandTest):
    def test_options_that_mean_nothing_together_are_refused(self):
        for arguments in (["--pin", "0", "--bind", "close"], ["--pin", "0", "--smt", "off"], ["--places", "cores"],
                          ["--smt", "on"], ["--pin", "0", "--ranks-per", "node"], ["--ranks-per", "node"],
                          ["--pin", "x"], ["--pin", ""], ["--pin", "100000"], ["-p", "0-1000"]):
            with self.subTest(arguments):
                done = self.expect(2, "run", *arguments, "--", "echo", "started", env=NO_RANK)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Anodewise: .*-(.*|\n)*\n    hint: .+\n\Z")

    def test_threads_are_pinned_in_the_order_of_the_list(self):
        order = [*reversed(OTHERS), FIRST]
        done = self.expect(0, "run", "--pin", ",".join(map(str, order)), "--", PROBE)
        self.assertEqual([line.split()[-1] for line in done.stdout.splitlines() if line.startswith("thread")],
                         [str(cpu) for cpu in order])

    def test_the_line_of_a_dry_run_does_the_same(self):
        for options in (["--pin", str(FIRST)], ["--bind", "close"], ["-C", str(FIRST), "--smt", "off"]):
            with self.subTest(options):
                line = self.expect(0, "run", "--dry-run", *options, "--", PROBE).stdout
                again = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout
                self.assertEqual(again, self.expect(0, "run", *options, "--", PROBE).stdout)
        line = self.expect(0, "run", "--dry-run", "--pin", str(FIRST), "--", PROBE).stdout
        for tool in ("likwid-pin", "taskset"):
            self.assertIn(f"\n# {tool} -c {FIRST} {PROBE}\n", line)
        twice = self.expect(0, "run", "--dry-run", "--pin", str(FIRST), "--", "echo", "a\nb").stdout
        self.assertEqual(subprocess.run(["sh", "-c", twice], capture_output=True, text=True, check=True).stdout, "a\nb\n")

    def test_a_static_program_is_told_that_only_openmp_is_pinned(self):
        static = shutil.which("busybox") or str(BUILD / "bin/nodewise")
        done = self.expect(0, "run", "--bind", "close", "--", static, "--help")
        self.assertIn("threads that it starts itself are not", done.stderr)


class Conflicts(CommandTest):
    def test_a_warning_each_and_strict_does_not_start(self):
        env = {"OMP_PLACES": "cores", "OMP_PROC_BIND": "false", "KMP_AFFINITY": "compact"}
        done = self.expect(0, "run", "--", "echo", "started", env=env)
        self.assertEqual(done.stdout, "started\n")
        self.assertEqual(done.stderr.count("nodewise: warning:"), 2, done.stderr)
        self.assertIn("libomp follows KMP_AFFINITY only", done.stderr)
        strict = self.expect(125, "run", "--strict", "--", "echo", "started", env=env)
        self.assertEqual(strict.stdout, "")
        self.assertIn("hint:", strict.stderr)
        self.assertEqual(self.expect(0, "run", "-q", "--", "true", env=env).stderr, "")

    def test_slurms_numbers_and_policies(self):
        env = {"SLURM_CPUS_PER_TASK": "64", "OMP_NUM_THREADS": "1", "SLURM_MEM_BIND_TYPE": "map_mem:"}
        done = self.expect(0, "run", "-m", "0", "--", "true", env=env)
        self.assertIn("processors of the task stay idle", done.stderr)
        self.assertIn("--membind 0 wins", done.stderr)


class Ranks(CommandTest):
    def test_ranks_by_the_variables_of_any_launcher(self):
        for rank, size in (("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
                           ("SLURM_LOCALID", "SLURM_TASKS_PER_NODE"), ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
                           ("PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"),
                           ("MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE")):
            with self.subTest(rank):
                done = self.expect(0, "run", "--ranks-per", "core", "-q", "--", PROBE, "none",
                                   env=NO_RANK | {rank: "0", size: "2"})
                self.assertRegex(done.stdout, rf"\Acpus {FIRST}\b")

    def test_the_line_of_a_launcher_or_what_it_cannot_do(self):
        line = ["run", "--ranks-per", "core", "--bind", "close", "--for"]
        shown = self.expect(0, *line, "openmpi", "--dry-run", "sh", "-c", "a b")
        self.assertRegex(shown.stdout, r"\A(#.*\n)+mpirun -n \d+ --map-by \S+ --bind-to \w+ -x OMP_NUM_THREADS=1 "
                                       r"-x OMP_PLACES=\w+ -x OMP_PROC_BIND=close sh -c 'a b'\n\Z")
        for arguments, what in ((["lsf", "--dry-run"], "'lsf' is not a launcher"),
                                (["mpich:0", "--dry-run"], "no number of ranks"),
                                (["mpich"], "without --dry-run"),
                                (["slurm", "--dry-run", "--memory", "local"], "the memory policy 'local'"),
                                (["slurm", "--dry-run", "--huge-pages", "off"], "--huge-pages"),
                                (["openmpi", "--dry-run", "--memory", "blocked"], "placements of single arrays")):
            with self.subTest(arguments):
                refused = self.expect(2, *line, *arguments, "sh")
                self.assertIn(what, refused.stderr)
                self.assertIn("hint:", refused.stderr)
        self.assertIn("without --ranks-per", self.expect(2, "run", "--for", "mpich", "--dry-run", "sh").stderr)

    def test_more_ranks_than_cores_are_counted(self):
        env = NO_RANK | {"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "4096"}
        done = self.expect(0, "run", "--ranks-per", "node", "--", "true", env=env)
        self.assertRegex(done.stderr, r"there are 4096 ranks, more than the \d+ cores?; .*start fewer ranks")
        strict = self.expect(125, "run", "--strict", "--ranks-per", "node", "--", "true", env=env)
        self.assertIn("start fewer ranks", strict.stderr)

    def test_a_node_and_its_memory(self):
        env = NO_RANK | {"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1"}
        line = self.expect(0, "run", "--ranks-per", "node+memory", "--dry-run", "true", env=env).stdout
        self.assertRegex(line, r"\nnumactl --all --physcpubind=\S+ --membind=0 -- true\n\Z")
        both = self.expect(2, "run", "--ranks-per", "node+memory", "-l", "--", "true", env=env)
        self.assertIn("memory has one placement", both.stderr)

    def test_ranks_near_a_device(self):
        env = NO_RANK | {"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1"}
        adapters = Path("/sys/class/infiniband")
        if adapters.is_dir() and any(adapters.iterdir()):
            self.skipTest("this machine has a network adapter of that kind")
        done = self.expect(2, "run", "--ranks-per", "fabric", "--dry-run", "true", env=env)
        self.assertIn("no such device is known on this machine", done.stderr)

    def test_real_launchers_start_ranks_side_by_side(self):
        for launcher in (["mpiexec.hydra", "-n", "2"],
                         ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", "2"]):
            if os.getuid() == 0 and "openmpi" in launcher[0]:
                launcher.insert(1, "--allow-run-as-root")
            with self.subTest(launcher[0]):
                done = self.expect(0, "run", "--ranks-per", "core", "--", PROBE, "none", before=launcher)
                parts = {line for line in done.stdout.splitlines() if line.startswith("cpus")}
                self.assertEqual(len(parts), min(2, 1 + len(OTHERS)), done.stdout)


if __name__ == "__main__":
    unittest.main()
