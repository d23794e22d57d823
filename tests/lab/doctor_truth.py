# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Holds every statement of `nodewise doctor --json` against the files of the machine it was made on.

`LOOK` is run in the guest: it writes the doctor's answer and, in a folder, what the files said
before and after. A statement that `Truth` does not know how to check is a failure, so that there is
none without a check.
"""

import json
import os
import re
from pathlib import Path

FILES = (
    "/proc/self/status", "/proc/self/cgroup", "/proc/self/uid_map", "/proc/meminfo", "/proc/buddyinfo",
    "/proc/zoneinfo",
    "/proc/sys/kernel/osrelease", "/proc/sys/kernel/numa_balancing", "/proc/sys/kernel/perf_event_paranoid",
    "/proc/sys/vm/zone_reclaim_mode", "/proc/sys/vm/max_map_count", "/proc/sys/vm/swappiness",
    "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/devices/system/cpu/online", "/sys/devices/system/node/online", "/sys/devices/system/node/has_memory",
    "/sys/devices/system/node/has_cpu", "/sys/class/dmi/id/sys_vendor",
)  # fmt: skip

# The kernel's own answers, without anything of ours: errno of each call, 0 if permitted.
PROBE = """
import ctypes, json, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def ask(number, *arguments):
    answer = libc.syscall(ctypes.c_long(number), *arguments)
    return ctypes.get_errno() if answer < 0 else 0
