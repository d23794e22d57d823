# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise doctor` here, and where a seccomp filter refuses calls as containers do."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from command import DENY, CommandTest, conforms, nodewise


def by_name(findings):
    return {finding["name"]: finding for finding in findings}


class Doctor(CommandTest):
    def test_json_conforms_to_its_schema(self):
        done = nodewise("doctor", "--json")
        self.assertIn(done.returncode, (0, 4))
        self.assertIsNone(conforms(json.loads(done.stdout), "doctor-1"))

    def test_the_exit_code_follows_the_verdict(self):
        verdict = json.loads(nodewise("doctor", "--json").stdout)["verdict"]
        plain = {"good": 0, "warning": 0, "bad": 4}[verdict]
        strict = {"good": 0, "warning": 1, "bad": 4}[verdict]
        self.assertEqual(self.expect(plain, "doctor", "--quiet").stdout, "")
        self.expect(strict, "doctor", "--quiet", "--strict")

    def test_text_and_json_say_the_same(self):
        text = nodewise("doctor").stdout
        result = json.loads(nodewise("doctor", "--json").stdout)
        for section in ("calls", "findings", "state", "environment", "lab"):
            self.assertTrue(result[section], section)
        for finding in sum((result[s] for s in ("calls", "findings", "state", "environment", "lab")), []):
            self.assertIn(finding["name"], text)
            if "free_memory" not in finding["name"] and "fragmentation" not in finding["name"]:
                self.assertIn(finding["found"], text)

    def test_variables_that_contradict_each_other(self):
        variables = {"OMP_NUM_THREADS": "100000", "TBB_NUM_THREADS": "2", "HWLOC_XMLFILE": "no.xml"}
        result = self.expect_json(0, "doctor", "--json", env=variables)
        self.assertIsNone(conforms(result, "doctor-1"))
        said = by_name(result["environment"])
        self.assertEqual(set(said), set(variables))
        self.assertIn("threads take turns", said["OMP_NUM_THREADS"]["found"])
        self.assertTrue(all(finding["verdict"] == "warning" and finding["cure"] for finding in said.values()))

    def test_a_kept_measurement_that_is_not_used_is_told_with_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            broken, other, missing = (f"{folder}/{name}.json" for name in ("broken", "other", "missing"))
            Path(broken).write_text("{")
            there = self.expect_json(0, "topo", "--json", "-i", "16x2")["machine"]
            there["parameters"] = [
                {"name": "latency", "from": 0, "to": 0, "value": 90, "unit": "ns", "source": "measured in a test"}
            ]
            Path(other).write_text(
                json.dumps({"schema": "nodewise/measurement/1", "nodewise": "0", "machine": there, "settings": {}})
            )
            for file, why in (
                (broken, f"what was measured, in {broken}: "),
                (other, f"{other} is left aside: it is of a machine with nodes 0-15"),
                (missing, f"NODEWISE_MEASURED names {missing}, and there is no such file"),
            ):
                with self.subTest(file):
                    result = json.loads(nodewise("doctor", "--json", env={"NODEWISE_MEASURED": file}).stdout)
                    self.assertIsNone(conforms(result, "doctor-1"))
                    finding = by_name(result["state"])["measured_distances"]
                    self.assertEqual(finding["verdict"], "unavailable")
                    self.assertIn(f"unavailable: {why}", finding["found"])
                    self.assertNotIn("not measured", finding["found"])
                    self.assertIn("nodewise measure", finding["cure"])

    def test_output_file(self):
        with tempfile.TemporaryDirectory() as folder:
            text = nodewise("doctor", "-o", f"{folder}/%h-%p.json").stdout
            files = list(Path(folder).iterdir())
            self.assertEqual(len(files), 1)
            self.assertIn(os.uname().nodename, files[0].name)
            self.assertEqual(json.loads(files[0].read_text())["schema"], "nodewise/doctor/1")
            self.assertIn("mbind", text, "the text is printed beside the file")


class Denied(CommandTest):
    """A container's filter answers EPERM; some sandboxes answer ENOSYS."""

    def denied(self, calls, errno_name):
        if not Path(DENY).exists():
            self.fail(f"{DENY} is not built")
        return self.expect_json(4, "doctor", "--json", before=(DENY, calls, errno_name, "--"))

    def test_refused_calls_are_named_with_their_errno_and_a_cure(self):
        for errno_name, number in (("EPERM", 1), ("ENOSYS", 38)):
            with self.subTest(errno_name):
                result = self.denied("mbind,move_pages", errno_name)
                self.assertIsNone(conforms(result, "doctor-1"))
                self.assertEqual(result["verdict"], "bad")
                calls = by_name(result["calls"])
                for name in ("mbind", "move_pages (query)", "move_pages (move)"):
                    self.assertEqual(calls[name]["verdict"], "bad")
                    self.assertEqual(calls[name]["errno"], number)
                    self.assertIn(errno_name, calls[name]["found"])
                    self.assertTrue(calls[name]["cure"])
                for name in ("set_mempolicy", "sched_setaffinity", "mincore"):
                    self.assertNotIn("errno", calls[name], "refusing one call must not blame another")

    def test_the_container_s_remedy_is_named(self):
        calls = by_name(self.denied("mbind", "EPERM")["calls"])
        self.assertIn("--cap-add SYS_NICE", calls["mbind"]["cure"])

    def test_the_filter_is_told_and_blamed(self):
        result = self.denied("mbind,move_pages,perf_event_open", "EPERM")
        self.assertEqual(by_name(result["findings"])["seccomp"]["found"][0], "2")
        calls = by_name(result["calls"])
        for name in ("mbind", "move_pages (move)", "perf_event_open"):
            self.assertIn("a seccomp filter is in force", calls[name]["cure"])
        level = by_name(result["findings"])["perf_event_paranoid"]["found"]
        if int(level.split(":")[0]) <= 2:
            self.assertNotIn("sysctl", calls["perf_event_open"]["cure"], "which would not help")

    def test_what_a_run_can_do_without_is_a_warning(self):
        if not Path(DENY).exists():
            self.fail(f"{DENY} is not built")
        result = self.expect_json(0, "doctor", "--json", before=(DENY, "perf_event_open", "EACCES", "--"))
        self.assertEqual(by_name(result["calls"])["perf_event_open"]["verdict"], "warning")


if __name__ == "__main__":
    unittest.main()
