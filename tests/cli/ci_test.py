# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The comparison with the base branch without virtual machines: source lines of two commits, the comment, the
workflows, and the steps of the Action with a command that stands in for the lab."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml
from command import ROOT

CI = ROOT / "lab/ci"
sys.path[:0] = [str(CI), str(ROOT / "lab/pytest-nodewise")]
from nodewise_ci.checkout import line_map  # noqa: E402
from nodewise_ci.comment import markdown, verdict  # noqa: E402
from nodewise_ci.traffic import TOGETHER, Side, compared  # noqa: E402
from pytest_nodewise import LabError, Traffic  # noqa: E402

# Stands in for `nodewise run`: the remote lines of both are in a file of the commit.
LAB = """\
#!/usr/bin/env python3
import json, sys
if "--on-counts" in sys.argv:
    phase = lambda remote: {"local_lines": 100000 - remote, "remote_lines": remote, "unknown_lines": 0}
    both = {"init": phase(0), "use": phase(int(open("remote").read()))}
    document = {**both, "sites": [{"name": "a", "kind": "static", **both}], "lines": []}
    open(sys.argv[sys.argv.index("--on-counts") + 1], "w").write(json.dumps(document))
else:
    print("nodewise 0.1.0")
"""


def phases(local, remote):
    use = {"local_lines": local, "remote_lines": remote, "unknown_lines": 0}
    return {"use": use, "init": {"local_lines": 0, "remote_lines": 0, "unknown_lines": 0}}


def run(arrays, lines=()):
    """Traffic of these (name, local, remote) arrays."""
    total = [sum(each[at] for each in arrays) for at in (1, 2)]
    sites = [{"name": name, "kind": "static", **phases(*counts)} for name, *counts in arrays]
    lines = [{"name": f"{f}:{n}", "file": f, "line": n, **phases(*counts)} for f, n, *counts in lines]
    return Traffic({**phases(*total), "sites": sites, "lines": lines})


SIDES = (Side(Path("/base"), Path("/base")), Side(Path("/head"), Path("/head")))


def judged(base, head):
    return verdict(compared([base] * 3, [head] * 3, SIDES, "use"), 0.5)


