# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Completion by the shells themselves: what they propose behind a line."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import CommandTest

# Loads the script, and asks its function as bash does behind the words given.
BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_nodewise nodewise "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


class Completion(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def script(self, shell):
        file = self.folder / f"completion.{shell}"
        file.write_text(self.expect(0, "internal", "completion", shell).stdout)
        return str(file)

    def run_shell(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder,
                              env=os.environ | {"HOME": str(self.folder)})
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout.split()

    def test_bash(self):
        script = self.script("bash")
        (self.folder / "a-result.json").touch()

        def proposed(*words):
            return self.run_shell("bash", "--norc", "-c", BASH, "-", script, "nodewise", *words)

        self.assertIn("run", proposed(""))
        self.assertEqual(proposed("do"), ["doctor"])
        self.assertNotIn("internal", proposed(""))
        self.assertEqual(proposed("run", "--cpun"), ["--cpunodebind"])
        self.assertIn("-N", proposed("run", "-"))
        self.assertEqual(proposed("run", "--bind", ""), ["close", "spread", "none"])
        self.assertEqual(proposed("run", "--bind", "=", "s"), ["spread"])
        self.assertEqual(proposed("run", "--bind", "="), ["close", "spread", "none"])
        self.assertEqual(proposed("run", "-N", "0", "--color", "a"), ["auto", "always"])
        self.assertEqual(proposed("run", "-N", ""), [], "nothing is known of its value")
        self.assertEqual(proposed("run", "-o", "a-r"), ["a-result.json"])
        self.assertIn("true", proposed("run", "-N", "0", "--", "tru"))
        self.assertIn("true", proposed("run", "-N", "0", "tru"))
        self.assertEqual(proposed("run", "-N", "0", "cat", "a-r"), ["a-result.json"])
        self.assertEqual(proposed("run", "--bind", "=", "close", "--", "cat", "a-r"), ["a-result.json"])
        self.assertEqual(proposed("lab", "des"), ["describe"])
        self.assertEqual(proposed("lab", "check", "--min"), ["--min-local"])
        self.assertEqual(proposed("lab", "check", "--phase", "i"), ["init"])
        self.assertIn("true", proposed("lab", "check", "--min-local", "1", "--", "tru"))
        self.assertEqual(proposed("topo", "x"), [])

    def test_zsh_takes_the_script(self):
        script = self.script("zsh")
        self.run_shell("zsh", "-n", script)
        # Loaded by the completion system, as from site-functions.
        functions = self.folder / "functions"
        functions.mkdir()
        (functions / "_nodewise").write_text(Path(script).read_text())
        shown = self.run_shell("zsh", "-fc", "fpath=($1 $fpath); autoload -Uz compinit; compinit -u -d $2; "
                               "print $_comps[nodewise]; autoload +X _nodewise", "-", str(functions),
                               str(self.folder / "dump"))
        self.assertEqual(shown, ["_nodewise"])

    def test_fish(self):
        script = self.script("fish")

        def proposed(line):
            out = self.run_shell("fish", "--no-config", "-c", f"source {script}; complete -C '{line}' | cut -f1")
            return out

        self.assertEqual(proposed("nodewise do"), ["doctor"])
        self.assertEqual(proposed("nodewise run --bind "), ["close", "none", "spread"])
        self.assertEqual(proposed("nodewise run --cpuno"), ["--cpunodebind"])
        self.assertEqual(proposed("nodewise lab des"), ["describe"])

    def test_another_shell_is_refused(self):
        self.assertIn("bash, zsh or fish", self.expect(2, "internal", "completion", "csh").stderr)


if __name__ == "__main__":
    unittest.main()
