# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise doctor` here, and where a seccomp filter refuses calls as containers do."""

import json
import os
import re
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import DENY, CommandTest, conforms, nodewise, wait_until


def by_name(findings):
    return {finding["name"]: finding for finding in findings}


def without_figures(text):
    return re.sub(r"\d[\d.]*", "#", text)


class Doctor(CommandTest):
    def test_json_conforms_to_its_schema(self):
        done = nodewise("doctor", "--json")
        self.assertIn(done.returncode, (0, 4))
        self.assertIsNone(conforms(json.loads(done.stdout), "doctor-1"))

    def test_the_exit_code_follows_the_verdict(self):
        # Each by its own verdict: how much memory is free changes from one to the next.
        for options, codes in (
            ((), {"good": 0, "warning": 0, "bad": 4}),
            (("--strict",), {"good": 0, "warning": 1, "bad": 4}),
        ):
            done = nodewise("doctor", "--json", *options)
            self.assertEqual(done.returncode, codes[json.loads(done.stdout)["verdict"]], done.stdout)
            quiet = nodewise("doctor", "--quiet", *options)
            self.assertEqual(quiet.stdout, "")
            self.assertIn(quiet.returncode, codes.values())

    def test_text_and_json_say_the_same(self):
        text = nodewise("doctor").stdout
        result = json.loads(nodewise("doctor", "--json").stdout)
        for section in ("calls", "findings", "state", "environment", "lab"):
            self.assertTrue(result[section], section)
        for finding in sum((result[s] for s in ("calls", "findings", "state", "environment", "lab")), []):
            self.assertIn(finding["name"], text)
            if finding not in result["state"]:
                self.assertIn(finding["found"], text)
            elif "free_memory" not in finding["name"] and "fragmentation" not in finding["name"]:
                # What a control group has left changes from one to the next.
                self.assertIn(without_figures(finding["found"]), without_figures(text))

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
                (broken, f"the measurement {broken}: "),
                (other, f"{other} is not used: it describes a machine with nodes 0-15"),
                (missing, f"NODEWISE_MEASURED names {missing}, which does not exist"),
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


