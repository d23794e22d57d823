# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What `run --on` and `lab check` make of a traffic count. A runner that writes a recorded one stands in
for the virtual machine."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import profile_input_test
from command import BUILD, PATIENCE, ROOT, CommandTest, conforms

COUNTS = ROOT / "tests/data/counts"
RUNNER = """
import json, os, signal, sys
words = sys.argv[1:]
own = words[: words.index("--")]
if "--count" in own:
    with open(os.environ["FAKE_COUNTS"]) as source, open(own[own.index("--count") + 1], "w") as to:
        to.write(source.read())
if "FAKE_WORDS" in os.environ:
    with open(os.environ["FAKE_WORDS"], "w") as file:
        json.dump(words, file)
if "FAKE_PROFILE" in os.environ:
    with open(os.environ["FAKE_PROFILE"]) as source, open(words[words.index("-o") + 1], "w") as to:
        to.write(source.read())
print("the program's own words", flush=True)
status = int(os.environ.get("FAKE_STATUS", "0"))
if status < 0:
    if status == -signal.SIGINT:  # Python has a handler
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


class Counted(CommandTest):
    """An installation with that runner."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        prefix = self.folder / "nodewise"
        for part in ("bin", "libexec/nodewise/lab", "share"):
            (prefix / part).mkdir(parents=True)
        for name in ("bin/nodewise", "libexec/nodewise/nodewise-tool"):
            shutil.copy(BUILD / name, prefix / name)
        (prefix / "share/nodewise").symlink_to(BUILD / "share/nodewise")
        (prefix / "libexec/nodewise/lab/nodewise_lab").write_text(RUNNER)
        self.command = str(prefix / "bin/nodewise")
        self.words_file = self.folder / "words.json"

    def text_of(self, name):
        return (COUNTS / f"{name}.txt").read_text()

    def given(self, text):
        """A file with this count."""
        file = self.folder / "counts.txt"
        file.write_text(text)
        return file

    def go(self, code, *arguments, counts="first-touch-4x2", status=0):
        file = counts if isinstance(counts, Path) else COUNTS / f"{counts}.txt"
        env = {"FAKE_COUNTS": str(file), "FAKE_STATUS": str(status), "FAKE_WORDS": str(self.words_file)}
        return self.expect(
            code, *arguments, command=self.command, env=env, stdin=subprocess.DEVNULL, cwd=self.folder
        )

    def words(self):
        return json.loads(self.words_file.read_text())


