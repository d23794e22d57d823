# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise report` of a job and of a cluster's traffic."""

import json
import unittest

from command import ROOT
from job_records import HARDWARE, machine_of, record_of
from report_page import HOSTILE, ReportTest


def rank_record(rank, host, cpu, **others):
    """Of a host with two ranks, of which the first names the hardware."""
    made = record_of(rank, 4, host, cpu) | {"machine": machine_of(HARDWARE), "local": rank % 2, "bytes": {"0": 64 << 20},
                                            "workers": [{"allowed": cpu, "ran": cpu, "busy_ms": 900}] * 2}  # fmt: skip
    if rank % 2 == 0:
        made |= {"hardware": HARDWARE, "devices": []}
    return made | others


class Survey(ReportTest):
    def job(self, *records):
        lines = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records)
        return self.expect_json(0, "survey", "--json", self.write(lines, "out.jsonl"))

    def two_hosts(self, **others):
        return self.job(*(rank_record(rank, f"n{rank // 2}", str(rank % 2 * 2), **others) for rank in range(4)))

    def test_findings_and_hosts_are_those_of_the_file(self):
        document = self.two_hosts()
        page = self.page_of(document)
        found = {each["what"] for each in document["findings"]}
        self.assertEqual(found, {"threads of a rank share processors", "memory is on other nodes than the threads"})
        self.assertEqual(page.verdict, "2 things are wrong with the placement of the job.")
        shown = " ".join(text for texts in page.texts.values() for text in texts)
        for each in document["findings"]:
            self.assertIn(each["evidence"], shown)
            for fix in each["fixes"]:
                self.assertIn(fix.get("line", fix["meaning"]), shown)
        rows = page.tables["The nodes of n0"]
        self.assertEqual(rows[1], ["0", "x.", "0", "2", "128 MiB", "50.0 %"])
        self.assertEqual(rows[2], ["1", "x.", "1", "2", "-", "-"])
        self.assertIn("2 hosts with this picture: n0, n1", shown)

    def test_a_job_without_a_fault(self):
        one_a_node = (rank_record(rank, "n0", str(rank * 2), ranks=2, bytes={str(rank): 64 << 20}) | {"workers": []} for rank in range(2))
        page = self.page_of(self.job(*one_a_node))
        self.assertEqual(page.verdict, "Nothing is wrong with the placement of threads and memory.")
        self.assertIn("job-hosts", page.ids)

    def test_unknown_hardware_and_missing_ranks(self):
        document = self.job(rank_record(1, "n0", "0"))
        page = self.page_of(document)
        shown = " ".join(page.texts["p"])
        self.assertIn("The hardware is unknown", shown)

    def test_hostile_names_stay_texts(self):
        document = self.two_hosts(command=HOSTILE)
        document["findings"][0]["evidence"] = HOSTILE
        document["problems"] = [HOSTILE]
        for host in document["hosts"]:
            for rank in host["ranks"]:
                rank["host"] += HOSTILE
        self.check_hostile(document)

    def test_a_damaged_file_is_refused(self):
        self.check_damage(self.two_hosts())
        broken = self.two_hosts()
        broken["hosts"][0]["ranks"][0]["workers"] = 5
        self.refused(broken, "hosts[0].ranks[0].workers")


class ClusterTraffic(ReportTest):
    def of_hosts(self, count):
        one = json.loads((ROOT / "tests/data/results/counts.json").read_text())
        return {"schema": "nodewise/cluster-traffic/1", "nodewise": "0.1.0",
                "hosts": [{"host": f"host{i + 1}", "traffic": one} for i in range(count)]}

    def test_each_host_has_its_sections_and_none_is_compared(self):
        page = self.page_of(self.of_hosts(2))
        self.assertTrue([each for each in page.ids if each.endswith("-2")])
        self.assertEqual([each for each in page.ids if each.startswith("comparison-")], [])

    def test_a_damaged_file_is_refused(self):
        self.check_damage(self.of_hosts(2))


if __name__ == "__main__":
    unittest.main()
