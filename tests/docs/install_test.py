# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The command of docs/install.md that extends a container engine's filter of system calls, and the version in texts."""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs/install.md").read_text()
CALLS = {"get_mempolicy", "mbind", "set_mempolicy", "move_pages", "perf_event_open"}
# In the forms of Docker's and of Podman's file.
DOCKER = {
    "defaultAction": "SCMP_ACT_ERRNO",
    "syscalls": [
        {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"},
        {"names": ["get_mempolicy", "mbind", "set_mempolicy"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_NICE"]}},
        {"names": ["bpf", "perf_event_open"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
    ],
}  # fmt: skip
PODMAN = {
    "defaultAction": "SCMP_ACT_ERRNO",
    "syscalls": [
        {"names": ["move_pages", "userfaultfd"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1},
        {"names": ["mbind", "read", "write"], "action": "SCMP_ACT_ALLOW"},
        {"names": ["bpf"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
        {"names": ["perf_event_open"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "excludes": {"caps": ["CAP_PERFMON"]}},
    ],
}  # fmt: skip


def extended(profile):
    """What the page's command makes of a filter."""
    command = re.search(r"^python3 - default\.json >nodewise\.json <<'END'\n.*?^END$", PAGE, re.MULTILINE | re.DOTALL)
    assert command is not None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "default.json").write_text(json.dumps(profile))
        subprocess.run(["sh", "-e", "-c", command.group()], cwd=folder, check=True)
        return json.loads((Path(folder) / "nodewise.json").read_text())


def rules(profile):
    """All rules, one call each."""
    return [(name, json.dumps(rule | {"names": []})) for rule in profile["syscalls"] for name in rule["names"]]


class Filter(unittest.TestCase):
    def test_the_five_calls_are_permitted_and_all_others_are_as_before(self):
        for profile in (DOCKER, PODMAN):
            before, after = rules(profile), rules(extended(profile))
            permitted = json.dumps({"names": [], "action": "SCMP_ACT_ALLOW"})
            self.assertEqual({rule for rule in after if rule[0] in CALLS}, {(call, permitted) for call in CALLS})
            others = [rule for rule in before if rule[0] not in CALLS]
            self.assertEqual([rule for rule in after if rule[0] not in CALLS], others)
            self.assertEqual(len(after), len(others) + len(CALLS))
            self.assertEqual(extended(profile)["defaultAction"], "SCMP_ACT_ERRNO")


class Version(unittest.TestCase):
    def test_texts_name_the_version_of_the_project(self):
        def first(pattern, file):
            found = re.search(pattern, (PROJECT / file).read_text(), re.MULTILINE)
            return found and found.group(1)

        version = first(r"^project\(nodewise VERSION (\S+)", "CMakeLists.txt")
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(first(r"^## (\S+)", "CHANGELOG.md"), version)
        self.assertEqual(first(r"nodewise/lab/ci@v(\S+)", "lab/ci/workflows/placement.yml"), version)


if __name__ == "__main__":
    unittest.main()
