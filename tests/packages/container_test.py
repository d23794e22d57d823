# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""packaging/Containerfile, step by step in a bare Debian, and what the command reports where the filter of a container
refuses calls: `make test-dist`. Needs root and a mirror of Debian.

With NODEWISE_TEST_LAB=1 it also makes the image with the lab, which downloads 300 MB.
"""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import containerfile
from roots import PROJECT, Root

DIST = PROJECT / "dist"
# What the filter of Docker refuses without a capability, and what it refuses with each.
POLICIES, COUNTERS, MOVES = "mbind,set_mempolicy,get_mempolicy", "perf_event_open", "move_pages"


class Image(unittest.TestCase):
    def build(self, name: str) -> containerfile.Stage:
        stage = containerfile.read(PROJECT / "packaging/Containerfile")[name]
        release = re.fullmatch(r"debian:(\w+)", stage.base)
        assert release is not None, stage.base
        self.root = Root(release.group(1), DIST, include="")
        self.addCleanup(self.root.close)
        stage.build(self.root, DIST)
        return stage

    def expect(self, status: int, command: str, variables=None) -> str:
        done = self.root.run(command, variables)
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}")
        return done.stdout

    def test_the_command_runs_and_reports_what_the_container_forbids(self):
        stage = self.build("command")
        self.assertIn("1 node", self.expect(0, stage.command("topo")))
        self.assertIn("doctor", stage.command())
        self.expect(1, "ls /var/lib/apt/lists/*Packages* /tmp/*.deb 2>/dev/null || exit 1")
        self.assertNotIn("seccomp=", self.expect(0, f"{stage.command()} || [ $? -eq 1 ]"))

        with tempfile.TemporaryDirectory() as folder:
            deny = Path(folder) / "deny"
            subprocess.run(["gcc", "-static", "-O1", PROJECT / "tests/support/deny.c", "-o", deny], check=True)
            self.root.put(deny, "/usr/local/bin/deny")
        refused = self.expect(4, f"deny {POLICIES},{COUNTERS},{MOVES} EPERM -- {stage.command()}")
        self.assertIn("--cap-add SYS_NICE", refused)
        self.assertIn("--cap-add PERFMON", refused)
        self.assertIn("seccomp=FILE", refused)
        with_capabilities = self.expect(4, f"deny {MOVES} EPERM -- {stage.command()}")
        self.assertIn("seccomp=FILE", with_capabilities)
        self.assertNotIn("--cap-add", with_capabilities)
        # Placement needs no more than the policies.
        run = stage.command("run", "--memory", "interleave", "--strict", "--", "true")
        self.assertEqual(self.expect(0, f"deny {MOVES} EPERM -- {run}"), "")
        self.assertIn("CAP_SYS_NICE", self.expect(4, f"deny {POLICIES} EPERM -- {run}"))

    @unittest.skipUnless(os.environ.get("NODEWISE_TEST_LAB") == "1", "NODEWISE_TEST_LAB is not 1")
    def test_the_lab_starts_at_once(self):
        stage = self.build("lab")
        output = self.expect(0, stage.command("topo", "--on", "lab:2x2"), stage.variables)
        self.assertIn("2 nodes", output)
        self.assertNotIn("downloading", output)


if __name__ == "__main__":
    unittest.main()