counter = struct.pack("<IIQQQQQ", 1, 112, 2, 0, 0, 0, 1 | 1 << 5 | 1 << 6).ljust(112, b"\\0")
page = ctypes.create_string_buffer(8192)
pages, status = (ctypes.c_void_p * 1)(ctypes.addressof(page) + 4096 & ~4095), (ctypes.c_int * 1)()
print(json.dumps({
    "perf_event_open": ask(298, counter, 0, -1, -1, ctypes.c_long(0)),
    "userfaultfd": ask(323, 1),
    "move_pages (query)": ask(279, 0, ctypes.c_long(1), pages, None, status, 2),
}))
"""

# look FOLDER: as whoever and wherever it is started.
LOOK = r"""
set -e
mkdir -p "$1"
# One process for all files; what is not there, or may not be read, is left out.
snap() {
  group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
  nodes=/sys/devices/system/node
  grep -H '' %(files)s $nodes/node*/meminfo $nodes/node*/distance $nodes/node*/cpulist \
    $nodes/node*/hugepages/*/*_hugepages /sys/devices/system/cpu/cpu*/topology/physical_package_id \
    $group/cpuset.cpus.effective $group/cpuset.mems.effective $group/memory.max $group/cpu.max \
    > "$1" 2> /dev/null || true
}
snap "$1/before"
status=0
%(nodewise)s doctor --json > "$1/doctor.json" || status=$?
echo $status > "$1/status"
snap "$1/after"
%(python)s -S probe.py > "$1/probe.json"
"""


def number_set(text):
    found = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def by_name(findings):
    return {each["name"]: each for each in findings}


class Snapshot:
    def __init__(self, file):
        """A line of `grep -H`: a path, a colon, a line."""
        self.files = {}
        for line in Path(file).read_text().splitlines():
            path, _, text = line.partition(":")
            path = re.sub(r"^/sys/fs/cgroup.*/", "", path)
            self.files[path] = f"{self.files[path]}\n{text}" if path in self.files else text

    def text(self, path):
        return self.files.get(path)

    def set_of(self, path):
        return number_set(self.text(path))

    def glob(self, pattern):
        """The number in the path that `*` stands for -> text."""
        name = re.compile(re.escape(pattern).replace(r"\*", r"(\d+)"))
        return {int(match[1]): text for path, text in self.files.items() if (match := name.fullmatch(path))}

    def status(self, name):
        return re.search(rf"^{name}:\s*(.*)$", self.text("/proc/self/status"), re.M)[1]

    def memory(self, node):
        """Total, free, cached, what of it can be given up, what the kernel keeps: in MiB."""
        text = self.text(f"/sys/devices/system/node/node{node}/meminfo")
        fields = {name: int(kb) / 1024 for name, kb in re.findall(r"Node \d+ (\S+):\s+(\d+) kB", text)}
        cache = fields["Active(file)"] + fields["Inactive(file)"]
        zones = re.findall(rf"^Node {node}, zone.*\n(?:^ .*\n?)*", self.text("/proc/zoneinfo"), re.M)
        low = sum(int(pages) for zone in zones for pages in re.findall(r"^ +low +(\d+)", zone, re.M)) / 256
        return fields["MemTotal"], fields["MemFree"], fields["FilePages"], cache, low

    def share_in_large_blocks(self, node):
        """Percent, with 2 MiB blocks of 4 KiB pages."""
        pages = large = 0
        for counts in re.findall(rf"^Node {node}, zone +\S+ +(.*)$", self.text("/proc/buddyinfo"), re.M):
            for order, count in enumerate(map(int, counts.split())):
                pages += count << order
                large += count << order if order >= 9 else 0
        return 100 * large / pages


CAPABILITIES = {"CAP_SYS_PTRACE": 19, "CAP_SYS_ADMIN": 21, "CAP_SYS_NICE": 23, "CAP_PERFMON": 38}


class Truth:
    """`test` gets the failures."""

    def __init__(self, test, folder):
        self.test = test
        self.folder = Path(folder)
        self.result = json.loads((self.folder / "doctor.json").read_text())
        self.probe = json.loads((self.folder / "probe.json").read_text())
        self.exit_status = int((self.folder / "status").read_text())
        self.was, self.now = Snapshot(self.folder / "before"), Snapshot(self.folder / "after")
        self.online = self.was.set_of("/sys/devices/system/node/online")
        self.has_memory = self.was.set_of("/sys/devices/system/node/has_memory")
        self.cpus_online = self.was.set_of("/sys/devices/system/cpu/online")
        self.cpus = number_set(self.was.status("Cpus_allowed_list")) & self.cpus_online
        self.nodes = number_set(self.was.status("Mems_allowed_list")) & self.online
        self.usable = self.nodes & self.has_memory
        self.effective = int(self.was.status("CapEff"), 16)

    def can(self, *names):
        return any(self.effective >> CAPABILITIES[name] & 1 for name in names)

    def check(self):
        """Returns the names of all warnings but those about fragmentation, which are held against the
        kernel's lists: in what blocks memory is free is chance, above all on a node that is nearly full."""
        warned = set()
        for section in ("calls", "findings", "state", "environment", "lab"):
            for finding in self.result[section]:
                name, found = finding["name"], finding["found"]
                with self.test.subTest(folder=self.folder.name, section=section, name=name, found=found):
                    self.check_one(section, name, found, finding)
                if finding["verdict"] != "good" and not name.startswith("fragmentation_node_"):
                    warned.add(name if finding["verdict"] == "warning" else f"{name}: {finding['verdict']}")
        return warned

    def check_one(self, section, name, found, finding):
        method = re.sub(r"_node_\d+$", "", name).lower()
        node = re.search(r"_node_(\d+)$", name)
        for number in re.findall(r"\bnode (\d+)", found):
            self.test.assertIn(int(number), self.online, "a node that is not there")
        if section == "calls":
            self.check_call(name, finding)
        elif section == "lab":
            self.test.assertTrue(os.access(found, os.X_OK))
        elif name.startswith("CAP_"):
            self.test.assertEqual(found.startswith("present: "), self.can(name))
        elif node:
            getattr(self, method)(int(node[1]), found, finding)
        else:
            getattr(self, method)(found, finding)

    def check_call(self, name, finding):
        refused = finding.get("errno", 0)
        self.test.assertEqual(finding["found"] == "permitted", refused == 0)
        self.test.assertEqual(finding["verdict"] == "good", refused == 0)
        self.test.assertEqual("cure" in finding, refused != 0)
        if name in self.probe:
            self.test.assertEqual(refused, self.probe[name])

    def starts_with_file(self, found, path):
        self.test.assertEqual(re.split(r"[ :,]", found)[0], self.was.text(path))

    def kernel(self, found, _):
        self.test.assertEqual(found, self.was.text("/proc/sys/kernel/osrelease"))

    def page_size(self, found, _):
        self.test.assertEqual(found, "4096 bytes")

    def numa_balancing(self, found, finding):
        self.starts_with_file(found, "/proc/sys/kernel/numa_balancing")
        self.test.assertEqual("(off)" in found, found[0] == "0")
        self.test.assertEqual(finding["verdict"] == "warning", found[0] != "0" and len(self.usable) > 1)

    def transparent_huge_pages(self, found, _):
        chosen = re.search(r"\[(\w+)\]", self.was.text("/sys/kernel/mm/transparent_hugepage/enabled"))[1]
        self.test.assertEqual(found.split(":")[0], chosen)

    def transparent_huge_pages_defrag(self, found, _):
        self.test.assertIn(f"[{found}]", self.was.text("/sys/kernel/mm/transparent_hugepage/defrag"))

    def reserved_huge_pages(self, found, finding):
        folder = "/sys/devices/system/node/node*/hugepages/hugepages-2048kB/"
        pages, free = self.was.glob(folder + "nr_hugepages"), self.was.glob(folder + "free_hugepages")
        said = {int(n): (p, f) for p, f, n in re.findall(r"(\d+) \((\d+) free\) on node (\d+)", found)}
        there = {node: (pages[node], free[node]) for node in pages if node in self.has_memory}
        some = any(count != "0" for count, _ in there.values())
        self.test.assertEqual(said, there if some else {})
        self.test.assertEqual(found == "none", not some)
        self.test.assertEqual(finding["verdict"] == "warning", len({count for count, _ in there.values()}) > 1)

    def zone_reclaim_mode(self, found, finding):
        self.starts_with_file(found, "/proc/sys/vm/zone_reclaim_mode")
        self.test.assertEqual("one node only" in found, len(self.usable) == 1)
        self.test.assertEqual(finding["verdict"] == "warning", found[0] != "0" and len(self.usable) > 1)

    def max_map_count(self, found, _):
        self.starts_with_file(found, "/proc/sys/vm/max_map_count")

    def swappiness(self, found, _):
        self.starts_with_file(found, "/proc/sys/vm/swappiness")
        swap = int(re.search(r"SwapTotal:\s+(\d+)", self.was.text("/proc/meminfo"))[1])
        self.test.assertEqual("without swap space" in found, swap == 0)

    def seccomp(self, found, _):
        self.test.assertEqual(found[0], self.was.status("Seccomp"))

    def perf_event_paranoid(self, found, finding):
        self.starts_with_file(found, "/proc/sys/kernel/perf_event_paranoid")
        free = self.can("CAP_PERFMON", "CAP_SYS_ADMIN")
        self.test.assertEqual("does not apply to this process" in found, free)
        if finding["verdict"] == "warning":
            self.test.assertIn("every counter needs CAP_PERFMON", found)
            self.test.assertNotEqual(self.probe["perf_event_open"], 0, "refused, then")

    def allowed(self, found, mine, there, group):
        said = re.match(r"([\d,-]*)(?: of ([\d,-]+\d))?", found)
        self.test.assertEqual(number_set(said[1]), mine)
        self.test.assertEqual(number_set(said[2]) if said[2] else mine, there)
        if "by the control group" in found:
            self.test.assertEqual(mine, number_set(self.was.text(group)) & there)
        if "by this process's affinity" in found:
            self.test.assertLess(mine, number_set(self.was.text(group)) & there)

    def cpus_allowed_list(self, found, _):
        self.allowed(found, self.cpus, self.cpus_online, "cpuset.cpus.effective")

    def mems_allowed_list(self, found, _):
        self.allowed(found, self.nodes, self.online, "cpuset.mems.effective")

    def memory_limit(self, found, _):
        self.test.assertEqual(found == "none", self.was.text("memory.max") in (None, "max"))

    def cpu_quota(self, found, _):
        self.test.assertEqual(found == "none", (self.was.text("cpu.max") or "max").startswith("max"))

    def nodes_online(self, found, _):
        self.test.assertEqual(number_set(found.split(":")[0]), self.online)
        self.test.assertEqual("nothing to place here" in found, len(self.usable) == 1)
        alone = re.search(r"memory of node (\d+) only", found)
        self.test.assertEqual(bool(alone), len(self.usable) == 1 and len(self.online) > 1)
        if alone:
            self.test.assertEqual({int(alone[1])}, self.usable)

    def nodes_has_memory(self, found, _):
        self.test.assertEqual(number_set(found), self.has_memory)

    def nodes_has_cpu(self, found, _):
        self.test.assertEqual(number_set(found), self.was.set_of("/sys/devices/system/node/has_cpu"))

    def virtualisation(self, found, _):
        self.test.assertTrue(found.startswith(self.was.text("/sys/class/dmi/id/sys_vendor") + ": "))

    def memory_policy(self, found, _):
        self.test.assertTrue(found.startswith("default: "))

    def between(self, figure, before, after, off):
        self.test.assertGreaterEqual(figure, min(before, after) - off)
        self.test.assertLessEqual(figure, max(before, after) + off)

    def free_memory(self, node, found, finding):
        self.test.assertIn(node, self.has_memory)
        said = re.match(r"(\d+) MiB of (\d+) MiB, page cache (\d+) MiB", found)
        free, total, cached = map(int, said.groups())
        before, after = self.was.memory(node), self.now.memory(node)
        self.test.assertEqual(total, int(before[0]))
        self.between(free, before[1], after[1], 8)
        self.between(cached, before[2], after[2], 8)
        self.test.assertEqual("not available to this process" in found, node not in self.usable)
        (_, _, _, cache, low) = map(min, before, after)
        beyond = re.search(r"touched beyond (\d+) MiB (.*)", found)
        self.test.assertEqual(bool(beyond), finding["verdict"] == "warning")
        if "nearly full" in found:
            self.test.assertLess(int(beyond[1]), total / 20)
            self.between(int(beyond[1]), before[1] + before[3] - low, after[1] + after[3] - low, 8)
        elif beyond:
            self.test.assertGreater(cache + 8, int(beyond[1]))
            self.between(int(beyond[1]), before[1] - low, after[1] - low, 8)
            self.test.assertIn(f"nodewise drop-cache --nodes {node}", finding["cure"])
        if beyond:
            self.test.assertEqual(beyond[2].startswith("comes from other nodes"), len(self.usable) > 1)

    def fragmentation(self, node, found, finding):
        self.test.assertIn(node, self.has_memory)
        share = int(re.match(r"(\d+) % of free memory is in blocks of 2048 KiB or more", found)[1])
        self.between(share, self.was.share_in_large_blocks(node), self.now.share_in_large_blocks(node), 5)
        self.test.assertEqual(finding["verdict"] == "warning", share < 50 and node in self.usable)

    def firmware_nodes(self, found, _):
        nodes, packages = map(int, re.match(r"(\d+) nodes? in (\d+) packages?", found).groups())
        ids = self.was.glob("/sys/devices/system/cpu/cpu*/topology/physical_package_id")
        self.test.assertEqual(nodes, len(self.online))
        self.test.assertEqual(packages, len({ids[cpu] for cpu in self.cpus_online}))

    def distances(self, found, _):
        rows = self.was.glob("/sys/devices/system/node/node*/distance")
        figures = {int(figure) for node in self.online for figure in rows[node].split()}
        least, word, most = re.match(r"(\d+) (to|and) (\d+)", found).groups()
        self.test.assertEqual({int(least), int(most)}, {min(figures), max(figures)})
        self.test.assertEqual(word == "and", len(figures) == 2)

    def measured_distances(self, found, _):
        if self.was.status("Uid").split()[0] == "0":
            self.test.assertEqual(found, "unavailable: costs are not measured")
        else:  # HOME is root's still: nobody knows what is in there
            self.test.assertRegex(found, r"^unavailable: the measurement /root/.*EACCES")

    def memory_of_processors(self, found, _):
        lists = self.was.glob("/sys/devices/system/node/node*/cpulist")
        run_on = {node for node in self.online if number_set(lists[node]) & self.cpus}
        without = run_on - self.usable
        said = re.search(r"processors of node ([\d,-]*\d)", found)
        self.test.assertEqual(number_set(said[1]) if said else set(), without)
        self.test.assertEqual("has no memory" in found, bool(without) and not without & self.has_memory)

    def variables(self, found, _):
        self.test.assertEqual(found, "no variable places threads or memory")
