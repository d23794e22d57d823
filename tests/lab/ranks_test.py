# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""MPI ranks under real launchers, Open MPI's and MPICH's: each has its own part of the machine.

The programs are no MPI programs: a launcher starts anything, and tells each process its rank.
"""

import json
import os
import re
import unittest

from lab import BUILD, FOUR_NODES, ROOT, LabTest
from lines import PROBE, in_guest, tables, with_probe

# As root Open MPI wants to be told that this is meant; it counts processors, not slots.
OPEN_MPI = "mpirun.openmpi --oversubscribe" + (" --allow-run-as-root" if os.getuid() == 0 else "")
MPICH = "mpiexec.hydra"
# By the name for --for: its command, its line that binds nothing, the command here.
STARTS = {"openmpi": ("mpirun", f"{OPEN_MPI} --bind-to none", OPEN_MPI), "mpich": ("mpiexec", MPICH, MPICH)}
MACHINES = ROOT / "lab/machines"
FIRST_TOUCH = BUILD / "examples/first-touch/first-touch"


def installed(line):
    """The line with the launcher's name as Debian installs it beside others."""
    return re.sub(r"^mpirun ", OPEN_MPI + " ", re.sub(r"^mpiexec ", MPICH + " ", line))


def in_a_line(mode):
    """The probe, with all that it prints in one line."""
    return f"sh -c 'echo $({PROBE} {mode})'"


def each_rank(out):
    """What the ranks say, in an order that does not depend on who was first."""
    return sorted(line for line in out.splitlines() if line.startswith("cpus"))


class Ranks(LabTest):
    def run_all(self, lines):
        done = in_guest(lines)
        for result in done:
            self.assertEqual(result.status, 0, result)
        return done

    def test_the_launchers_own_binding_and_ours_are_the_same(self):
        rows = tables("MPI launchers")
        done = self.run_all([installed(with_probe(line, "none")) for row in rows for line in row])
        for theirs, ours in zip(done[::2], done[1::2], strict=True):
            with self.subTest(theirs.line):
                self.assertEqual(each_rank(ours.out), each_rank(theirs.out))
                self.assertGreater(len(set(each_rank(ours.out))), 3)
                self.assertEqual(ours.err, "")

    def test_ranks_share_nodes_and_their_threads_stay_inside(self):
        show = "sh -c 'exec {} | tr \"\\n\" \" \"'".format(PROBE)
        run = f"nodewise run --ranks-per node --bind close {show}"
        lines = [f"{MPICH} -n 8 {run}", f"{OPEN_MPI} --bind-to none -n 2 {run}",
                 f"{MPICH} -n 2 nodewise run -N 2,3 --ranks-per node --bind close {show}"]
        eight, two, chosen = (sorted(re.findall(r"thread \d+ on \S+(?: thread \d+ on \S+)*", done.out))
                              for done in self.run_all(lines))
        self.assertEqual(eight, [f"thread 0 on {cpu}" for cpu in range(8)])
        self.assertEqual(two, ["thread 0 on 0 thread 1 on 1", "thread 0 on 2 thread 1 on 3"])
        self.assertEqual(chosen, ["thread 0 on 4 thread 1 on 5", "thread 0 on 6 thread 1 on 7"])

    def test_a_binding_of_the_launcher_is_replaced_and_that_is_said_once(self):
        bound, unknown = in_guest([
            f"{OPEN_MPI} --bind-to core -n 4 nodewise run --ranks-per node {PROBE} none",
            "nodewise run --ranks-per node true",
        ])
        self.assertEqual(bound.status, 0, bound)
        self.assertEqual(each_rank(bound.out), ["cpus 0-1", "cpus 2-3", "cpus 4-5", "cpus 6-7"])
        self.assertEqual(bound.err.count("the launcher has bound its ranks itself"), 1, bound.err)
        self.assertIn("--bind-to none", bound.err)
        self.assertEqual(unknown.status, 2)
        self.assertIn("OMPI_COMM_WORLD_LOCAL_RANK", unknown.err)

    def test_a_node_and_its_memory_are_those_of_numactl_by_local_rank(self):
        local = "$OMPI_COMM_WORLD_LOCAL_RANK"
        start = f"{OPEN_MPI} --bind-to none -n 4"
        wrapper = f"""sh -c 'exec numactl --cpunodebind={local} --membind={local} "$@"' -"""
        theirs, ours = self.run_all([f"{start} {wrapper} {in_a_line('none')}",
                                     f"{start} nodewise run --ranks-per node+memory {in_a_line('none')}"])
        self.assertEqual(each_rank(ours.out), [f"cpus {2 * k}-{2 * k + 1} policy bind {k}" for k in range(4)])
        self.assertEqual(each_rank(ours.out), each_rank(theirs.out))
        self.assertEqual(ours.err, "")


