# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise tune` with programs that print the figure themselves, so that no test depends on time."""

import json
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import COMMAND, ROOT, CommandTest, conforms, environment, wait_until

# Under `nodewise run` with 2 threads it is twice as fast as it is, under 3 it is slower.
FASTER_WITH_TWO = "echo $$ >> ran; case $OMP_NUM_THREADS in 2) echo time 1.0;; 3) echo time 3.0;; *) echo time 2.0;; esac"
TWO, THREE = "--threads 2 --bind close", "--threads 3 --bind close"


class Tune(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(dir=os.getcwd())))
        (self.folder / "settings").write_text(f"{TWO}  # the best\n\n{THREE}\n")

    def tune(self, code, *options, script=FASTER_WITH_TWO, figure=("--figure", "time ([0-9.]+)")):
        changes = {"cwd": self.folder, "env": {"OMP_NUM_THREADS": ""}}
        return self.expect(code, "tune", "--candidates", "settings", *figure, *options, "--", "sh", "-c", script, **changes)

    def test_the_planted_best_is_found_and_proved(self):
        result = json.loads(self.tune(0, "--json").stdout)
        self.assertIsNone(conforms(result, "tune-1"))
        self.assertEqual((result["verdict"], result["chosen"]), ("winner", 1))
        self.assertEqual(result["gain"]["ratio"], 0.5)
        self.assertLess(result["p"], 0.05)
        self.assertIn(f"nodewise run {TWO} -- sh -c", result["line"])
        self.assertEqual([each["median"] for each in result["candidates"]], [2, 1, 3])

    def test_the_text_ends_with_the_line_to_use(self):
        text = self.tune(0).stdout
        self.assertRegex(text, f"Use {TWO}: its figure is 50.0 %.* lower than as it is")
        self.assertIn(f"\n  nodewise run {TWO} -- sh -c ", text)
        self.assertRegex(self.tune(0, "--quiet").stdout, rf"\Anodewise run {TWO} -- sh -c .*\n\Z")

    def test_what_is_already_best_is_kept(self):
        result = json.loads(self.tune(0, "--json", "--higher", script="echo time ${OMP_NUM_THREADS:-9}").stdout)
        self.assertEqual((result["verdict"], result["chosen"]), ("keep", 0))
        self.assertTrue(result["line"].startswith("sh -c "))

    def test_of_a_rate_the_higher_one_is_better(self):
        text = self.tune(0, "--higher", script="[ \"$OMP_NUM_THREADS\" = 2 ] && echo time 4 || echo time 2").stdout
        self.assertRegex(text, f"Use {TWO}: its figure is 100.0 % .* higher than as it is")
        self.assertRegex(text, rf"{TWO} +[0-9]+ +4 +0 % +2 ")  # median, range and ratio
        self.assertIn("a higher wall time is not better", self.tune(2, "--higher", figure=()).stderr)

    def test_equal_settings_have_no_winner(self):
        text = self.tune(0, script="echo time 2").stdout
        self.assertIn("Keep what you have", text)

    def test_a_setting_that_fails_or_prints_another_result_is_out_and_the_reason_is_shown(self):
        fails = "[ \"$OMP_NUM_THREADS\" = 3 ] && echo three >&2 && exit 7; " + FASTER_WITH_TWO
        result = json.loads(self.tune(0, "--json", script=fails).stdout)
        self.assertEqual(result["candidates"][2]["reason"], "the program ended with exit code 7: three")
        self.assertEqual(result["candidates"][2]["state"], "disqualified")
        self.assertEqual(result["chosen"], 1)
        result = json.loads(self.tune(0, "--json", "--same-output").stdout)
        self.assertEqual(result["candidates"][1]["reason"], "its output differs from that of the first run")
        self.assertEqual(result["chosen"], 0)

    def test_commands_around_each_run(self):
        around = ("--prepare", "echo before >> log", "--cleanup", "echo after >> log")
        self.tune(0, *around, script="echo run >> log; " + FASTER_WITH_TWO)
        lines = (self.folder / "log").read_text().split()
        self.assertEqual(lines, ["before", "run", "after"] * (len(lines) // 3))
        self.assertIn("--check ended with exit code 5", self.tune(3, "--check", "exit 5").stderr)
        # It is not the setting's fault if these fail.
        only_two = "[ ! -e prepared ] || exit 6; touch prepared"
        self.assertIn("--prepare ended with exit code 6", self.tune(3, "--prepare", only_two).stderr)
        self.assertIn("--cleanup ended with exit code 7", self.tune(3, "--cleanup", "exit 7").stderr)

    def test_a_program_that_fails_as_it_is_ends_it(self):
        done = self.tune(3, script="echo wrong >&2; exit 4")
        self.assertIn("as it is, the program ended with exit code 4: wrong", done.stderr)
        done = self.tune(3, script="echo nothing")
        self.assertRegex(done.stderr, "nothing in the output matches.*its last line is 'nothing'")

    def test_a_program_that_never_ends_is_killed_with_all_that_it_started(self):
        hangs = '[ "$OMP_NUM_THREADS" = 3 ] && { sleep 1000 & echo $! > child; wait; }; ' + FASTER_WITH_TWO
        result = json.loads(self.tune(0, "--json", "--timeout", "10", script=hangs).stdout)
        self.assertEqual(result["candidates"][2]["reason"], "the program took longer than 10 s")
        child = Path("/proc") / (self.folder / "child").read_text().strip()
        wait_until(lambda: not child.exists() or "Z" in (child / "stat").read_text(), "the end of its child")

    def test_wrong_options_are_refused_before_anything_runs(self):
        (self.folder / "settings").write_text(f"{TWO}\n--memory red\n")
        done = self.tune(2)
        self.assertIn("the setting --memory red", done.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.expect(2, "tune", "--over", "colour", "--", "true")
        self.assertIn("no option for threads", self.expect(2, "tune", "--try", "--dry-run", "--", "true").stderr)
        self.expect(2, "tune", "--figure", "(", "--", "true")
        self.expect(2, "tune", "--equal", "none", "--", "true")

    def test_an_interrupted_race_is_resumed_where_it_ended(self):
        # Its fifth run ends only when it is killed, until there is a file "go".
        script = "[ -e go ] || [ ! -e ran ] || [ $(wc -l < ran) -lt 4 ] || sleep 1000; " + FASTER_WITH_TWO
        command = [COMMAND, "tune", "--candidates", "settings", "--figure", "time ([0-9.]+)"]
        asked = ["--", "sh", "-c", script]
        running = subprocess.Popen([*command, "--log", "log", *asked], cwd=self.folder, stdout=subprocess.PIPE, text=True,
                                   env=environment(OMP_NUM_THREADS=""))  # fmt: skip
        log = self.folder / "log"
        wait_until(lambda: log.exists() and log.read_text().count("\n") > 4, "four runs")
        running.send_signal(signal.SIGINT)
        text, _ = running.communicate()
        self.assertEqual(running.returncode, 130)
        self.assertIn("Interrupted", text)
        before = log.read_text()
        (self.folder / "go").touch()
        changes = {"cwd": self.folder, "env": {"OMP_NUM_THREADS": ""}}
        result = self.expect_json(0, *command[1:], "--resume", "log", "--json", *asked, **changes)
        self.assertEqual(result["chosen"], 1)
        self.assertTrue(log.read_text().startswith(before))
        self.assertIn("--resume", self.expect(2, *command[1:], "--log", "log", *asked, **changes).stderr)
        self.assertIn("start the same command", self.expect(3, *command[1:], "--resume", "log", "--", "true", **changes).stderr)

    def test_two_settings_are_compared_with_each_other(self):
        asked = ("tune", "--between", THREE, "--between", TWO, "--figure", "time ([0-9.]+)", "--", "sh", "-c", FASTER_WITH_TWO)
        text = self.expect(0, *asked, cwd=self.folder).stdout
        self.assertIn(f"Use {TWO}: its figure is 66.7 % ", text)
        self.assertIn(f"lower than {THREE}, by", text)
        self.assertIn("two settings are needed, not 1", self.expect(2, "tune", "--between", TWO, "--", "true").stderr)
        self.assertIn("both settings are the same", self.expect(2, "tune", *("--between", TWO) * 2, "--", "true").stderr)

    def test_a_launcher_gets_the_setting_in_the_place_of_the_mark(self):
        launcher = self.folder / "launcher"
        launcher.write_text('#!/bin/sh\necho "$@" >> lines\nshift\n"$@"\n')
        launcher.chmod(0o755)
        asked = ["./launcher", "ranks=2", "{run}", "sh", "-c", FASTER_WITH_TWO]
        result = self.expect_json(0, "tune", "--json", "--candidates", "settings", "--figure", "time ([0-9.]+)", "--", *asked,
                                  cwd=self.folder, env={"OMP_NUM_THREADS": ""})  # fmt: skip
        self.assertEqual(result["chosen"], 1)
        self.assertTrue(result["line"].startswith(f"./launcher ranks=2 nodewise run {TWO} -- sh -c"), result["line"])
        lines = (self.folder / "lines").read_text()
        self.assertIn("ranks=2 sh -c", lines)
        self.assertRegex(lines, f"ranks=2 /.*nodewise run {TWO} -- sh -c")
        self.assertIn("{run} with --on", self.expect(2, "tune", "--on", "lab:2x2", "--", "x", "{run}", "y").stderr)

    def test_a_plan_is_one_of_the_settings(self):
        (self.folder / "a plan.json").write_text('{"schema": "nodewise/plan/1", "objects": []}')
        listed = self.expect(0, "tune", "--dry-run", "--plan", "a plan.json", "--", "true", cwd=self.folder).stdout
        self.assertEqual(listed.splitlines()[:2], ["as it is", "--plan 'a plan.json'"])
        (self.folder / "a plan.json").write_text("{}")
        self.expect(3, "tune", "--dry-run", "--plan", "a plan.json", "--", "true", cwd=self.folder)

    def test_the_best_setting_is_written_as_a_plan(self):
        (self.folder / "settings").write_text(f"{TWO} --memory blocked --huge-pages off\n")
        text = self.tune(0, "--write-plan", "best.json").stdout
        self.assertIn("\n  nodewise run --plan best.json --huge-pages=off -- sh -c ", text)
        plan = json.loads((self.folder / "best.json").read_text())
        self.assertIsNone(conforms(plan, "plan-1"))
        self.assertEqual((plan["threads"]["count"], plan["threads"]["bind"]), (2, "close"))
        self.assertEqual(plan["objects"], [{"placement": "blocked"}])
        self.assertEqual(plan["program"]["name"], "sh")
        shown = ("run", "--quiet", "--plan", "best.json", "--", "sh", "-c", "echo $OMP_NUM_THREADS")
        self.assertEqual(self.expect(0, *shown, cwd=self.folder).stdout, "2\n")

    def test_what_is_kept_is_no_plan(self):
        text = self.tune(0, "--write-plan", "best.json", script="echo time 2").stdout
        self.assertIn("No plan is written to best.json: as it is", text)
        self.assertFalse((self.folder / "best.json").exists())

    def test_other_figures_are_shown_but_do_not_decide(self):
        script = "echo energy $((${OMP_NUM_THREADS:-1} * 7)); " + FASTER_WITH_TWO
        figures = ("--figure", "time ([0-9.]+)", "--figure", "energy ([0-9]+)", "--figure", "absent ([0-9]+)")
        result = json.loads(self.tune(0, "--json", script=script, figure=figures).stdout)
        self.assertIsNone(conforms(result, "tune-1"))
        self.assertEqual(result["chosen"], 1)
        others = [{each["figure"]: each["median"] for each in one["others"]} for one in result["candidates"]]
        self.assertEqual([one["energy ([0-9]+)"] for one in others], [7, 14, 21])
        self.assertEqual([set(one) for one in others], [{"wall time", "energy ([0-9]+)"}] * 3)
        text = self.tune(0, script=script, figure=figures).stdout
        self.assertRegex(text, "wall time  +energy .*absent")

    def test_a_phase_is_the_time_between_marks(self):
        source = "#include <nodewise/marker.h>\n#include <stdlib.h>\n#include <time.h>\nint main(void) {\n"
        source += "  const char* n = getenv(\"OMP_NUM_THREADS\");\n  struct timespec t = {0, n && *n == '2' ? 20000000 : 80000000};\n"
        source += "  NODEWISE_MARKER_START(\"solve\");\n  nanosleep(&t, NULL);\n  NODEWISE_MARKER_STOP(\"solve\");\n"
        source += "  t.tv_nsec = 100000000 - t.tv_nsec;\n  nanosleep(&t, NULL);\n  return 0;\n}\n"
        (self.folder / "marked.c").write_text(source)
        subprocess.run(["cc", f"-I{ROOT}/include", "marked.c", "-o", "marked"], cwd=self.folder, check=True)
        asked = ("tune", "--candidates", "settings", "--json", "--region")
        changes = {"cwd": self.folder, "env": {"OMP_NUM_THREADS": ""}}
        result = self.expect_json(0, *asked, "solve", "--", "./marked", **changes)
        self.assertEqual((result["figure"], result["phase"]), ("time between marks", "solve"))
        # A sleep is never shorter than asked.
        self.assertTrue(all(each >= 0.08 for each in result["candidates"][0]["figures"]))
        self.assertTrue(all(each >= 0.02 for each in result["candidates"][1]["figures"]))
        self.assertIn("solve", self.expect(3, *asked, "other", "--", "./marked", **changes).stderr)

    def test_figures_exclude_each_other(self):
        self.assertIn("--on lab:MACHINE", self.expect(2, "tune", "--phase", "init", "--", "true").stderr)
        self.assertIn("--on and --figure", self.expect(2, "tune", "--on", "lab:2x2", "--figure", "x", "--", "true").stderr)

    def test_a_plan_is_not_made_in_vain(self):
        asked = ("tune", "--profiled-plan", "plan.json")
        refused = self.expect(2, *asked, "--", "mpirun", "{run}", "true", cwd=self.folder)
        self.assertIn("--profiled-plan with {run}", refused.stderr)
        refused = self.expect(2, *asked, "--write-plan", "plan.json", "--", "true", cwd=self.folder)
        self.assertIn("names the same file", refused.stderr)
        for wrong in (("--figure", "("), ("--traffic", "absent.json"), ("--over", "x"), ("--runs", "1"), ("--phase", "init")):
            self.expect(2 if wrong[0] != "--traffic" else 3, *asked, *wrong, "--", "touch", "ran", cwd=self.folder)
        self.assertEqual(list(self.folder.glob("ran")), [])
        refused = self.expect(3, *asked, "--", "sh", "-c", "echo no input >&2; exit 4", cwd=self.folder)
        self.assertIn("--profiled-plan plan.json", refused.stderr)
        self.assertEqual(list(self.folder.glob("plan*")), [])

    def test_the_list_of_settings_needs_no_run(self):
        listed = self.expect(0, "tune", "--dry-run", "--try", "--memory interleave", "--", "true").stdout.splitlines()
        self.assertEqual(listed[:2], ["as it is", "--memory interleave"])


if __name__ == "__main__":
    unittest.main()
