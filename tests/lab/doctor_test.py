# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise doctor` on machines with a gap, without memory on node 0, with a memory of its own; where
counters are refused, in a control group of one node, in a sandbox, and where memory is in a bad
state: every statement against the files of the guest."""

import json
import shlex
import subprocess
import unittest

from doctor_truth import FILES, LOOK, PROBE, Truth, by_name
from lab import BUILD, FOUR_NODES, MACHINES, PYTHON, LabTest, shell

NODEWISE = BUILD / "bin/nodewise"
DENY = BUILD / "tests/deny"
PRIVILEGED_LAB = BUILD / "tests/privileged_lab/nodewise_lab"
EVERYWHERE = {"virtualisation", "measured_distances: unavailable"}

# Only root may change the settings of a guest.
CHANGES = r"""
set -e
as_user="setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all --bounding-set=-all"
groups=/sys/fs/cgroup
inside() { group=$1; shift; sh -c "echo \$\$ > $groups/$group/cgroup.procs; exec $*"; }

sh look.sh root
echo 4 > /proc/sys/kernel/perf_event_paranoid
sh look.sh root4
$as_user sh look.sh user4
echo 2 > /proc/sys/kernel/perf_event_paranoid
$as_user {deny} mbind,move_pages,perf_event_open EPERM -- sh look.sh denied

echo +cpuset > $groups/cgroup.subtree_control
mkdir $groups/one $groups/apart
echo 1 > $groups/one/cpuset.mems
echo 2-3 > $groups/one/cpuset.cpus
echo 1 > $groups/apart/cpuset.mems
echo 1 > /proc/sys/kernel/numa_balancing
inside one sh look.sh one
inside one taskset -c 3 sh look.sh pinned
inside apart sh look.sh apart
sh look.sh balancing
echo 0 > /proc/sys/kernel/numa_balancing

echo 4 > /sys/devices/system/node/node3/hugepages/hugepages-2048kB/nr_hugepages
echo 1 > /proc/sys/vm/zone_reclaim_mode
sh look.sh reserved
echo 0 > /sys/devices/system/node/node3/hugepages/hugepages-2048kB/nr_hugepages
echo 0 > /proc/sys/vm/zone_reclaim_mode

taskset -c 2 {python} hold.py & holder=$!
numactl --membind 2 {python} take.py & taker=$!
while [ ! -e cached ] || [ ! -e taken ]; do kill -0 $holder; kill -0 $taker; sleep 0.1; done
sh look.sh state
kill $holder $taker
"""
# A file that stays open is in the cache of the node whose processor has read it.
HOLD = """
import mmap, time
with open("file", "r+b") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
    for at in range(0, len(pages), 4096):
        pages[at]
    open("cached", "w").close()
    time.sleep(1000)
"""
# All of a node but a little beyond what the kernel keeps.
TAKE = """
import mmap, re, time
def figures(name, pattern):
    with open(name) as text:
        return re.findall(pattern, text.read(), re.M)
def left():
    fields = dict(figures("/sys/devices/system/node/node2/meminfo", r"Node 2 (\\S+): +(\\d+)"))
    return (int(fields["MemFree"]) + int(fields["Active(file)"]) + int(fields["Inactive(file)"])) / 1024 - kept_free
low = figures("/proc/zoneinfo", r"^Node 2, zone +DMA32$(?:\\n .*)*?\\n +low +(\\d+)")
kept_free = int(low[0]) / 256
taken = []
while left() > 8:
    taken.append(mmap.mmap(-1, 1 << 20))
    for at in range(0, 1 << 20, 4096):
        taken[-1][at] = 1
