# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Runs the built command as a user does: by its path, with an environment that says nothing."""

import json
import os
import pty
import subprocess
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("NODEWISE_BIN", str(ROOT / "build/release/bin/nodewise"))
BUILD = Path(os.environ.get("NODEWISE_BUILD", Path(COMMAND).resolve().parents[1]))
# Refuses system calls to a program: deny CALL,CALL ERRNO -- PROGRAM [ARGUMENT]...
DENY = os.environ.get("NODEWISE_DENY", str(BUILD / "tests/deny"))

# Seconds. Who waits longer waits for ever; no test is about time.
PATIENCE = 300

_SETTINGS_OF_THE_CALLER = ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LANG", "LC_ALL", "LC_CTYPE", "NODEWISE_MEASURED")


def environment(**changes):
    kept = {name: value for name, value in os.environ.items() if name not in _SETTINGS_OF_THE_CALLER}
    # What somebody measured here before is not found.
    return kept | {"TERM": "xterm-256color", "XDG_STATE_HOME": "/nonexistent"} | changes


def nodewise(*arguments, env=None, before=(), command=COMMAND, **options):
    """The finished process, with stdout and stderr as text unless told otherwise."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run(
        [*before, command, *arguments], env=environment(**(env or {})), text=True, timeout=PATIENCE, check=False, **streams
    )


def wait_until(has_happened, what):
    """Until the condition holds; AssertionError where it never does."""
    deadline = time.monotonic() + PATIENCE
    while not has_happened():
        if time.monotonic() > deadline:
            raise AssertionError(f"not after {PATIENCE} s: {what}")
        time.sleep(0.02)


def handles(process, number):
    """Whether a process has a handler for a signal."""
    caught = next(line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("SigCgt"))
    return int(caught.split()[1], 16) >> (number - 1) & 1 == 1


def _figures(process):
    """The fields of /proc/PID/stat behind the name: the first one is the state."""
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()


def small_faults(process):
    """Page faults of a process so far that needed no disk."""
    return int(_figures(process)[7])


def processor_seconds(process):
    """What a process has used, all threads together."""
    return sum(map(int, _figures(process)[11:13])) / os.sysconf("SC_CLK_TCK")


def on_a_terminal(*arguments, columns=80, cwd=".", **variables):
    """Every byte that a terminal of so many columns gets."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(COMMAND, [COMMAND, *arguments], environment(COLUMNS=str(columns), **variables))
    text = b""
    try:
        while piece := os.read(terminal, 65536):
            text += piece
    except OSError:
        pass  # the end of a terminal
    os.waitpid(pid, 0)
    os.close(terminal)
    return text


class CommandTest(unittest.TestCase):
    maxDiff = None

    def expect(self, code, *arguments, **options):
        """Runs the command, checks its exit code, and returns what it printed."""
        done = nodewise(*arguments, **options)
        self.assertEqual(done.returncode, code, f"{arguments}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def expect_json(self, code, *arguments, **options):
        return json.loads(self.expect(code, *arguments, **options).stdout)


def conforms(document, schema):
    """The first violation of docs/schemas/SCHEMA.json, or None. Needs python3-jsonschema."""
    import jsonschema

    files = {path.name: json.loads(path.read_text()) for path in (ROOT / "docs/schemas").glob("*.json")}
    wanted = files[f"{schema}.json"]
    store = {file["$id"]: file for file in files.values()}
    try:
        from referencing import Registry, Resource
    except ImportError:  # jsonschema before 4.18, as in Debian 12
        resolver = jsonschema.RefResolver(wanted["$id"], wanted, store=store)
        validator = jsonschema.Draft202012Validator(wanted, resolver=resolver)
    else:
        resources = [(name, Resource.from_contents(file)) for name, file in store.items()]
        validator = jsonschema.Draft202012Validator(wanted, registry=Registry().with_resources(resources))
    return next((f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)), None)
