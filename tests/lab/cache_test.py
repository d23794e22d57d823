# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Snapshots are made once, whole or not at all, and a run never fails for want of one."""

import json
import os
import resource
import subprocess
import unittest

import lab


class Cache(lab.LabTest):
    def setUp(self) -> None:
        super().setUp()
        self.cache = lab.private_cache(self.directory)
        self.environment = {**os.environ, "NODEWISE_CACHE": str(self.cache)}

    def snapshots(self) -> list[dict]:
        listed = subprocess.check_output(
            lab.runner("cache", "list", "--json"), env=self.environment
        )
        return [entry for entry in json.loads(listed)["entries"] if entry["kind"] == "snapshot"]

    def leftovers(self) -> list[str]:
        return [path.name for path in self.cache.rglob(".unfinished-*")]

    def test_made_by_two_at_once_used_listed_removed(self):
        command = lab.on(lab.TWO_NODES, "echo", "ran", options=("--verbose",))
        both = [
            subprocess.Popen(
                command,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        ended = [process.communicate(timeout=900) for process in both]
        self.assertEqual([out for out, _ in ended], ["ran\n"] * 2)
        self.assertEqual(sum("snapshot made" in errors for _, errors in ended), 1, ended)
        self.assertEqual(sum("restored in" in errors for _, errors in ended), 1, ended)

        (snapshot,) = self.snapshots()
        self.assertEqual(snapshot["what"], "nehalem-2x4")
        self.assertGreater(snapshot["bytes"], 10 << 20)
        table = subprocess.check_output(
            lab.runner("cache", "list"), env=self.environment, text=True
        )
        self.assertIn(snapshot["key"], table)

        subprocess.run(
            lab.runner("cache", "remove", snapshot["key"]), env=self.environment, check=True
        )
        self.assertEqual(self.snapshots(), [])
        missing = subprocess.run(
            lab.runner("cache", "remove", "no-such-key"), env=self.environment, capture_output=True
        )
        self.assertEqual(missing.returncode, 125)
        subprocess.run(lab.runner("cache", "remove", "--all"), env=self.environment, check=True)
        self.assertEqual(list(self.cache.rglob("state")) + list(self.cache.rglob("vmlinux")), [])

    def test_a_damaged_snapshot_is_made_anew(self):
        lab.run("true", machine=lab.TWO_NODES, env=self.environment)
        (state,) = self.cache.rglob("state")
        os.truncate(state, state.stat().st_size // 2)
        result = lab.run("echo", "ran", machine=lab.TWO_NODES, env=self.environment)
        self.assert_output(result, "ran\n")
        self.assertRegex(result.stderr, rb"cannot restore the snapshot \w+; making a new one: ")
        self.assertGreater(state.stat().st_size, 10 << 20)

    def test_a_full_disk_costs_the_snapshot_only(self):
        def limit_files() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))

        result = lab.run(
            "echo", "ran", machine=lab.TWO_NODES, env=self.environment, preexec_fn=limit_files
        )
        self.assert_output(result, "ran\n")
        self.assertIn(
            b"no snapshot: cannot store it in the cache: File too large\n    hint: ",
            result.stderr,
        )
        self.assertEqual((self.snapshots(), self.leftovers()), ([], []))

    def test_a_cache_that_cannot_be_written_costs_the_snapshot_only(self):
        (self.cache / "locks").write_text("a file where a directory should be")
        result = lab.run("echo", "ran", machine=lab.TWO_NODES, env=self.environment)
        self.assert_output(result, "ran\n")
        self.assertIn(b"no snapshot: cannot write to the cache ", result.stderr)


if __name__ == "__main__":
    unittest.main()
