# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What `nodewise tune` does when something fails: a setting, the program, a command around it, or the log.

The program prints a figure that depends only on the number of the run, and the seed is fixed. So a race has the same
runs and the same result each time, however long a run takes.
"""

import json
import os
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import COMMAND, CommandTest, environment, wait_until

PROGRAM = """#!/bin/sh
echo run >> ran
n=$(wc -l < ran)
echo $PPID > parent
while [ -e hold$n ]; do sleep 0.02; done
%s
echo time 2.$((n * 7919 %% 1000 + 1000))
"""
HANGS = '[ "$OMP_NUM_THREADS" != 3 ] || sleep 1000'
FIGURE = ("--figure", "time ([0-9.]+)")
SETTINGS = ("--threads 2 --bind close", "--threads 1 --bind close", "--bind spread", "--threads 1", "--threads 2",
            "--threads 3", "--memory interleave")  # fmt: skip
HANGING = SETTINGS.index("--threads 3") + 1


def comparable(output):
    """A result without what differs from one call to the next."""
    result = json.loads(output)
    for each in result["candidates"]:
        each.pop("others", None)  # the wall time
    return {key: value for key, value in result.items() if key not in ("seconds", "settings", "remarks")}


class TuneErrors(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(dir=os.getcwd())))
        self.log = self.folder / "log"
        self.write_program()
        self.write_settings(*SETTINGS)

    def write_program(self, before_the_figure=":", name="program"):
        (self.folder / name).write_text(PROGRAM % before_the_figure)
        (self.folder / name).chmod(0o755)

    def write_settings(self, *settings):
        (self.folder / "settings").write_text("\n".join(settings) + "\n")

    def arguments(self, *options, figure=FIGURE, program="./program"):
        return ["tune", "--candidates", "settings", "--seed", "7", "--runs", "32", *figure, *options, "--", program]

    def tune(self, code, *options, **how):
        return self.expect(code, *self.arguments(*options, **how), cwd=self.folder, env={"OMP_NUM_THREADS": ""})

    def result(self, *options, **how):
        return comparable(self.tune(0, "--json", *options, **how).stdout)

    def runs(self):
        return len((self.folder / "ran").read_text().split()) if (self.folder / "ran").exists() else 0

    def forget_runs(self, kept=0):
        """The next run of the program is number kept + 1."""
        (self.folder / "ran").write_text("run\n" * kept)

    def logged(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()[1:]]

    def assert_replays(self, result):
        """The log holds all of the race: to resume it runs nothing and gives the same result."""
        before, text = self.runs(), self.log.read_text()
        self.assertEqual(self.result("--resume", "log"), result)
        self.assertEqual((self.runs(), self.log.read_text()), (before, text))

    def assert_error(self, done, *parts):
        """An error and a hint, each with its parts."""
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Anodewise: .+\n    hint: .+\n\Z")
        for part in parts:
            self.assertIn(part, done.stderr)

    # A setting or the program fails.

    def test_a_setting_that_cannot_start_is_out_and_the_others_race(self):
        self.write_settings(*SETTINGS, "--plan absent.json")
        result = self.result("--log", "log")
        last = result["candidates"][-1]
        self.assertEqual((last["state"], last["race_runs"], last["figures"]), ("disqualified", 0, []))
        self.assertIn("exit code 3", last["reason"])
        self.assertEqual({each["state"] for each in result["candidates"][:-1]} & {"disqualified"}, set())
        self.assertNotEqual(result["chosen"], len(SETTINGS) + 1)
        self.assertEqual(self.runs(), result["runs"] + 1)  # and the warm-up run
        self.assert_replays(result)

    def test_a_figure_that_no_run_prints_ends_it_at_the_first_run(self):
        done = self.tune(3, "--log", "log", figure=("--figure", "rate ([0-9.]+)"))
        self.assert_error(done, "'rate ([0-9.]+)'", "time 2.", "hint: write a pattern that matches")
        self.assertEqual((self.runs(), self.logged()), (1, []))
        # The log is that of another figure, and says so.
        done = self.tune(3, "--resume", "log")
        self.assert_error(done, "pattern", "without --resume")

    def test_a_setting_under_which_the_program_never_ends_is_out(self):
        self.write_program(HANGS)
        result = self.result("--timeout", "10", "--log", "log")
        hanging = result["candidates"][HANGING]
        self.assertEqual((hanging["state"], hanging["figures"]), ("disqualified", []))
        self.assertEqual(hanging["reason"], "the program took longer than 10 s")
        self.assertEqual([each["disqualified"] for each in self.logged() if "disqualified" in each], [HANGING])
        self.assert_replays(result)

    def test_a_program_that_never_ends_as_it_is_ends_it(self):
        self.write_program("sleep 1000")
        done = self.tune(3, "--timeout", "0.2", "--log", "log")
        self.assert_error(done, "as it is, the program took longer than 0.2 s")
        self.assertLessEqual(self.runs(), 1)  # or it was ended before it noted that
        self.assertEqual(self.logged(), [])

    def test_a_failed_preparation_ends_it_before_the_program_runs(self):
        done = self.tune(3, "--prepare", "echo no disk >&2; exit 9", "--log", "log")
        self.assert_error(done, "--prepare ended with exit code 9: no disk")
        self.assertEqual((self.runs(), self.logged()), (0, []))

    def test_after_a_preparation_that_failed_in_between_the_race_is_resumed(self):
        whole = self.result("--log", "log")
        events = self.logged()
        failing = max(number for number, each in enumerate(events) if each["candidate"] == 0)
        self.log.unlink()
        self.forget_runs()
        prepare = ("--prepare", f"[ -e repaired ] || [ ! -s ran ] || [ $(wc -l < ran) != {failing} ]")
        # Before the program runs as it is once more.
        self.assert_error(self.tune(3, *prepare, "--log", "log"), "--prepare ended with exit code 1")
        self.assertEqual((self.runs(), len(self.logged())), (failing, failing))
        (self.folder / "repaired").touch()
        self.assertEqual(self.result(*prepare, "--resume", "log"), whole)
        self.assert_replays(whole)

    # The log cannot be written.

    def test_a_log_on_a_full_disk_is_refused_before_anything_runs(self):
        done = self.tune(4, "--log", "/dev/full")
        self.assert_error(done, "/dev/full", "ENOSPC", "on a file system with room")
        done = self.tune(4, "--log", "absent/log")
        self.assert_error(done, "absent/log", "ENOENT", "name a file that you may write")
        self.assertEqual(self.runs(), 0)

    def with_limited_log(self, full_at, room_at=None):
        """A race whose log takes half a line more when run `full_at` ends, and all again after `room_at`."""
        for number in filter(None, (full_at, room_at)):
            (self.folder / f"hold{number}").touch()
        running = subprocess.Popen(
            [COMMAND, *self.arguments("--json", "--log", "log")], cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(OMP_NUM_THREADS=""))  # fmt: skip

        def limit(number, most):
            wait_until(lambda: self.runs() >= number, f"run {number}")
            resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (most(), resource.RLIM_INFINITY))
            (self.folder / f"hold{number}").unlink()

        limit(full_at, lambda: self.log.stat().st_size + 40)
        if room_at:
            limit(room_at, lambda: resource.RLIM_INFINITY)
        output, errors = running.communicate()
        self.assertEqual(running.returncode, 0, errors)
        return comparable(output), errors

    def test_the_race_goes_on_when_the_disk_fills_up_and_can_be_resumed(self):
        whole = self.result()
        self.assertGreater(whole["runs"], 40)
        self.forget_runs()
        result, errors = self.with_limited_log(full_at=40)
        self.assertEqual(result, whole)
        self.assertRegex(errors, r"\Anodewise: warning: the log log cannot be written: EFBIG .*\n\Z")
        # The log has all runs before, and half a line, which is replaced.
        self.assertEqual(self.log.read_text().count("\n"), 40)
        self.forget_runs(39)
        done = self.tune(0, "--json", "--resume", "log")
        self.assertRegex(done.stderr, r"\Anodewise: warning: the log log, line 41 was cut short and is not used\n\Z")
        self.assert_replays(whole)

    def test_when_the_disk_has_room_again_nothing_is_missing_in_the_log(self):
        whole = self.result()
        self.forget_runs()
        result, errors = self.with_limited_log(full_at=40, room_at=43)
        self.assertEqual(result, whole)
        self.assertEqual(errors.count("cannot be written"), 1)
        self.assert_replays(whole)

    # The log cannot be resumed.

    def refuse_resuming(self, *parts, code=3, **how):
        before, runs = self.log.read_bytes(), self.runs()
        self.assert_error(self.tune(code, "--resume", "log", **how), *parts)
        self.assertEqual((self.log.read_bytes(), self.runs()), (before, runs))

    def test_a_log_that_was_cut_off_loses_its_last_line_at_most(self):
        whole = self.result("--log", "log")
        text = self.log.read_text()
        self.log.write_text(text[:-20])
        self.forget_runs(text.count("\n") - 2)
        self.assertIn("was cut short and is not used", self.tune(0, "--resume", "log").stderr)
        self.assert_replays(whole)
        self.log.write_text(text[:200])
        self.refuse_resuming("its first line has no end", "hint: name a log that `nodewise tune` wrote")

    def test_a_damaged_log_is_refused_with_its_line(self):
        self.result("--log", "log")
        lines = self.log.read_text().splitlines(keepends=True)
        for damaged, *parts in (
            ([], "the log log: it is empty", "begin another one"),
            (["time 1.0\n"], "the log log, line 1: not JSON"),
            ([*lines[:8], "}\n", *lines[9:]], "the log log, line 9: not JSON"),
            ([*lines[:8], *lines[9:]], "line 9 of the log: it is a run of candidate", "without --resume"),
            ([*lines, lines[-1]], f"line {len(lines) + 1} of the log: the race has ended", "without --resume"),
        ):
            with self.subTest(parts[0]):
                self.log.write_text("".join(damaged))
                self.refuse_resuming(*parts)
        self.log.unlink()
        self.assert_error(self.tune(3, "--resume", "log"), "the log log", "ENOENT", "check the name of the file")

    def test_another_or_a_changed_program_does_not_go_on(self):
        result = self.result("--log", "log")
        self.write_program(name="other")
        self.refuse_resuming("the log is of './program', not of './other'", "without --resume", program="./other")
        self.refuse_resuming("the race: equal was '0.01'", "without --resume", figure=(*FIGURE, "--equal", "2"))
        self.assert_replays(result)
        self.write_program("true # one byte more")
        self.refuse_resuming("the program has changed since the log was begun", "without --resume")
        (self.folder / "program").unlink()
        self.refuse_resuming("'./program'", "ENOENT", code=127)

    def test_a_log_that_exists_is_not_overwritten(self):
        self.result("--log", "log")
        before = self.log.read_bytes()
        self.assert_error(self.tune(2, "--log", "log"), "--log log: the file exists", "--resume")
        self.assertEqual(self.log.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
