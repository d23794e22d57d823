# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The agent on four nodes with two processors each: threads on their places, static arrays in blocks.

Shares are the programs' own: they ask the kernel where their pages are (tests/agent/blocks.h).
"""

import base64
import gzip
import re
import sys
import unittest

from lab import BUILD, FOUR_NODES, ROOT, LabTest, shell

sys.path.insert(0, str(ROOT / "tests/agent"))
import agent_report  # noqa: E402
from agent_report import PINNED  # noqa: E402

AGENT = BUILD / "lib/nodewise/libnodewise-agent.so"
PROGRAMS = BUILD / "tests/agent"
EVERY_PROCESSOR = "|".join(map(str, range(8)))
NODES = 4
BLOCKED = "owners=0*2,1*2,2*2,3*2;default=blocked"

# Each program in turn, in one machine: what it prints, then its report.
SCRIPT = f"""
under() {{
  name=$1 settings=$2
  shift 2
  head -c 4194304 /dev/zero > /tmp/report
  echo "=== $name"
  env LD_PRELOAD={AGENT} "NODEWISE_AGENT=v3;threshold=1048576;$settings;report=/tmp/report" "$@" || echo "status $?"
  echo "--- report"
  gzip -c /tmp/report | base64
}}
cd {PROGRAMS}
under places 'pin={EVERY_PROCESSOR}' ./thread_places staying 8
under round 'pin=0-1|2-3|4-5|6-7' ./thread_places posix 6
under cxx 'pin={EVERY_PROCESSOR}' ./std_threads 8
under arrays '{BLOCKED}' ./static_arrays {NODES}
under common '{BLOCKED}' ./static_common {NODES}
under plugins '{BLOCKED}' ./plugin_host {NODES} 2 ./static_plugin.so ./openmp_plugin.so
under untouched 'threshold=1048576' ./static_arrays {NODES}
"""


class Agent(LabTest):
    parts: dict = {}

    @classmethod
    def setUpClass(cls):
        done = shell(SCRIPT, machine=FOUR_NODES)
        output = done.stdout.decode()
        for name, body in re.findall(r"^=== (\w+)\n(.*?)(?=^===|\Z)", output, re.M | re.S):
            printed, report = body.split("--- report\n")
            cls.parts[name] = (printed.splitlines(), agent_report.read(gzip.decompress(base64.b64decode(report))))
        cls.said = output + done.stderr.decode()

    def part(self, name):
        self.assertIn(name, self.parts, self.said)
        return self.parts[name]

    def shares(self, name):
        """Array -> the shares of its pages in their blocks, in percent."""
        found = {}
        for line in self.part(name)[0]:
            array, _, share = line.split()
            found.setdefault(array, []).append(float(share))
        return found

    def test_the_kth_thread_is_on_the_kth_processor(self):
        for name in ("places", "cxx"):
            printed, report = self.part(name)
            self.assertEqual(printed[:8], [f"{k} {k}" for k in range(8)])
            self.assertEqual(report.ends[0].pin_errno, 0)
        _, report = self.part("places")
        workers = [thread for thread in report.threads if thread.ordinal >= 0]
        self.assertEqual([(t.ordinal, t.cpus, t.flags) for t in workers], [(k, str(k), PINNED) for k in range(8)])

    def test_more_threads_than_places_begin_again(self):
        printed, _ = self.part("round")
        pairs = ["0,1", "2,3", "4,5", "6,7", "0,1", "2,3"]
        self.assertEqual(printed, [f"{k} {cpus}" for k, cpus in enumerate(pairs)])

    def test_static_arrays_are_in_blocks_though_one_thread_writes_them(self):
        shares = self.shares("arrays")
        self.assertEqual(set(shares), {"exported", "hidden", "local"})
        for name, (share,) in shares.items():
            self.assertGreaterEqual(share, 99, name)
        for name, (share,) in self.shares("untouched").items():
            self.assertLess(share, 60, f"{name}: the test would not notice")

    def test_a_common_block_is_one_object(self):
        shares = self.shares("common")
        self.assertGreaterEqual(shares["single"][0], 99)
        self.assertGreaterEqual(shares["density"][0], 99)
        # Two arrays in one block: the block is dealt out as a whole, so the first array has its pages
        # on the first half of the nodes.
        report = self.part("common")[1]
        several = report.static("several_")
        self.assertEqual(several.on_owner, several.pages)
        quarters = [several.shares[node] / several.pages for node in range(NODES)]
        for quarter in quarters:
            self.assertAlmostEqual(quarter, 0.25, delta=0.01)
        self.assertLess(shares["first"][0], 60)

    def test_plugins_arrays_are_placed_before_threads_use_them(self):
        shares = self.shares("plugins")["plugin_field"]
        self.assertEqual(len(shares), 4)
        for share in shares:
            self.assertGreaterEqual(share, 99)


if __name__ == "__main__":
    unittest.main()
