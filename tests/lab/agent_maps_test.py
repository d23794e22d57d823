# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Maps by parts on four nodes: heap, static arrays, mappings and groups, and more parts than mappings."""

import base64
import gzip
import itertools
import re
import sys
import unittest

from lab import BUILD, FOUR_NODES, ROOT, LabTest, shell

sys.path.insert(0, str(ROOT / "tests/agent"))
import agent_report  # noqa: E402
from agent_report import COARSER, GROUP, HEAP, MAP, PLACED, STATIC  # noqa: E402

LIBRARIES = BUILD / "lib/nodewise"
PROGRAMS = BUILD / "tests/agent"
PARTS = [(0, 3), (2, 1), (1, 2), (3, 2)]
FEW = ",".join(f"{node}*{count}" for node, count in PARTS)
MANY = ",".join(f"{part % 4}*1" for part in range(4000))
TOO_MANY = ",".join(f"{part % 4}*1" for part in range(16384))

SCRIPT = f"""
under() {{
  head -c 4194304 /dev/zero > /tmp/report
  echo "=== $1"
  env LD_PRELOAD={LIBRARIES}/libnodewise-agent.so "NODEWISE_AGENT=v3;threshold=1048576;group=256;trace;$2;report=/tmp/report" \
    {PROGRAMS}/$3 >&2 || echo "status $?"
  gzip -c /tmp/report | base64
}}
under kinds 'default=map@{FEW}' 'traced kinds'
under interleave 'rule=kind=group:interleave@0,1,2,3' 'rows 12288 200'
under rules 'owners=0*1,1*1;rule=kind=heap,nth=0-1:bind@3;rule=kind=static:map@1*1,0*1' 'traced kinds'
under many 'default=map@{MANY}' 'traced filled'
echo 32000 > /proc/sys/vm/max_map_count
under too_many 'default=map@{TOO_MANY}' 'traced filled'
"""


def edges(items, parts):
    """Where the runs of a map end: at the nearest page."""
    total = sum(count for _, count in parts)
    return [(items * before + total // 2) // total for before in itertools.accumulate(count for _, count in parts)]


class Maps(LabTest):
    reports: dict = {}

    @classmethod
    def setUpClass(cls):
        done = shell(SCRIPT, machine=FOUR_NODES)
        output = done.stdout.decode()
        for name, report in re.findall(r"^=== (\w+)\n(.*?)(?=^===|\Z)", output, re.M | re.S):
            cls.reports[name] = agent_report.read(gzip.decompress(base64.b64decode(report)))
        cls.said = output + done.stderr.decode()

    def objects(self, name, kind):
        self.assertIn(name, self.reports, self.said)
        found = (each for each in self.reports[name].objects if each.kind == kind)
        return sorted(found, key=lambda each: each.sequence)

    def test_every_kind_is_placed_by_its_parts(self):
        for kind in (HEAP, STATIC, MAP):
            each = self.objects("kinds", kind)[0]
            with self.subTest(kind=kind):
                self.assertTrue(each.flags & PLACED)
                self.assertEqual(each.resident, each.pages)
                self.assertEqual(each.on_owner, each.pages)
                self.assertEqual([node for _, _, node in each.runs], [node for node, _ in PARTS])
                self.assertEqual([first + count for first, count, _ in each.runs], edges(each.pages, PARTS))

    def test_a_group_is_divided_by_its_blocks(self):
        (group,) = self.objects("kinds", GROUP)
        self.assertTrue(group.flags & PLACED)
        self.assertEqual(group.on_owner, group.resident)
        self.assertEqual([node for _, _, node in group.runs], [node for node, _ in PARTS])
        # All blocks are of one size: the parts of the pages are those of the blocks but for a page.
        for (first, count, _), edge in zip(group.runs, edges(group.pages, PARTS)):
            self.assertAlmostEqual(first + count, edge, delta=1)

    def test_pages_that_are_in_memory_already_are_interleaved_too(self):
        arrays = [each for each in self.objects("interleave", GROUP) if each.bytes > 1 << 20]
        self.assertEqual(len(arrays), 2)
        for group in arrays:
            self.assertEqual(set(group.shares), {0, 1, 2, 3})
            for pages in group.shares.values():
                self.assertAlmostEqual(pages, group.resident / 4, delta=1)

    def test_a_rule_may_be_for_the_first_alone(self):
        first, *others = self.objects("rules", HEAP)
        self.assertEqual((first.rule, set(first.shares)), (0, {3}))
        self.assertEqual({each.rule for each in others}, {-1})
        (static,) = self.objects("rules", STATIC)
        self.assertEqual((static.rule, [node for _, _, node in static.runs]), (1, [1, 0]))
        self.assertEqual(self.reports["rules"].ends[0].rules, [(1, 1), (1, 1)])

    def test_thousands_of_parts(self):
        (each,) = self.objects("many", HEAP)
        self.assertEqual((each.flags & PLACED, each.flags & COARSER), (PLACED, 0))
        self.assertEqual((each.extents, len(each.runs)), (4000, 4000))
        self.assertEqual((each.on_owner, each.resident), (each.pages, each.pages))

    def test_more_parts_than_mappings_are_made_coarser_and_that_is_said(self):
        (each,) = self.objects("too_many", HEAP)
        self.assertEqual((each.flags & PLACED, each.flags & COARSER), (PLACED, COARSER))
        self.assertLess(each.extents, 32000 // 2)
        self.assertGreater(each.extents, 1000)
        self.assertEqual((each.on_owner, each.resident), (each.pages, each.pages))
        self.assertIn("1 of 2 large objects in larger granules or parts than requested", self.said)


if __name__ == "__main__":
    unittest.main()
