# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Runs the built command as a user does: by its path, with an environment that says nothing."""

import json
import os
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("NODEWISE_BIN", str(ROOT / "build/release/bin/nodewise"))
BUILD = Path(os.environ.get("NODEWISE_BUILD", Path(COMMAND).resolve().parents[1]))
# Refuses system calls to a program: deny CALL,CALL ERRNO -- PROGRAM [ARGUMENT]...
DENY = os.environ.get("NODEWISE_DENY", str(BUILD / "tests/deny"))

_SETTINGS_OF_THE_CALLER = ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LANG", "LC_ALL", "LC_CTYPE", "NODEWISE_MEASURED")


def environment(**changes):
    kept = {name: value for name, value in os.environ.items() if name not in _SETTINGS_OF_THE_CALLER}
    # What somebody measured here before is not found.
    return kept | {"TERM": "xterm-256color", "XDG_STATE_HOME": "/nonexistent"} | changes


def nodewise(*arguments, env=None, before=(), command=COMMAND, **options):
    """The finished process, with stdout and stderr as text unless told otherwise."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run(
        [*before, command, *arguments], env=environment(**(env or {})), text=True, timeout=120, check=False, **streams
    )


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
