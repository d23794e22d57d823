# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What `nodewise lab` and `--on` do before a virtual machine starts. Nothing is booted here."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, CommandTest, conforms

MACHINES = BUILD / "share/nodewise/machines"


class Lab(CommandTest):
    def test_the_list_has_every_machine_file(self):
        names = {file.stem for file in MACHINES.glob("*.json")}
        self.assertGreater(len(names), 3)
        result = self.expect_json(0, "lab", "list", "--json")
        self.assertEqual({machine["name"] for machine in result["machines"]}, names)
        text = self.expect(0, "lab", "list").stdout
        for name in names:
            self.assertIn(name, text)

    def test_every_machine_can_be_described_and_drawn(self):
        for name in (*(file.stem for file in MACHINES.glob("*.json")), "4x2", "2x2x2"):
            with self.subTest(name):
                machine = self.expect_json(0, "lab", "describe", name, "--json")
                self.assertIsNone(conforms(machine, "machine-1"))
                self.expect(0, "lab", "describe", f"lab:{name}")
                self.expect(0, "topo", "--input", f"lab:{name}")

    def test_a_machine_described_can_be_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/mine.json"
            self.expect(0, "lab", "describe", "4x2", "-o", file)
            again = self.expect_json(0, "lab", "describe", file, "--json")
            self.assertEqual(again, json.loads(Path(file).read_text()))

    def test_an_unknown_machine_is_answered_with_those_there_are(self):
        name = sorted(file.stem for file in MACHINES.glob("*.json"))[0]
        for arguments in (("lab", "describe", name + "x"), ("topo", "--on", f"lab:{name}x")):
            message = self.expect(2, *arguments).stderr
            self.assertIn(f"did you mean lab:{name}?", message)
            self.assertIn("lab:4x2", message)

    def test_misuse(self):
        self.assertIn("it takes lab:MACHINE", self.expect(2, "topo", "--on", "4x2").stderr)
        self.assertIn("whole number", self.expect(2, "topo", "--on", "lab:4x2", "--on-timeout", "soon").stderr)
        self.assertIn("machine is missing", self.expect(2, "lab", "describe").stderr)
        for option in ("--on-timeout=5", "--on-thp=never", "--on-numa-balancing=1", "--on-overlay", "--on-no-count"):
            self.assertIn("without --on", self.expect(2, "run", option, "--", "true").stderr)
        self.assertIn("key is missing", self.expect(2, "lab", "cache", "remove").stderr)
        self.assertIn("not both", self.expect(2, "lab", "cache", "remove", "x", "--all").stderr)
        self.assertIn("working directory", self.expect(2, "topo", "--on", "lab:4x2", "-o", "/no/such/x.json").stderr)


