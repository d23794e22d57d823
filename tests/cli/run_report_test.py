# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise run`: what it reports of the program's memory and threads, and what it cannot report."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from command import COMMAND, DENY, PATIENCE, CommandTest, conforms, environment, nodewise

# Allocates and touches 8 MiB, as any program would: by malloc.
BIG = [sys.executable, "-c", "b = bytearray(b'x') * (8 << 20); print(len(b))"]


class Report(CommandTest):
    def objects(self, *options, program=BIG, before=(), code=0):
        result = self.expect_json(code, "run", "--json", *options, "--", "sh", "-c", 'exec "$@" >&2', "-", *program,
                                  before=before)
        self.assertIsNone(conforms(result, "run-1"))
        objects = [o for p in result["processes"] for o in p["objects"]]
        return result, objects

    def test_where_the_pages_were(self):
        for options in (["--memory", "blocked", "--bind", "close"], ["-m", "0"], ["-i", "all"], ["-l"], []):
            with self.subTest(options):
                result, objects = self.objects(*options)
                largest = max(objects, key=lambda o: o["bytes"])
                self.assertGreaterEqual(largest["bytes"], 8 << 20)
                self.assertEqual(largest["resident"], sum(n["pages"] for n in largest["per_node"]))
                self.assertEqual(largest["unknown"], 0)
                self.assertGreater(largest["resident"], 0.99 * largest["pages"])
                if options and options[0] in ("--memory", "-m"):
                    self.assertEqual(largest["as_asked"], 1)
                    self.assertTrue(result["as_asked"])

    def test_a_table_for_people(self):
        done = self.expect(0, "run", "--memory", "blocked", "--bind", "close", "--verify", "--", *BIG)
        self.assertEqual(done.stdout, f"{8 << 20}\n")
        self.assertRegex(done.stderr, r"python[^ ]*\[\d+\]: \d+ objects of 1.00 MiB or more\n")
        self.assertRegex(done.stderr, r"#\d+ \S+ +8.00 MiB +100 % .*N0 100 %")
        nothing = self.expect(0, "run", "--verify", "--", "true").stderr
        self.assertIn("no object of 1.00 MiB or more was seen", nothing)

    def test_into_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.expect(0, "run", "-m", "0", "-o", f"{folder}/run-%p.json", "--", "echo", "hello")
            self.assertEqual((done.stdout, done.stderr), ("hello\n", ""))
            (file,) = Path(folder).iterdir()
            self.assertIsNone(conforms(json.loads(file.read_text()), "run-1"))

    def test_a_signal_and_what_it_leaves_unknown(self):
        done = nodewise("run", "--json", "--", "sh", "-c", "kill -KILL $$")
        result = json.loads(done.stdout)
        self.assertEqual((done.returncode, result["signal"], result["exit_code"]), (-9, 9, 137))
        self.assertEqual(result["processes"][0]["totals"], "unavailable")
        self.assertIn("did not end by exit", done.stderr)

    def test_strict_is_not_satisfied_by_what_nobody_knows(self):
        strict = ("--strict", "--verify", "--memory", "blocked", "--bind", "close", "--")
        self.expect(0, "run", *strict, *BIG)
        replaced = self.expect(1, "run", *strict, sys.executable, "-S", "-c",
                               "import os; b = bytearray(8 << 20); os.execlp('true', 'true')")
        self.assertIn("became another program: the memory that it had not freed is unknown", replaced.stderr)
        # Killed once it sleeps, and so has become `sleep`.
        kill = ('"$@" & until [ "$(cat /proc/$!/comm)" = sleep ] && grep -q "^State:.S" /proc/$!/status; do sleep 0.05; done; '
                "sleep 0.5; kill -KILL $!; wait; true")
        self.expect(1, "run", *strict, "sh", "-c", kill, "-", "sleep", "1000")
        self.expect(1, "run", "--strict", "--verify", "-m", "0", "--", *BIG,
                    before=[DENY, "move_pages,get_mempolicy", "EPERM", "--"])

    def test_children_are_reported_and_inherited_objects_are_not_twice(self):
        script = "import os; b = bytearray(4 << 20); p = os.fork(); p and os.waitpid(p, 0); os._exit(0)"
        result, objects = self.objects(program=[sys.executable, "-c", script])
        self.assertGreaterEqual(len(result["processes"]), 2)
        self.assertEqual(len([o for o in objects if o["bytes"] // (4 << 20) == 1]), 1)


class Honesty(CommandTest):
    """What was asked and cannot be seen to have happened is said, and is no success under --strict."""

    def said(self, code, *arguments, program=BIG, **variables):
        done = subprocess.run([COMMAND, "run", *arguments, "--", *program], capture_output=True, text=True,
                              env=environment() | variables, cwd="/tmp", timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_a_rule_that_fits_no_array(self):
        rule = ["--rule", "symbol=feild:local"]
        self.assertIn("--rule symbol=feild:local: no array matches", self.said(0, *rule, "--verify"))
        self.assertIn("no array matches", self.said(1, *rule, "--verify", "--strict"))
        self.assertNotIn("no array matches", self.said(0, "--rule", "size>=8M:local", "--verify"))

    def test_a_team_of_another_size(self):
        team = ["--memory", "blocked", "--bind", "close", "--threads", "2", "--verify"]
        program = [sys.executable, "-c", "import threading; b = bytearray(b'x') * (8 << 20);"
                   "t = [threading.Thread(target=len, args=(b,)) for _ in range(3)];"
                   "[x.start() for x in t]; [x.join() for x in t]"]
        told = self.said(0, *team, program=program)
        self.assertRegex(told, r"ran with 3 threads, but its memory was laid out for 2: give --threads 3")
        self.said(1, *team, "--strict", program=program)
        self.assertIn("as asked", told)
        self.assertNotRegex(told, r"size +local")

    def test_a_result_that_cannot_be_written_is_said_before_the_program_starts(self):
        for verb in ("run", "pages"):
            done = subprocess.run([COMMAND, verb, "--json", "-o", "/nonexistent/x.json", "--", "echo", "started"],
                                  capture_output=True, text=True, env=environment(), timeout=PATIENCE)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn("/nonexistent/x.json", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_ranks_do_not_write_one_file(self):
        ranks = {"MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "4"}
        self.assertIn("put %r", self.said(2, "--json", "-o", "x.json", **ranks))

    def test_ranks_on_the_same_processors(self):
        told = self.said(0, "--bind", "close", MPI_LOCALRANKID="0", MPI_LOCALNRANKS="4")
        self.assertIn("all 4 ranks of this host get the same processors", told)
        self.assertEqual(self.said(0, "--bind", "close", MPI_LOCALRANKID="1", MPI_LOCALNRANKS="4"), "")

    def test_address_sanitizer_runs_without_the_agent(self):
        with tempfile.TemporaryDirectory() as folder:
            program = [f"{folder}/checked"]
            subprocess.run(["gcc", "-fsanitize=address", "-x", "c", "-", "-o", *program],
                           input="int main(void) { return 0; }", text=True, check=True)
            self.assertIn("built with AddressSanitizer", self.said(0, "--bind", "close", program=program))


class Refused(CommandTest):
    def denied(self, calls, errno, *arguments, code):
        return self.expect(code, "run", *arguments, before=[DENY, calls, errno, "--"])

    def test_policy_and_affinity(self):
        for calls, option in (("set_mempolicy", "-m"), ("sched_setaffinity", "-C")):
            for errno in ("EPERM", "ENOSYS"):
                for supervised in ((), ("--verify",)):
                    done = self.denied(calls, errno, *supervised, option, "0", "--", "echo", "started", code=4)
                    self.assertEqual(done.stdout, "")
                    self.assertRegex(done.stderr, rf"\Anodewise: .*{calls} was refused: {errno} \(.*\)\n    hint: .*seccomp.*\n\Z")

    def test_mbind(self):
        done = self.denied("mbind", "EPERM", "--memory", "blocked", "--", *BIG, code=0)
        self.assertRegex(done.stderr, r"nodewise: \S+\[\d+\]: \d+ of \d+ large objects not placed: mbind failed: EPERM")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        done = self.denied("mbind", "EPERM", "--memory", "blocked", "--verify", "--", *BIG, code=0)
        self.assertIn("not placed: EPERM", done.stderr)
        self.denied("mbind", "EPERM", "--memory", "blocked", "--strict", "--", *BIG, code=1)

    def test_move_pages(self):
        done = self.denied("move_pages", "EPERM", "-m", "0", "--verify", "--", *BIG, code=0)
        self.assertRegex(done.stderr, r"8.00 MiB +100 % .*resolution reduced")
        done = self.denied("move_pages,get_mempolicy", "EPERM", "-m", "0", "--verify", "--", *BIG, code=0)
        self.assertRegex(done.stderr, r"8.00 MiB +- .*unknown (100|99\.\d+) %")
        self.assertNotRegex(done.stderr, r"8.00 MiB.*N0")


    def test_memory_only_read_is_on_no_node(self):
        read = [sys.executable, "-S", "-c", """
import ctypes
c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p; c.malloc.argtypes = [ctypes.c_size_t]
a = c.malloc(8 << 20); sum(ctypes.string_at(a + i, 1)[0] for i in range(0, 8 << 20, 4096))"""]
        self.assertRegex(self.expect(0, "run", "--verify", "-m", "0", "--", *read).stderr, "not resident (100|99|98)")
        denied = self.denied("move_pages", "EPERM", "-m", "0", "--verify", "--", *read, code=0).stderr
        self.assertRegex(denied, "unknown (100|99|98)")


if __name__ == "__main__":
    unittest.main()
