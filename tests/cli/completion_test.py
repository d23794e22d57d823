# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Completion by the shells themselves: what they propose behind a line."""

import contextlib
import os
import pty
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from command import PATIENCE, CommandTest, environment, wait_until

# Loads the script, and asks its function as bash does behind the words given.
BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
_nodewise nodewise "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def drained(descriptor):
    """Reads what a shell writes to its terminal, until it has ended."""
    with contextlib.suppress(OSError):
        while os.read(descriptor, 4096):
            pass


class Completion(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def script(self, shell):
        file = self.folder / f"completion.{shell}"
        file.write_text(self.expect(0, "internal", "completion", shell).stdout)
        self.assertGreater(file.stat().st_size, 0)
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
        self.assertEqual(proposed("topo", "--export", ""), ["xml", "json", "svg", "picture"])
        self.assertEqual(proposed("profile", "--export", "m"), ["markdown"])
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
        # Bash breaks words at colons; the package bash-completion is not asked to undo it.
        self.assertIn("lab:cxl", proposed("run", "--on", ""))
        self.assertEqual(proposed("run", "--on", "lab", ":", "cx"), ["cxl"])
        self.assertIn("cxl", proposed("run", "--on", "lab", ":"))
        self.assertEqual(proposed("run", "--on", "=", "lab", ":", "memory"), ["memoryless0"])
        self.assertEqual(proposed("run", "--on", "lab:cx"), ["lab:cxl"], "COMP_WORDBREAKS without a colon")
        self.assertIn("true", proposed("run", "--on", "lab", ":", "cxl", "tru"))
        self.assertIn("true", proposed("run", "--on", "lab", ":", "cxl", "--", "tru"))
        self.assertEqual(proposed("topo", "-i", "lab", ":", "cx"), ["cxl"])
        self.assertEqual(proposed("topo", "-i", "a-r"), ["a-result.json"])
        self.assertEqual(proposed("run", "--memory", "interl"), ["interleave", "interleave:"])
        self.assertEqual(proposed("run", "--memory", "weighted", ":", "a"), ["auto"])
        self.assertEqual(proposed("measure", "--only", "lat"), ["latency"])
        self.assertEqual(proposed("measure", "--only", "bandwidth,lat"), ["bandwidth,latency"])
        self.assertEqual(proposed("measure", "-t", "upd"), ["update"])
        self.assertIn("S0:", proposed("measure", "-w", "S"))
        self.assertEqual(proposed("drop"), ["drop-cache"])
        self.assertEqual(proposed("drop-cache", "--by", "p"), ["pressure"])
        self.assertEqual(proposed("sweep", "--by", "p"), ["pressure"], "an alias")

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
        entries = [line for line in (self.folder / "dump").read_text().splitlines() if "nodewise" in line]
        self.assertEqual(shown, ["_nodewise"], f"{Path(script).read_text()[:80]!r}, dumped: {entries}")

    def test_zsh_at_work(self):
        functions = self.folder / "functions"
        functions.mkdir()
        (functions / "_nodewise").write_text(Path(self.script("zsh")).read_text())
        (self.folder / ".zshrc").write_text(
            f"fpath=({functions} $fpath)\nautoload -Uz compinit; compinit -u -D\nPS1=\nunsetopt zle_bracketed_paste\n"
            # The line as it is when Tab has been pressed.
            "shown() { print -r -- \"[$BUFFER]\" >> ~/shown; BUFFER=; zle reset-prompt }\nzle -N shown\n"
            "bindkey '^I' expand-or-complete\nbindkey '^X' shown\nprint ready > ~/ready\n")
        lines = {"run --on lab:cx": "run --on lab:cxl ", "run --on=lab:cx": "run --on=lab:cxl ",
                 "topo -i lab:memoryl": "topo -i lab:memoryless0", "run --memory block": "run --memory blocked",
                 "measure --only lat": "measure --only latency",
                 "measure --only bandwidth,lat": "measure --only bandwidth,latency",
                 "measure -t schoe": "measure -t schoenauer", "bench -t schoe": "bench -t schoenauer",
                 "run --bind clo": "run --bind close "}
        shown = self.folder / "shown"
        main, other = pty.openpty()
        self.addCleanup(os.close, main)
        with subprocess.Popen(["zsh", "-i"], stdin=other, stdout=other, stderr=other, start_new_session=True,
                              cwd=self.folder, env=environment(HOME=str(self.folder), ZDOTDIR=str(self.folder))) as shell:
            os.close(other)
            drain = threading.Thread(target=drained, args=(main,), daemon=True)
            drain.start()
            wait_until((self.folder / "ready").exists, "zsh has read its settings")
            for count, line in enumerate(lines, 1):
                os.write(main, f"nodewise {line}\t\x18".encode())
                wait_until(lambda: shown.exists() and len(shown.read_text().splitlines()) == count, f"zsh completes {line}")
            os.write(main, b"exit\n")
            shell.wait()
            # Not later: the number of `main` is soon that of another file, from which it would go on reading.
            drain.join(PATIENCE)
            self.assertFalse(drain.is_alive())
        for line, proposed in zip(shown.read_text().splitlines(), lines.values(), strict=True):
            # Behind a word of a list zsh puts a comma, which it takes away again.
            self.assertEqual(line.strip("[], "), f"nodewise {proposed}".rstrip())

    def test_fish(self):
        script = self.script("fish")

        def proposed(line):
            out = self.run_shell("fish", "--no-config", "-c", f"source {script}; complete -C '{line}' | cut -f1")
            return out

        self.assertEqual(proposed("nodewise do"), ["doctor"])
        self.assertEqual(proposed("nodewise run --bind "), ["close", "none", "spread"])
        self.assertEqual(proposed("nodewise run --cpuno"), ["--cpunodebind"])
        self.assertEqual(proposed("nodewise lab des"), ["describe"])
        self.assertEqual(proposed("nodewise run --on lab:cx"), ["lab:cxl"])
        self.assertEqual(proposed("nodewise topo -i lab:cx"), ["lab:cxl"])
        self.assertEqual(proposed("nodewise run --memory interl"), ["interleave", "interleave:"])
        self.assertEqual(proposed("nodewise measure --only lat"), ["latency"])
        self.assertEqual(proposed("nodewise measure --only bandwidth,lat"), ["bandwidth,latency"])
        self.assertEqual(proposed("nodewise measure -t upd"), ["update"])
        self.assertIn("S0:", proposed("nodewise measure -w S"))
        self.assertEqual(proposed("nodewise drop"), ["drop-cache"])
        self.assertEqual(proposed("nodewise sweep --by p"), ["pressure"])

    def test_another_shell_is_refused(self):
        self.assertIn("bash, zsh or fish", self.expect(2, "internal", "completion", "csh").stderr)


if __name__ == "__main__":
    unittest.main()