class Elsewhere(CommandTest):
    """Another process, and machines of which there is only a file: nothing is tried."""

    SECTIONS = ("calls", "findings", "state", "environment", "lab")

    def examined(self, *arguments):
        result = self.expect_json(0, "doctor", "--json", *arguments)
        self.assertIsNone(conforms(result, "doctor-1"))
        self.assertEqual({finding["verdict"] for finding in result["calls"]}, {"unavailable"})
        return result

    def test_a_process_is_examined_by_its_own_files(self):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, env={"TBB_NUM_THREADS": "3", "PATH": "/usr/bin:/bin"},
                              preexec_fn=lambda: (os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
                                                  resource.setrlimit(resource.RLIMIT_MEMLOCK, (4096, 4096)))) as process:
            wait_until(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "cat\n", "cat runs")
            result = self.examined("-p", str(process.pid))
            text = self.expect(0, "doctor", "--process", str(process.pid)).stdout
            process.communicate()
        found = by_name(result["findings"])
        one = str(min(os.sched_getaffinity(0)))
        self.assertEqual(found["process"]["found"], f"{process.pid} (cat)")
        self.assertEqual(found["threads"]["found"], f"1 thread on processors {one}")
        self.assertEqual(found["Cpus_allowed_list"]["found"].split()[0], one)
        self.assertEqual(found["limit_locked_memory"]["found"], "4096 bytes")
        self.assertIn("numa_balancing", found)
        self.assertEqual(by_name(result["environment"])["TBB_NUM_THREADS"]["verdict"], "warning")
        self.assertIn("default", by_name(result["state"])["memory_policy"]["found"])
        self.assertIn("no call was tried", text)

    def test_the_memory_policy_of_a_process_is_told(self):
        for option, word in (("--interleave=all", "interleave"), ("--membind=0", "bind"), ("--preferred=0", "preferred"),
                             ("--localalloc", "local"), ("--physcpubind=all", "default")):
            with self.subTest(option), subprocess.Popen(["numactl", option, "cat"], stdin=subprocess.PIPE) as process:
                wait_until(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "cat\n", "cat runs")
                result = self.examined("-p", str(process.pid))
                process.communicate()
                self.assertEqual(re.split("[,:]", by_name(result["state"])["memory_policy"]["found"])[0], word)

    def test_a_process_that_is_not_there_is_refused(self):
        for pid in ("4194305", "0", "-1", "x", "99999999999999999999"):
            with self.subTest(pid):
                done = self.expect(2, "doctor", f"--process={pid}")
                self.assertEqual(done.stdout, "")
                self.assertIn("ps -e", done.stderr)
        self.expect(2, "doctor", "-p", "1", "-p", "2")
        self.expect(2, "doctor", "-p", "1", "-i", "4x2")

    def test_what_a_machine_s_file_says_and_does_not_say(self):
        result = self.examined("-i", "lab:memoryless0")
        self.assertEqual(result["machine"]["name"], "memoryless0")
        self.assertEqual(set(result["settings"].values()), {"unavailable"})
        found = by_name(result["findings"])
        self.assertEqual(found["nodes_online"]["found"].split(":")[0], "0-1")
        self.assertEqual(found["nodes_has_memory"]["found"], "1")
        self.assertEqual(found["Cpus_allowed_list"]["found"], "0-3")
        for name in ("kernel", "numa_balancing", "seccomp", "memory_limit", "cpu_quota"):
            self.assertEqual(found[name]["verdict"], "unavailable", name)
        state = by_name(result["state"])
        self.assertIn("which has no memory", state["memory_of_processors"]["found"])
        self.assertEqual(state["distances"]["verdict"], "good")
        for section in ("calls", "environment", "lab"):
            self.assertTrue(all("not recorded in the file" in finding["found"] for finding in result[section]), section)
        # What is bad on a file's machine is a warning of it: --strict counts it.
        self.expect(1, "doctor", "--quiet", "--strict", "-i", "lab:memoryless0")

    def test_every_form_of_a_machine_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            xml, topology = f"{folder}/m.xml", f"{folder}/m.json"
            self.expect(0, "topo", "--xml", "-i", "4x2", "-o", xml)
            self.expect(0, "topo", "--json", "-i", "4x2", "-o", topology)
            for machine in (xml, topology, "4x2", "lab:cxl"):
                self.assertTrue(self.examined("--input", machine)["state"], machine)
        self.expect(3, "doctor", "-i", "nowhere.json")

    def test_what_doctor_wrote_is_told_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/doctor.json"
            nodewise("doctor", "--quiet", "-o", file)
            written = json.loads(Path(file).read_text())
            written["calls"][0] |= {"verdict": "bad", "found": "refused: EPERM", "errno": 1, "cure": "ask"}
            written["verdict"] = "bad"
            Path(file).write_text(json.dumps(written))
            self.assertEqual(self.expect_json(4, "doctor", "--json", "-i", file), written)
            text = self.expect(4, "doctor", "-i", file).stdout
            self.assertIn("refused: EPERM", text)
            self.assertIn("A call that nodewise needs is refused.", text)
            del written["state"]
            Path(file).write_text(json.dumps(written))
            self.assertIn("'state'", self.expect(3, "doctor", "-i", file).stderr)


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
        # What the filters of Docker and containerd refuse to a container without more capabilities.
        calls = by_name(self.denied("mbind,set_mempolicy,get_mempolicy,move_pages,perf_event_open", "EPERM")["calls"])
        for name in ("mbind", "set_mempolicy", "get_mempolicy", "get_mempolicy (address)"):
            self.assertIn("--cap-add SYS_NICE", calls[name]["cure"], name)
        self.assertIn("--cap-add PERFMON", calls["perf_event_open"]["cure"])
        for name in ("move_pages (query)", "move_pages (move)"):
            self.assertNotIn("--cap-add", calls[name]["cure"], "no capability permits it")
            self.assertIn("--security-opt seccomp=FILE", calls[name]["cure"])

    def test_the_filter_is_told_and_blamed(self):
        result = self.denied("mbind,move_pages,perf_event_open", "EPERM")
        self.assertEqual(by_name(result["findings"])["seccomp"]["found"][0], "2")
        calls = by_name(result["calls"])
        for name in ("mbind", "move_pages (move)", "perf_event_open"):
            self.assertIn("a seccomp filter is active", calls[name]["cure"])
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