class LaunchersLines(LabTest):
    """What --for prints, run under the launcher, does what nodewise run does under it."""

    def compare(self, machine, cases):
        lines = []
        for launcher, ranks, options in cases:
            start, unbound, installed_as = STARTS[launcher]
            program = in_a_line("openmp" if "--bind" in options else "none")
            line = f"nodewise run {options} --for {launcher}:{ranks} --dry-run {program}"
            lines += [f"{line} | tee /dev/stderr | sed 's/\\b{start} /{installed_as} /' | sh",
                      f"{unbound} -n {ranks} nodewise run {options} {program}"]
        done = in_guest(lines, machine)
        printed = []
        for case, theirs, ours in zip(cases, done[::2], done[1::2], strict=True):
            with self.subTest(case):
                self.assertEqual((theirs.status, ours.status), (0, 0), (theirs, ours))
                self.assertEqual(each_rank(theirs.out), each_rank(ours.out), theirs.err)
                self.assertEqual(len(each_rank(ours.out)), case[1])
            printed += re.findall("^.*mpi(?:run|exec) -n .*$", theirs.err, re.MULTILINE)
        self.assertEqual(len(printed), len(cases))
        return printed

    def test_on_four_nodes(self):
        printed = self.compare(FOUR_NODES, [
            ("openmpi", 4, "--ranks-per node"),
            ("openmpi", 3, "--ranks-per node"),
            ("openmpi", 8, "--ranks-per node --bind close"),
            ("openmpi", 4, "--ranks-per node --bind close --threads 1"),
            ("openmpi", 4, "--ranks-per core --bind close"),
            ("mpich", 4, "--ranks-per node --bind close"),
        ])  # fmt: skip
        self.assertTrue(printed[0].startswith("mpirun -n 4 --map-by ppr:1:numa --bind-to numa sh "), printed)
        self.assertIn("--map-by ppr:2:numa:PE=1 --bind-to core", printed[2])
        self.assertIn("mpiexec -n 4 -ppn 4 -bind-to numa sh ", printed[5])

    def test_on_two_nodes_with_several_cores_for_each_rank(self):
        printed = self.compare(MACHINES / "nehalem-2x4.json", [
            ("openmpi", 4, "--ranks-per node --bind close"),
            ("mpich", 4, "--ranks-per node --bind close"),
            ("mpich", 2, "--ranks-per node --bind spread --threads 2"),
            ("mpich", 3, "--ranks-per node"),
        ])
        self.assertIn("--map-by ppr:2:numa:PE=2 --bind-to core", printed[0])
        self.assertIn("-bind-to core:2", printed[1])
        self.assertIn("-bind-to user:0+2,4+6", printed[2])
        self.assertIn("-bind-to user:0+1,2+3,4+5+6+7", printed[3])

    def test_masks_for_slurm_and_what_open_mpi_cannot(self):
        slurm, uneven, memory, threads = in_guest([
            "nodewise run --ranks-per node+memory --bind close --for slurm --dry-run true",
            "nodewise run --ranks-per node --for openmpi:6 --dry-run true",
            "nodewise run --ranks-per node+memory --for openmpi --dry-run true",
            "nodewise run --ranks-per node --bind close --for mpich:6 --dry-run true",
        ])
        self.assertEqual(slurm.status, 0, slurm)
        self.assertIn("OMP_NUM_THREADS=2 OMP_PLACES=cores OMP_PROC_BIND=close srun --ntasks-per-node=4 "
                      "--cpu-bind=mask_cpu:0x3,0xc,0x30,0xc0 --mem-bind=mask_mem:0x1,0x2,0x4,0x8 true\n", slurm.out)
        for refused, what in ((uneven, "Open MPI cannot express the processors of these ranks"),
                              (memory, "Open MPI cannot express the memory policy 'bind'"),
                              (threads, "cannot express ranks with different numbers of threads")):
            self.assertEqual((refused.status, refused.out), (2, ""))
            self.assertIn(what, refused.err)
            self.assertIn("hint: ", refused.err)


class ProfiledRanks(LabTest):
    def test_a_profile_a_rank_and_one_of_all(self):
        run = f"nodewise profile -q --ranks-per node --bind close -o /tmp/prof-%r.json -- {FIRST_TOUCH} 2 2"
        done, all_of_them = in_guest([
            f"{OPEN_MPI} --bind-to none -n 4 {run}",
            "nodewise profile --json " + " ".join(f"/tmp/prof-{rank}.json" for rank in range(4)),
        ])
        self.assertEqual(done.status, 0, done)
        self.assertEqual(all_of_them.status, 0, all_of_them)
        result = json.loads(all_of_them.out)
        names = [o["name"] for o in result["objects"]]
        self.assertGreaterEqual(len(names), 3, names)
        self.assertEqual([(rank["rank"], rank["processors"], rank["nodes"], rank["threads"]) for rank in result["ranks"]],
                         [(k, f"{2 * k}-{2 * k + 1}", [k], 2) for k in range(4)])


if __name__ == "__main__":
    unittest.main()