class Run(Counted):
    def test_the_text_follows_the_program_on_standard_error(self):
        done = self.go(0, "run", "--on", "lab:4x2", "-N", "0", "--", "./triad", "--on-no-count")
        self.assertEqual(done.stdout, "the program's own words\n")
        self.assertIn("use: 25.0 % local, initialisation: 100 % local", done.stderr)
        self.assertTrue(done.stderr.isascii(), done.stderr)
        words = self.words()
        inside = words[words.index("--") + 1 :]
        self.assertEqual(inside, [self.command, "run", "--cpunodebind=0", "--", "./triad", "--on-no-count"])

    def test_it_can_be_left_out(self):
        for arguments in (["--on-no-count"], ["--quiet"]):
            done = self.go(0, "run", "--on", "lab:4x2", *arguments, "./triad")
            self.assertEqual(done.stderr, "")
            self.assertNotIn("--count", self.words())
        self.go(0, "run", "--on", "lab:4x2", "--dry-run", "./triad")
        self.assertNotIn("--count", self.words())
        self.go(0, "topo", "--on", "lab:4x2")
        self.assertNotIn("--count", self.words())

    def test_the_json_is_written_as_its_schema_says(self):
        file = self.folder / "traffic.json"
        for counts in ("first-touch-4x2", "no-use-2x2", "nothing-2x2", "many-objects-2x2"):
            with self.subTest(counts):
                done = self.go(0, "run", "--on", "lab:4x2", "-q", "--on-counts", str(file), "./a", counts=counts)
                self.assertEqual(done.stderr, "")
                result = json.loads(file.read_text())
                self.assertIsNone(conforms(result, "traffic-1"))
        self.assertEqual(result["sites"][0]["objects"], 100)
        sites = {result["sites"][one["site"]]["name"] for one in result["objects"]}
        self.assertEqual(sites, {"rows+0x1234", "grid", "unknown caller"})

    def test_the_json_has_the_figures(self):
        done = self.go(0, "run", "--on", "lab:4x2", "--on-thp", "never", "-q", "--on-counts", "-", "./a")
        result = json.loads(done.stdout.removeprefix("the program's own words\n"))
        self.assertEqual(result["use"]["local"], 0.25)
        self.assertEqual(result["use"]["imbalance"], 4)
        self.assertEqual(result["init"]["local"], 1)
        self.assertEqual(result["settings"]["thp"], "never")
        self.assertEqual(len(result["machine"]["nodes"]), 4)
        for when in ("init", "use"):
            cells = [cell for cell in result["matrix"] if cell["phase"] == when]
            self.assertEqual(sum(cell["fills"] for cell in cells), result[when]["fills"])
            flows = [flow for site in result["sites"] for flow in site[when]["flows"]]
            self.assertEqual(sum(flow["fills"] for flow in flows), result[when]["fills"])

    def test_the_end_is_the_programs(self):
        self.assertIn("25.0 % local", self.go(3, "run", "--on", "lab:4x2", "./a", status=3).stderr)
        killed = self.go(-signal.SIGKILL, "run", "--on", "lab:4x2", "./a", status=-signal.SIGKILL)
        self.assertIn("25.0 % local", killed.stderr)

    def test_a_signal_reaches_the_runner(self):
        slow = RUNNER.replace("print(", "import time; print(", 1).replace("status =", "time.sleep(1000); status =", 1)
        (self.folder / "nodewise/libexec/nodewise/lab/nodewise_lab").write_text(slow)
        env = os.environ | {"FAKE_COUNTS": str(COUNTS / "first-touch-4x2.txt")}
        with subprocess.Popen([self.command, "run", "--on", "lab:4x2", "./a"], env=env, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            self.assertEqual(running.stdout.readline(), "the program's own words\n")
            running.terminate()
            _, errors = running.communicate(timeout=PATIENCE)
        self.assertEqual(running.returncode, -signal.SIGTERM)
        self.assertIn("25.0 % local", errors)

    def test_a_lab_that_failed_has_said_so(self):
        for status in (2, 3, 4, 124, 125, 126, 127):
            done = self.go(status, "run", "--on", "lab:4x2", "./a", counts=self.given(""), status=status)
            self.assertEqual(done.stderr, "")
        self.assertIn("25.0 % local", self.go(127, "run", "--on", "lab:4x2", "./a", status=127).stderr)

    def test_what_is_missing_is_said_and_no_table_shown(self):
        whole = self.text_of("first-touch-4x2")
        for text, said in (
            ("", "nothing was written"),
            (whole.removesuffix("complete\n"), "cut off after 97 lines"),
            (whole[: len(whole) // 2], "cut off"),
            (self.text_of("refused"), "test failed: processor 3 was taken for one of node 0"),
            (whole.replace("cell 1 0 use", "cell 1 0 abuse"), "'abuse' is invalid in 'cell'"),
        ):
            with self.subTest(said):
                counts = self.given(text)
                done = self.go(7, "run", "--on", "lab:4x2", "./a", counts=counts, status=7)
                self.assertRegex(done.stderr, r"\Anodewise: the traffic count.*\n    hint: .*\n\Z")
                self.assertIn(said, done.stderr)
                file = self.folder / "none.json"
                self.go(3, "run", "--on", "lab:4x2", "--on-counts", str(file), "./a", counts=counts)
                self.assertFalse(file.exists(), "a result that was asked for is missing: no success, no file")

    def test_misuse(self):
        self.assertIn("leave one", self.go(2, "run", "--on=lab:4x2", "--on-no-count", "--on-counts=x", "./a").stderr)
        self.assertIn("--on lab:4x2", self.go(2, "run", "--on-counts", "x", "./a").stderr)
        self.assertIn("--on-counts", self.go(125, "run", "--on=lab:4x2", "--on-counts=/no/such/x", "./a").stderr)
        self.assertFalse(self.words_file.exists(), "nothing was started")


class Check(Counted):
    def check(self, code, *arguments, **options):
        return self.go(code, "lab", "check", "--on", "lab:4x2", *arguments, "--", "./a", "-x", **options)

    def test_passes_and_fails_by_use(self):
        done = self.check(0, "--min-local", "25%")
        self.assertIn("passed: all traffic in use: 25.0 % local (at least 25.0 % required)", done.stdout)
        self.assertEqual(done.stderr, "")
        words = self.words()
        self.assertEqual(
            words[words.index("--") + 1 :], [self.command, "run", "--quiet", "--", "./a", "-x"]
        )
        failed = self.check(1, "--min-local", "0.95").stdout
        self.assertIn("failed: all traffic in use: 25.0 % local (at least 95.0 % required)", failed)
        self.assertIn("triad+0x11d2", failed)
        self.assertIn("triad+0x12c4", failed)

    def test_phases_objects_and_imbalance(self):
        self.check(0, "--min-local", "1", "--phase", "init")
        self.check(1, "--min-local", "0.5", "--phase", "all")
        self.check(0, "--min-local", "1", "--object", "grid", counts="many-objects-2x2")
        self.check(1, "--min-local", "1", "--object", "grid", "--object=rows+0x1234", counts="many-objects-2x2")
        self.check(0, "--max-imbalance", "4")
        self.assertIn("4.00 (at most 2.00 required)", self.check(1, "--max-imbalance", "2").stdout)

    def test_an_object_that_is_not_there_is_no_pass(self):
        done = self.check(2, "--min-local", "0", "--object", "nothing.c:3")
        self.assertIn("partial_sums, triad+0x11d2", done.stderr)

    def test_without_traffic_nothing_is_shown(self):
        for counts in ("no-use-2x2", "nothing-2x2"):
            self.assertIn("nothing was counted", self.check(1, "--min-local", "0", counts=counts).stdout)

    def test_a_program_that_fails_is_not_judged(self):
        done = self.check(9, "--min-local", "0", status=9)
        self.assertIn("failed with status 9 and was not checked", done.stderr)
        self.assertNotIn("passed", done.stdout)
        self.check(-signal.SIGKILL, "--min-local", "0", status=-signal.SIGKILL)
        self.assertEqual(self.check(125, "--min-local", "0", counts=self.given(""), status=125).stderr, "")

    def test_without_a_whole_count_nothing_is_judged(self):
        for text in ("", self.text_of("first-touch-4x2")[:-1], self.text_of("refused")):
            done = self.check(3, "--min-local", "0", counts=self.given(text))
            self.assertIn("the traffic count", done.stderr)
            self.assertNotIn("passed", done.stdout)

    def test_the_json_has_the_verdict(self):
        done = self.check(1, "--min-local", "0.5", "--max-imbalance", "4", "--json")
        self.assertIn("failed", done.stderr)
        result = json.loads(done.stdout.removeprefix("the program's own words\n"))
        self.assertIsNone(conforms(result, "traffic-1"))
        self.assertFalse(result["check"]["passed"])
        self.assertEqual([one["passed"] for one in result["check"]["findings"]], [False, True])
        file = self.folder / "check.json"
        self.assertIn("passed", self.check(0, "--min-local", "0.25", "-o", str(file)).stdout)
        self.assertTrue(json.loads(file.read_text())["check"]["passed"])

    def sarif_of(self, text):
        """The only run of a log that has every member that the schema of SARIF 2.1.0 requires."""
        log = json.loads(text)
        self.assertEqual((log["version"], len(log["runs"])), ("2.1.0", 1))
        run = log["runs"][0]
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "Nodewise")
        for rule in driver["rules"]:
            self.assertRegex(rule["id"], "^[a-z-]+$")
            for part in ("shortDescription", "fullDescription", "help"):
                self.assertRegex(rule[part]["text"], r"^[A-Z].*\.$")
        self.assertTrue(all(type(one["executionSuccessful"]) is bool for one in run["invocations"]))
        for result in run["results"]:
            self.assertEqual(driver["rules"][result["ruleIndex"]]["id"], result["ruleId"])
            self.assertEqual(result["level"], "error")
            self.assertTrue(result["message"]["text"])
            for place in result.get("locations", []) + result.get("relatedLocations", []):
                physical = place["physicalLocation"]
                self.assertRegex(physical["artifactLocation"]["uri"], r"^(file://)?[\w%./~-]+$")
                self.assertGreaterEqual(physical.get("region", {"startLine": 1})["startLine"], 1)
        return run

    def test_sarif_has_a_result_for_each_failure(self):
        done = self.check(1, "--min-local", "0.95", "--max-imbalance", "2", "--sarif")
        self.assertIn("failed", done.stderr)
        results = self.sarif_of(done.stdout.removeprefix("the program's own words\n"))["results"]
        self.assertEqual([one["ruleId"] for one in results], ["low-local-share", "memory-imbalance"])
        self.assertIn("25.0 % of the cache lines were local; at least 95.0 % is required", results[0]["message"]["text"])
        self.assertIn("4.00 times the mean of all memories in use; at most 2.00", results[1]["message"]["text"])
        self.assertEqual(results[0]["locations"][0]["physicalLocation"]["artifactLocation"],
                         {"uri": "a", "uriBaseId": "%SRCROOT%"})

    def test_sarif_is_at_the_source_line(self):
        source = self.folder / "a part" / "sweep.c"
        source.parent.mkdir()
        source.write_text("int sum;\n\nint main(void) {\n  return sum;\n}\n")
        program = self.folder / "triad"
        subprocess.run(["gcc", "-g", "-O0", "-o", program, source], check=True)
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        main = 0x555555554000 + int(re.search(r"^(\w+) T main$", symbols, re.MULTILINE)[1], 16)
        text = self.text_of("first-touch-4x2").replace("/work/demo/triad", str(program))
        text = re.sub("^code 412 0x5555555552c.", f"code 412 {main:#x}", text, flags=re.MULTILINE)
        done = self.check(1, "--min-local", "0.95", "--sarif", counts=self.given(text))
        result = self.sarif_of(done.stdout.removeprefix("the program's own words\n"))["results"][0]
        place = result["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"], {"uri": "a%20part/sweep.c", "uriBaseId": "%SRCROOT%"})
        self.assertEqual(place["region"]["startLine"], 3)
        self.assertIn("sweep.c:3: Reads memory: 25.0 % local in use.", result["message"]["text"])

    def test_a_file_name_chooses_sarif(self):
        for code, share in ((0, "0.25"), (1, "0.5")):
            file = self.folder / "check.sarif"
            self.assertIn("all traffic in use", self.check(code, "--min-local", share, "-o", str(file)).stdout)
            self.assertEqual(len(self.sarif_of(file.read_text())["results"]), code)
        self.assertIn("only `lab check`", self.go(2, "lab", "list", "--sarif").stderr)

    def test_the_program_is_placed_as_by_run(self):
        """Every option of `run` that places threads or memory, handed on as it is."""
        plan = self.folder / "p.json"
        plan.write_text(json.dumps({"schema": "nodewise/plan/1", "objects": []}))
        placed = ["--cpunodebind=0", "--physcpubind=0-3", "--bind=close", "--threads=4", "--main=works", "--places=cores",
                  "--smt=off", "--ranks-per=node", "--memory=blocked", "--rule=size>=1M:blocked", f"--plan={plan}",
                  "--threshold=64K"]
        self.check(0, "--min-local", "0.25", *placed)
        words = self.words()
        self.assertEqual(words[words.index("--") + 2 :], ["run", *placed, "--", "./a", "-x"])
        for options in (["--pin=0,1", "--membind=0", "--balancing"], ["--interleave=all"], ["--weighted-interleave=0"],
                        ["--preferred=0"], ["--preferred-many=0"], ["--localalloc"], [f"--plan-optional={plan}"]):
            self.check(0, "-q", "--min-local", "0.25", *options)
            words = self.words()
            self.assertEqual(words[words.index("--") + 2 :], ["run", *options, "--quiet", "--", "./a", "-x"])

    def test_all_of_runs_placement_is_taken(self):
        of_run = {option for group in ("Threads", "Memory") for option in self.options("run", group)}
        of_lab = {option for group in ("Threads", "Memory") for option in self.options("lab", group)}
        # --all is `cache remove --all` here, and a virtual machine has --on-numa-balancing. --for starts nothing.
        self.assertEqual(of_run - of_lab, {"--all", "--numa-balancing", "--for"})

    def options(self, verb, group):
        text = self.expect(0, verb, "--help").stdout
        part = text.partition(f"\n{group}\n")[2].partition("\n\n")[0]
        found = re.findall(r"^ +(?:-\w, )?(--[\w-]+)", part, re.MULTILINE)
        self.assertTrue(found, text)
        return found

    def test_a_plan_that_cannot_be_followed_starts_nothing(self):
        done = self.check(3, "--min-local", "0.25", "--plan", "/nonexistent.json")
        self.assertIn("/nonexistent.json", done.stderr)
        self.assertFalse(self.words_file.exists())

    def test_quiet_is_quiet_where_it_passes(self):
        done = self.check(0, "-q", "--min-local", "0.25")
        self.assertEqual((done.stdout, done.stderr), ("the program's own words\n", ""))

    def test_misuse(self):
        for wrong in ("2", "x", "-1", "200%"):
            self.assertIn("not a share", self.check(2, f"--min-local={wrong}").stderr)
        self.assertIn("there is nothing to check", self.check(2).stderr)
        self.assertIn("--max-imbalance 0.5", self.check(2, "--max-imbalance", "0.5").stderr)
        self.assertIn("machine is missing", self.go(2, "lab", "check", "--min-local", "1", "--", "./a").stderr)
        self.assertIn("program is missing", self.go(2, "lab", "check", "--on=lab:4x2", "--min-local=1").stderr)
        self.assertIn("--on lab:4x2", self.go(2, "lab", "check", "4x2", "--", "./a").stderr)
        self.assertIn("only `lab check`", self.go(2, "lab", "list", "--min-local", "1").stderr)
        self.assertIn("only `lab check`", self.go(2, "lab", "list", "--bind", "close").stderr)
        self.assertIn("starts no program", self.go(2, "lab", "list", "--", "./a").stderr)
        self.assertFalse(self.words_file.exists(), "nothing was started")


class ProfileEnded(Counted):
    """`profile --on` whose virtual machine is interrupted or reaches its time limit."""

    def profile(self, code, status, seen, *options):
        env = {"FAKE_COUNTS": str(self.given("")), "FAKE_STATUS": str(status), "FAKE_WORDS": str(self.words_file)}
        if seen:
            env["FAKE_PROFILE"] = str(self.folder / "seen.json")
            (self.folder / "seen.json").write_text(json.dumps(profile_input_test.profile()))
        done = self.expect(code, "profile", "--on", "lab:2x2", *options, "--", "./a", command=self.command, env=env,
                           stdin=subprocess.DEVNULL, cwd=self.folder)
        self.assertEqual([path.name for path in self.folder.glob(".nodewise*")], [])
        return done.stderr

    def test_what_was_seen_until_then_is_shown(self):
        for code, status in ((-signal.SIGINT, -signal.SIGINT), (124, 124), (-signal.SIGTERM, -signal.SIGTERM), (130, 130)):
            with self.subTest(code):
                said = self.profile(code, status, True)
                self.assertRegex(said, r"solver\.c:20 +16\.0 MiB")
                self.assertIn("the memory traffic: the virtual machine ended before it was written", said)

    def test_without_any_profile_the_end_is_the_same(self):
        for code, status in ((-signal.SIGINT, -signal.SIGINT), (124, 124)):
            with self.subTest(code):
                said = self.profile(code, status, False)
                self.assertEqual(said, "nodewise: warning: the program ended before a profile was written\n")
                self.assertEqual(self.profile(code, status, False, "--quiet"), "")

    def test_the_command_has_time_to_write_after_the_limit(self):
        self.profile(124, 124, True, "--on-timeout", "5")
        words = self.words()
        own = words[: words.index("--")]
        self.assertEqual(own[own.index("--timeout") + 1], "5")
        self.assertGreater(float(own[own.index("--grace") + 1]), 0)


if __name__ == "__main__":
    unittest.main()
