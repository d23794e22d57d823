# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The GitHub Action's own steps in a bare Debian 12, with the wheel of `make dist`: part of `make test-dist` with
NODEWISE_TEST_LAB=1. Needs root and a mirror of Debian, and downloads 300 MB."""

import os
import re
import unittest

import yaml
from roots import PROJECT, Root

DIST = PROJECT / "dist"
# Each node's half is larger than the 2 MiB that its cache has.
PROGRAM = """\
#include <stdio.h>
enum { elements = 1 << 20, sweeps = 2 };
static double a[elements];
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < elements; ++i) a[i] = 1;
  double sum = 0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < elements; ++i) sum += a[i];
  }
  return sum != (double)elements * sweeps;
}
"""
INPUTS = {
    "command": "./sweep",
    "build": "gcc -O2 -g -fopenmp sweep.c -o sweep",
    "machine": "2x1",
    "runs": "3",
    "working-directory": "/repository",
}
RUNNER = {
    "RUNNER_TEMP": "/runner/temp",
    "GITHUB_ACTION_PATH": "/action/ci",
    "GITHUB_OUTPUT": "/runner/output",
    "GITHUB_STEP_SUMMARY": "/runner/summary",
    "OMP_NUM_THREADS": "2",
    "OMP_PROC_BIND": "spread",
    "OMP_PLACES": "cores",
}


class Action(unittest.TestCase):
    """Does what GitHub's runner does with the steps that have a command: inputs and outputs become variables."""

    def setUp(self):
        self.action = yaml.safe_load((PROJECT / "lab/ci/action.yml").read_text())
        self.root = Root("bookworm", DIST, include="")
        self.addCleanup(self.root.close)
        for folder in ("ci", "pytest-nodewise"):
            self.root.put(PROJECT / "lab" / folder, f"/action/{folder}")
        self.outputs = {}

    def expect(self, command: str, variables=None, status: int = 0) -> str:
        done = self.root.run(command, variables)
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}")
        return done.stdout

    def step(self, name: str, inputs: dict[str, str], status: int = 0) -> str:
        step = next(step for step in self.action["runs"]["steps"] if step.get("id") == name)
        given = {key: declared.get("default", "") for key, declared in self.action["inputs"].items()} | inputs
        known = {f"inputs.{key}": text for key, text in given.items()} | self.outputs

        def filled(text: str) -> str:
            return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: known[found.group(1)], text)

        variables = RUNNER | {key: filled(text) for key, text in step["env"].items()}
        folder = filled(step.get("working-directory", "/"))
        script = f"cd {folder} && : >$GITHUB_OUTPUT && exec bash -e -o pipefail -c {step['run']}"
        output = self.expect(f"mkdir -p /runner/temp; {script}", variables, status)
        lines = self.expect("cat /runner/output").splitlines()
        self.outputs |= {f"steps.{name}.outputs.{key}": text for key, _, text in (line.partition("=") for line in lines)}
        return output

    @unittest.skipUnless(os.environ.get("NODEWISE_TEST_LAB") == "1", "NODEWISE_TEST_LAB is not 1")
    def test_it_installs_the_wheel_and_finds_the_change(self):
        wheel = self.expect("echo /dist/nodewise-*.whl").strip()
        self.step("install", INPUTS | {"nodewise": wheel})
        self.assertEqual(self.expect(f"{self.outputs['steps.install.outputs.nodewise']} --version")[:9], "nodewise ")
        self.expect("apt-get install -qy --no-install-recommends gcc libc6-dev")
        git = "git -c user.name=A -c user.email=a@b"
        slow = PROGRAM.replace("#pragma omp parallel for\n", "", 1)
        self.expect(
            f"mkdir /repository && cd /repository && git init --quiet && "
            f'for source in "$FAST" "$FAST // As before." "$SLOW"; do printf %s "$source" >sweep.c; '
            f'git add sweep.c; {git} commit --quiet --message="A change"; done; git checkout --quiet HEAD~1',
            {"FAST": PROGRAM, "SLOW": slow},
        )
        self.step("compare", INPUTS | {"base": "HEAD~1"})
        self.assertEqual(self.outputs["steps.compare.outputs.alarm"], "false")
        self.expect("cd /repository && git checkout --quiet -")
        self.step("compare", INPUTS | {"base": "HEAD~1"}, status=1)
        self.assertEqual(self.outputs["steps.compare.outputs.alarm"], "true")
        folder = self.outputs["steps.compare.outputs.folder"]
        self.assertIn("**alarm**", self.expect(f"cat {folder}/comment.markdown"))
        self.assertIn("sweep.c", self.expect(f"cat {folder}/placement.sarif"))
        self.assertIn("Memory placement is as before", self.expect("cat /runner/summary"))


if __name__ == "__main__":
    unittest.main()