class Repository(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self.git("init", "--quiet")

    def git(self, *words):
        words = ["git", "-c", "user.name=A", "-c", "user.email=a@b", *words]
        subprocess.run(words, cwd=self.folder, env=self.env, check=True, stdout=subprocess.DEVNULL)

    def commit(self, **files):
        for name, text in files.items():
            (self.folder / name).write_text(text)
        self.git("add", "--all", ".")
        self.git("commit", "--quiet", "--message=A change")


class Lines(Repository):
    def test_a_line_of_the_base_is_found_by_its_text_in_the_head(self):
        old = [f"line {n}" for n in range(1, 21)]
        new = ["first", *old[:4], "line 5 changed", *old[5:9], *old[11:15], "in between", *old[15:]]
        self.commit(a="\n".join(old) + "\n", same="1\n2\n")
        (self.folder / "a").rename(self.folder / "b")
        (self.folder / "b").write_text("\n".join(new) + "\n")
        self.git("add", "--all", ".")
        found = line_map("HEAD", self.folder)
        for number, text in enumerate(old, 1):
            there = "line 5 changed" if number == 5 else text
            expected = ("b", new.index(there) + 1) if there in new else None
            self.assertEqual(found.head("a", number), expected, text)
        self.assertEqual(found.head("same", 2), ("same", 2))


class Comparison(unittest.TestCase):
    def test_an_array_can_be_an_alarm_although_the_whole_is_not(self):
        found = judged(run([("a", 9000, 0), ("b", 0, 1000)]), run([("a", 8000, 1000), ("b", 1000, 0)]))
        self.assertEqual([each.row.name for each in found.alarms], ["a"])

    def test_less_local_traffic_is_no_alarm(self):
        self.assertEqual(judged(run([("a", 9000, 1000)]), run([("a", 2000, 1000)])).alarms, [])

    def test_a_new_name_is_no_alarm_but_new_traffic_is(self):
        base = run([("a", 9000, 1000)])
        self.assertEqual(judged(base, run([("b", 9000, 1000)])).alarms, [])
        grown = judged(base, run([("a", 9000, 1000), ("b", 0, 500)]))
        self.assertEqual([each.row.name for each in grown.alarms], ["all traffic", TOGETHER])

    def test_too_few_cache_lines_are_not_judged(self):
        with self.assertRaisesRegex(LabError, "too few to judge"):
            judged(run([("a", 9000, 0)]), run([("a", 10, 0)]))

    def test_names_do_not_leave_their_cell(self):
        name = "a`|b\n@user"
        text = markdown(judged(run([(name, 9000, 0)]), run([(name, 0, 9000)])), "./a", "4x2", "use", 0.5)
        self.assertIn("| `a'\\|b?@user` | 0.0 % | 100.0 % | +100.0 **alarm** | 0.5 % |", text)


class Steps(Repository):
    def compare(self, remote):
        self.commit(remote="1000")
        self.commit(remote=str(remote))
        lab = self.folder / "lab"
        lab.write_text(LAB)
        lab.chmod(0o755)
        temporary = Path(self.enterContext(tempfile.TemporaryDirectory()))
        files = {name: temporary / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        env = self.env | {name: str(file) for name, file in files.items()} | {
            "GITHUB_ACTION_PATH": str(CI), "RUNNER_TEMP": str(temporary), "BASE": "HEAD~1", "MACHINE": "2x1",
            "RUNS": "3", "TOLERANCE": "0.5", "PHASE": "use", "BUILD": "test -e remote", "PROGRAM": "true",
            "NODEWISE": str(lab)}  # fmt: skip
        done = subprocess.run([CI / "steps/compare"], cwd=self.folder, env=env, capture_output=True, text=True)
        sarif = json.loads((temporary / "nodewise-placement/placement.sarif").read_text())
        results = [each["message"]["text"] for each in sarif["runs"][0]["results"]]
        return done, files["GITHUB_OUTPUT"].read_text(), files["GITHUB_STEP_SUMMARY"].read_text(), results

    def test_more_remote_traffic_fails_and_is_in_the_summary(self):
        done, output, summary, results = self.compare(3000)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("alarm=true", output)
        self.assertIn("| all traffic | 1.0 % | 3.0 % | +2.0 **alarm** | 1.5 % |", summary)
        self.assertRegex(results[0], "all traffic grew from 1.0 to 3.0 percent")

    def test_the_same_traffic_passes(self):
        done, output, summary, results = self.compare(1400)
        self.assertEqual((done.returncode, results), (0, []), done.stderr)
        self.assertIn("alarm=false", output)
        self.assertIn("Memory placement is as before", summary)


class Workflows(unittest.TestCase):
    def test_the_action_gives_its_steps_what_they_read(self):
        action = yaml.safe_load((CI / "action.yml").read_text())
        self.assertEqual(action["runs"]["using"], "composite")
        text = (CI / "action.yml").read_text()
        for name in action["inputs"]:
            self.assertIn(f"inputs.{name} }}}}", text)
        for step in action["runs"]["steps"]:
            if "run" in step:
                self.assertIn("shell", step)
                script = CI / "steps" / step["run"].strip('"').rpartition("/")[2]
                self.assertTrue(os.access(script, os.X_OK), script)

    def test_what_runs_for_forks_cannot_write_and_what_writes_runs_nothing_of_theirs(self):
        compare, comment = (yaml.safe_load((CI / f"workflows/{name}.yml").read_text())
                            for name in ("placement", "placement-comment"))  # fmt: skip
        self.assertEqual(compare["permissions"], {"contents": "read"})
        self.assertEqual(comment[True]["workflow_run"]["workflows"], [compare["name"]])  # YAML 1.1 reads `on` as true
        steps = comment["jobs"]["comment"]["steps"]
        self.assertFalse([step for step in steps if "uses" in step])
        self.assertFalse([step for step in steps if "${{" in step["run"]])
        given = next(s for s in compare["jobs"]["compare"]["steps"] if "nodewise" in s["uses"])["with"]
        self.assertLessEqual(set(given), set(yaml.safe_load((CI / "action.yml").read_text())["inputs"]))

    def test_the_template_of_gitlab_is_a_hidden_job(self):
        self.assertEqual(list(yaml.safe_load((CI / "gitlab.yml").read_text())), [".nodewise-placement"])


if __name__ == "__main__":
    unittest.main()