open("taken", "w").close()
time.sleep(1000)
"""


class DoctorTest(LabTest):
    def write_scripts(self):
        look = LOOK % {"files": " ".join(FILES), "nodewise": NODEWISE, "python": PYTHON}
        for name, text in (("look.sh", look), ("probe.py", PROBE), ("hold.py", HOLD), ("take.py", TAKE)):
            (self.directory / name).write_text(text)

    def truth(self, name):
        return Truth(self, self.directory / name)


class Machines(DoctorTest):
    def doctor_on(self, machine):
        self.write_scripts()
        done = shell("sh look.sh answer", machine=MACHINES / f"{machine}.json", cwd=self.directory, timeout=900)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        truth = self.truth("answer")
        return truth, truth.check(), by_name(truth.result["findings"] + truth.result["state"])

    def test_a_node_that_is_offline(self):
        truth, warned, said = self.doctor_on("gap")
        self.assertEqual(warned, EVERYWHERE)
        self.assertEqual(said["nodes_online"]["found"], "0-1,3")
        self.assertEqual(said["Cpus_allowed_list"]["found"], "0-5")
        self.assertIn("free_memory_node_3", said)
        self.assertNotIn("free_memory_node_2", said)
        self.assertEqual(truth.exit_status, 0)

    def test_a_node_0_without_memory(self):
        _, warned, said = self.doctor_on("memoryless0")
        self.assertEqual(warned, EVERYWHERE | {"memory_of_processors"})
        self.assertIn("node 0, which has no memory", said["memory_of_processors"]["found"])
        self.assertNotIn("free_memory_node_0", said)

    def test_a_memory_without_processors(self):
        _, warned, said = self.doctor_on("cxl")
        self.assertEqual(warned, EVERYWHERE)
        self.assertEqual(said["nodes_has_cpu"]["found"], "0-1")
        self.assertEqual(said["nodes_has_memory"]["found"], "0-2")
        self.assertIn("free_memory_node_2", said)


class Changed(DoctorTest):
    def test_what_was_changed_is_what_is_said(self):
        self.write_scripts()
        with open(self.directory / "file", "wb") as file:
            file.truncate(180 << 20)
        (self.directory / "changes.sh").write_text(
            CHANGES.replace("{deny}", str(DENY)).replace("{python}", shlex.quote(PYTHON))
        )
        command = [PYTHON, "-B", str(PRIVILEGED_LAB), "run", "--machine", str(FOUR_NODES)]
        done = subprocess.run([*command, "--", "sh", "changes.sh"], cwd=self.directory, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=900)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name, more, status in (
            ("root", set(), 0),
            ("root4", set(), 0),
            ("user4", {"perf_event_open", "perf_event_paranoid"}, 0),
            ("denied", {"mbind: bad", "move_pages (query): bad", "move_pages (move): bad", "perf_event_open"}, 4),
            ("one", set(), 0),
            ("pinned", set(), 0),
            ("apart", {"memory_of_processors"}, 0),
            ("balancing", {"numa_balancing"}, 0),
            ("reserved", {"reserved_huge_pages", "zone_reclaim_mode"}, 0),
            ("state", {"free_memory_node_1", "free_memory_node_2"}, 0),
        ):  # fmt: skip
            with self.subTest(name):
                truth = self.truth(name)
                self.assertEqual(truth.check(), EVERYWHERE | more, json.dumps(truth.result["state"], indent=1))
                self.assertEqual(truth.exit_status, status)
        self.assert_details()

    def assert_details(self):
        def said(name):
            result = self.truth(name).result
            return by_name(result["calls"] + result["findings"] + result["state"])

        self.assertEqual(said("user4")["perf_event_open"]["errno"], 13)
        self.assertEqual(said("user4")["perf_event_open"]["cure"], "sysctl kernel.perf_event_paranoid=2 as root")
        self.assertEqual(said("denied")["perf_event_open"]["errno"], 1)
        self.assertNotIn("sysctl", said("denied")["perf_event_open"]["cure"], "the level has not refused it")
        self.assertIn("a seccomp filter is active", said("denied")["mbind"]["cure"])
        one = said("one")
        self.assertEqual(one["Mems_allowed_list"]["found"], "1 of 0-3, by the control group")
        self.assertEqual(one["numa_balancing"]["found"], "1 (on, one node only)")
        self.assertIn("not available to this process", one["free_memory_node_0"]["found"])
        self.assertIn("the control group allows 2-3", said("pinned")["Cpus_allowed_list"]["found"])
        self.assertIn("processors of node 0,2-3 but not use", said("apart")["memory_of_processors"]["found"])
        self.assertIn("4 (4 free) on node 3", said("reserved")["reserved_huge_pages"]["found"])
        state = said("state")
        self.assertIn("more than half of the memory that programs could get", state["free_memory_node_1"]["found"])
        self.assertIn("nearly full", state["free_memory_node_2"]["found"])


if __name__ == "__main__":
    unittest.main()