class Runner(CommandTest):
    """An installation whose runner only writes down what it was given."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = Path(folder.name)
        for part in ("bin", "libexec/nodewise/lab", "share"):
            (self.prefix / part).mkdir(parents=True)
        for name in ("bin/nodewise", "libexec/nodewise/nodewise-tool"):
            shutil.copy(BUILD / name, self.prefix / name)
        (self.prefix / "share/nodewise").symlink_to(BUILD / "share/nodewise")
        (self.prefix / "libexec/nodewise/lab/nodewise_lab").write_text(
            "import json, sys\n"
            "words = sys.argv[1:]\n"
            "at = words.index('--machine') + 1\n"
            "hosts = [json.load(open(file))['name'] for by, file in zip(words, words[1:]) if by == '--host']\n"
            "print(json.dumps({'words': words, 'machine': json.load(open(words[at])), 'hosts': hosts}))\n"
            "sys.exit(7)\n"
        )

    def run_recorded(self, *arguments):
        command = str(self.prefix / "bin/nodewise")
        return self.expect_json(7, *arguments, command=command, stdin=subprocess.DEVNULL)

    def test_on_starts_the_same_command_inside(self):
        given = self.run_recorded("topo", "--on", "lab:4x2", "--json", "--on-timeout", "60", "--on-thp=never")
        words = given["words"]
        self.assertEqual(words[0], "run")
        self.assertEqual(words[words.index("--timeout") + 1], "60")
        self.assertEqual(words[words.index("--thp") + 1], "never")
        self.assertEqual(words[words.index("--") :], ["--", str(self.prefix / "bin/nodewise"), "topo", "--json"])
        self.assertEqual(len(given["machine"]["nodes"]), 4)
        self.assertEqual(given["machine"]["schema"], "nodewise/machine/1")

    def test_a_program_keeps_its_own_arguments(self):
        words = self.run_recorded("run", "--on=lab:2x2", "-N0", "./a", "--on", "-x")["words"]
        inside = words[words.index("--") + 1 :]
        self.assertEqual(inside[1:], ["run", "--cpunodebind=0", "--", "./a", "--on", "-x"])

    def test_a_result_file_is_written_in_the_shared_working_directory(self):
        for name in ("x.json", str(Path.cwd() / "x.json")):
            words = self.run_recorded("topo", "--on", "lab:2x2", "-o", name)["words"]
            self.assertEqual(words[-1], f"--output={name}")
            self.assertNotIn("--overlay", words)

    def test_a_cluster(self):
        given = self.run_recorded("run", "--on", "lab:4x2+gap+2x2x2", "./a")
        self.assertEqual(given["machine"]["name"], "4x2")
        self.assertEqual(given["hosts"], ["gap", "2x2x2"])
        self.assertNotIn("--count", given["words"])
        self.assertEqual(self.run_recorded("lab", "shell", "4x2+4x2")["hosts"], ["4x2"])
        counted = self.run_recorded("lab", "check", "--on", "lab:4x2+gap", "--min-local", "0.9", "--", "./a")["words"]
        self.assertEqual(counted[: counted.index("--")].count("--count"), 2)

    def cluster_file(self, document):
        file = self.prefix / "rack.json"
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return f"lab:{file}"

    def test_a_cluster_file(self):
        self.expect(0, "lab", "describe", "2x2x2", "-o", str(self.prefix / "mine.json"))
        document = {"schema": "nodewise/cluster/1", "hosts": ["4x2", {"machine": "gap", "count": 2}, "./mine.json"]}
        self.assertIsNone(conforms(document, "cluster-1"))
        where = self.cluster_file(document)
        given = self.run_recorded("run", "--on", where, "./a")
        self.assertEqual([given["machine"]["name"], *given["hosts"]], ["4x2", "gap", "gap", "2x2x2"])
        given = self.run_recorded("run", "--on", f"{where}+cxl", "./a")
        self.assertEqual(given["hosts"][-1], "cxl")
        self.assertIn("that is a cluster", self.expect(2, "topo", "--on", where).stderr)

    def test_wrong_cluster_files(self):
        for hosts, code, why in (
            ([], 3, "there are no hosts"), (["4x2", 5], 3, "hosts[1]"), ([{"machine": "4x2", "count": 0}], 3, "hosts[0].count"),
            ([{"machine": "4x2", "cout": 2}], 3, "cout"), ([{"count": 2}], 3, "machine"), ("4x2", 3, "hosts"), (["gab"], 2, "did you mean lab:gap?"),
        ):  # fmt: skip
            with self.subTest(hosts):
                done = self.expect(code, "run", "--on", self.cluster_file({"schema": "nodewise/cluster/1", "hosts": hosts}), "--", "true")
                self.assertIn(why, done.stderr)
        for text in ("{", '{"schema": "nodewise/cluster/2", "hosts": []}', '{"schema": 5}', "[]"):
            with self.subTest(text):
                self.assertIn("rack.json", self.expect(3, "run", "--on", self.cluster_file(text), "--", "true").stderr)

    def test_shell_and_selftest(self):
        words = self.run_recorded("lab", "shell", "4x2")["words"]
        self.assertIn("--tty", words)
        self.assertEqual(self.run_recorded("lab", "selftest", "4x2")["words"][0], "selftest")


if __name__ == "__main__":
    unittest.main()
