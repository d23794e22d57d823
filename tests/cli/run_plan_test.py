# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise run --plan`: what is done of a plan file, what is told of it, and what becomes of a broken one."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, COMMAND, CommandTest, conforms

FIRST_TOUCH = str(BUILD / "examples/first-touch/first-touch")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
NODES = len([name for name in os.listdir("/sys/devices/system/node") if re.fullmatch(r"node\d+", name)])


def line_of(array):
    """The line of usual.c that asks for it."""
    source = (Path(__file__).parents[2] / "examples/first-touch/usual.c").read_text().splitlines()
    return f"usual.c:{1 + next(i for i, line in enumerate(source) if f'float* {array} = malloc' in line)}"


def entry(array="a", placement="blocked", **more):
    return {"site": line_of(array), "placement": placement} | more


def plan(*objects, **more):
    return {"schema": "nodewise/plan/1", "program": {"name": "first-touch"}, "objects": list(objects)} | more


def build_id(program):
    text = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", text)[1]


class PlanTest(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "p.json"

    def run_plan(self, code, document, *options, program=(FIRST_TOUCH, "2", "1"), **more):
        self.file.write_text(document if isinstance(document, str) else json.dumps(document))
        return self.expect(code, "run", "--plan", str(self.file), *options, "--", *program, **more)

    def told(self, code, document, *options, **more):
        """The result file and what was said; the file must meet its schema."""
        done = self.run_plan(code, document, "--json", "-o", f"{self.folder}/run.json", *options, **more)
        result = json.loads((self.folder / "run.json").read_text())
        self.assertIsNone(conforms(result, "run-1"))
        return result, done.stderr


class Followed(PlanTest):
    def test_what_each_entry_fitted_is_told(self):
        document = plan(entry("a"), entry("b", "none"), {"symbol": "feild", "placement": "interleave"})
        self.assertIsNone(conforms(document, "plan-1"))
        result, said = self.told(0, document)
        entries = result["plan"]["entries"]
        self.assertEqual([e["objects"] for e in entries], [1, 1, 0])
        self.assertEqual([e["placement"] for e in entries], ["blocked", "none", "interleave"])
        self.assertEqual(entries[0]["bytes"], 2 << 20)
        self.assertEqual((entries[0]["located_pages"], entries[0]["as_asked"]), (512, 1))
        self.assertEqual((entries[1]["located_pages"], entries[1]["as_asked"]), (0, "unavailable"))
        self.assertEqual(result["plan"]["unnamed_objects"], 1)  # c
        objects = result["processes"][0]["objects"]
        self.assertEqual([o.get("entry") for o in objects], [0, 1, None])
        self.assertEqual([o["placed"] for o in objects], [True, False, False])
        self.assertFalse(result["as_asked"])
        self.assertIn("p.json: entry 3: feild: no array matches", said)

    def test_the_same_for_people(self):
        document = plan(entry("a"), {"symbol": "feild", "placement": "interleave"})
        said = self.run_plan(0, document, "--verify").stderr
        always = HUGE_PAGES.exists() and "[always]" in HUGE_PAGES.read_text()
        remark = "no huge pages: blocks too short; " if always else ""
        self.assertRegex(said, rf"#0 {line_of('a')} .*N0 100 %  {remark}entry 1\n")
        self.assertRegex(said, r"p\.json: 1 of 2 entries match objects\n")
        self.assertRegex(said, rf"  1 {line_of('a')} +blocked +1  2.00 MiB +100 %\n")
        self.assertRegex(said, r"  2 feild +interleave +0 +- +-  no object matches it\n")
        self.assertIn("objects that match no entry: 2\n", said)

    def test_objects_have_the_names_that_their_entries_have(self):
        said = self.run_plan(0, plan(entry("a", name="grid.h:5 #2")), "--verify").stderr
        self.assertRegex(said, r"#0 grid\.h:5 #2 .* entry 1\n")
        self.assertRegex(said, r"  1 grid\.h:5 #2 +blocked +1  2.00 MiB +100 %\n")
        self.assertRegex(said, rf"#1 {line_of('b')} ")

    def test_strict_wants_every_entry_to_fit(self):
        self.run_plan(0, plan(entry("a")), "--strict")
        done = self.run_plan(1, plan(entry("a"), {"symbol": "feild", "placement": "none"}), "--strict")
        self.assertIn("no array matches", done.stderr)
        self.assertIn("sweeps", done.stdout)

    def test_without_waiting_the_program_takes_the_place_of_the_command(self):
        self.file.write_text(json.dumps(plan(entry("a"))))
        done = self.expect(0, "run", "--plan", str(self.file), "-q", "--", "sh", "-c", "echo $PPID; echo $NODEWISE_AGENT")
        self.assertEqual(done.stdout.splitlines()[0], str(os.getpid()))

    def test_threads_are_the_plans_unless_the_command_line_says_otherwise(self):
        document = plan(threads={"count": 1, "bind": "close", "places": "nodes"})
        show = ("sh", "-c", "echo $OMP_NUM_THREADS $OMP_PROC_BIND")
        done = self.run_plan(0, document, program=show)
        self.assertEqual((done.stdout, done.stderr), ("1 close\n", ""))
        done = self.run_plan(0, document, "--threads", "2", "--bind", "spread", program=show)
        self.assertEqual(done.stdout, "2 spread\n")
        self.assertIn("--bind spread: ", done.stderr)
        self.assertRegex(done.stderr, r"--threads 2: \S+p\.json has 1")
        self.assertIn("binds none", self.run_plan(2, plan(), "--places", "nodes", program=show).stderr)

    def test_dry_run_shows_the_agents_rules(self):
        document = plan(entry("a", bytes=">= 1M"), entry("b", "cyclic:64K"), threads={"bind": "close", "count": 1})
        line = self.run_plan(0, document, "--dry-run").stdout
        self.assertRegex(line, r"rule=least=1048576,code=first-touch\S+:blocked;rule=least=0,code=\S+:cyclic@65536@0;")

    def test_one_line_on_behalf_of_several_callers(self):
        source = self.folder / "both.c"
        source.write_text(
            "#include <stdlib.h>\n#include <string.h>\n"
            "__attribute__((noinline)) char* get(size_t n) { char* p = malloc(n); memset(p, 1, n); return p; }\n"
            "__attribute__((noinline)) char* first(void) { char* p = get(2 << 20); p[1] = 2; return p; }\n"
            "__attribute__((noinline)) char* second(void) { char* p = get(2 << 20); p[1] = 3; return p; }\n"
            # Between it and main, whose address is on every stack and looks like a return into what is before.
            "__attribute__((noinline)) int sum(char* a, char* b, char* c) { return a[1] + b[1] + c[1]; }\n"
            "int main(void) { char* a = first(); char* b = second(); return sum(a, b, second()) - 8; }\n")
        both = str(self.folder / "both")
        subprocess.run(["gcc", "-g", "-O1", str(source), "-o", both], check=True)
        second = {"site": "both.c:3", "callers": ["both.c:5"], "placement": "blocked"}
        for document, fitted in ((plan(second, program={"name": "both"}), [None, 0, 0]),
                                 (plan(second | {"nth": "1"}, program={"name": "both"}), [None, None, 0])):
            result, _ = self.told(0, document, program=(both,))
            self.assertEqual([o.get("entry") for o in result["processes"][0]["objects"]], fitted)

    def test_typed_rules_come_first_and_memory_is_for_the_rest(self):
        result, _ = self.told(0, plan(entry("a"), entry("b")), "--rule", f"site={line_of('a')}:local",
                              "--memory", "interleave")
        self.assertEqual([o.get("entry") for o in result["processes"][0]["objects"]], [None, 1, None])
        self.assertEqual([o.get("rule") for o in result["processes"][0]["objects"]], [0, 2, None])
        self.assertEqual(result["asked"]["memory"]["placement"], "interleave")
        self.assertEqual(result["plan"]["entries"][0]["objects"], 0)
        self.assertEqual(result["plan"]["unnamed_objects"], 2)


class Binaries(PlanTest):
    """The same program, another build of it, another one."""

    def setUp(self):
        super().setUp()
        result, _ = self.told(0, plan())
        self.callers = [o["caller"] for o in result["processes"][0]["objects"]]

    def of_build(self, build, array="a"):
        at = self.callers["abc".index(array)]
        stack = [f"{at['module']}+{at['offset']:#x}"]
        return plan({"stack": stack, "site": line_of("b"), "placement": "blocked"},
                    program={"name": "first-touch", "build_id": build})

    def fitted(self, result):
        return [o.get("entry") for o in result["processes"][0]["objects"]]

    def test_offsets_hold_for_the_same_build(self):
        result, said = self.told(0, self.of_build(build_id(FIRST_TOUCH)))
        self.assertEqual((self.fitted(result), said), ([0, None, None], ""))

    def test_also_under_another_name(self):
        renamed = shutil.copy(FIRST_TOUCH, self.folder / "renamed")
        result, said = self.told(0, self.of_build(build_id(FIRST_TOUCH)), program=(str(renamed), "2", "1"))
        self.assertEqual((self.fitted(result), said), ([0, None, None], ""))

    def test_lines_hold_for_another_build(self):
        result, said = self.told(0, self.of_build("00" * 20))
        self.assertEqual(self.fitted(result), [None, 0, None])
        self.assertIn("first-touch is a different build from the one that it was made for", said)
        strict = self.run_plan(125, self.of_build("00" * 20), "--strict")
        self.assertEqual(strict.stdout, "")
        self.assertIn("a different build", strict.stderr)

    def test_a_script_that_starts_the_program(self):
        script = ("sh", "-c", f"{FIRST_TOUCH} 2 1; true")
        result, said = self.told(0, self.of_build(build_id(FIRST_TOUCH)), program=script)
        self.assertIn("it is for first-touch, not for sh", said)
        self.assertEqual(result["plan"]["entries"][0]["objects"], 1)

    def test_a_line_that_is_gone(self):
        document = plan({"site": "gone.c:1", "placement": "blocked"}, entry("a"))
        result, said = self.told(0, document)
        self.assertIn("entry 1 (gone.c:1): first-touch has no code of 'gone.c:1'; it is skipped", said)
        self.assertEqual([e["objects"] for e in result["plan"]["entries"]], [0, 1])
        self.assertIn("no code", result["plan"]["entries"][0]["left_out"])
        self.assertEqual(self.run_plan(125, document, "--strict").stdout, "")

    def test_a_plan_for_another_machine(self):
        document = plan(entry("a"), threads={"nodes": NODES + 3, "bind": "close", "count": 1})
        done = self.run_plan(0, document)
        self.assertIn(f"it was made for {NODES + 3} nodes with processors, and this machine has {NODES};", done.stderr)
        self.assertEqual(self.run_plan(125, document, "--strict").stdout, "")

    def test_a_static_program(self):
        done = self.run_plan(0, plan(entry("a")), program=(COMMAND, "--version"))
        self.assertIn("statically linked", done.stderr)
        self.assertIn("nodewise ", done.stdout)


class Broken(PlanTest):
    """Nothing starts; with --plan-optional the program runs as it is, unless --strict is given."""

    CASES = (
        ("", "not JSON: "),
        (json.dumps(plan(entry()))[:60], "not JSON: "),
        (json.dumps(plan()) + "]", "not JSON: "),
        ("[]", "a list instead of an object"),
        (json.dumps({"schema": "nodewise/run/1"}), "another kind of file"),
        (json.dumps({"schema": "nodewise/plan/7"}), "a newer version"),
        (json.dumps(plan(entry(placement="block"))), "objects[0].placement: there is no placement 'block'"),
        (json.dumps(plan(entry(), entry(places="all"))), "objects[1]: unknown field 'places'"),
        (json.dumps(plan(entry(bytes="8M"))), "objects[0].bytes"),
        (json.dumps(plan(entry(placement={"map": ""}))), "objects[0].placement.map: the map has no parts"),
        (json.dumps(plan(entry(placement="thread:9"), threads={"count": 8})), "thread 9 of 8"),
        (json.dumps(plan(threads={"count": 1e30})), "threads.count"),
    )

    def test_the_field_is_named(self):
        for text, complaint in self.CASES:
            with self.subTest(complaint):
                for options in ((), ("--quiet",), ("--strict",), ("--verify",), ("--dry-run",), ("--on", "lab:2x2")):
                    done = self.run_plan(3, text, *options, program=("echo", "started"))
                    self.assertEqual(done.stdout, "", options)
                    self.assertRegex(done.stderr, r"\Anodewise: the (plan|file) \S+p\.json: .*\n    hint: .+\n\Z")
                    self.assertIn(complaint, done.stderr)

    def optional(self, code, text, *options, program=("echo", "started")):
        self.file.write_text(text)
        return self.expect(code, "run", *options, "--plan-optional", str(self.file), "--", *program)

    def test_an_optional_plan_that_is_broken_is_left_out(self):
        for text, complaint in self.CASES:
            with self.subTest(complaint):
                done = self.optional(0, text)
                self.assertEqual(done.stdout, "started\n")
                self.assertRegex(done.stderr, r"\Anodewise: warning: the (plan|file) \S+p\.json: .*; the program runs "
                                              r"without the plan \(.+\)\n\Z")
                self.assertIn(complaint, done.stderr)
                strict = self.optional(3, text, "--strict")
                self.assertEqual(strict.stdout, "")
                self.assertRegex(strict.stderr, r"\Anodewise: the (plan|file) \S+p\.json: .*\n    hint: .+\n\Z")

    def test_an_optional_plan_that_is_there_is_followed(self):
        show = ("sh", "-c", "echo $OMP_NUM_THREADS $OMP_PROC_BIND")
        text = json.dumps(plan(threads={"count": 1, "bind": "close"}))
        self.assertEqual(self.optional(0, text, program=show).stdout, "1 close\n")

    def test_a_result_says_that_it_was_left_out(self):
        out = self.folder / "result.json"
        self.optional(0, "{", "-o", str(out), program=(FIRST_TOUCH, "2", "1"))
        result = json.loads(out.read_text())
        self.assertIn("not JSON: ", result["plan"]["problem"])
        self.assertFalse(result["as_asked"])
        self.assertEqual(result["plan"]["unnamed_objects"], 3)
        done = self.optional(0, "{", "--verify", program=(FIRST_TOUCH, "2", "1"))
        self.assertIn("p.json: not applied, not JSON: ", done.stderr)

    def test_no_such_file(self):
        for file, answer in (("/nonexistent.json", "ENOENT"), ("", "ENOENT"), (str(self.folder), "EISDIR")):
            for options in ((), ("--strict",), ("--quiet",), ("--verify",), ("--on", "lab:2x2"), ("-q", "--on", "lab:2x2")):
                with self.subTest(file=file, options=options):
                    done = self.expect(3, "run", *options, "--plan", file, "--", "echo", "started")
                    self.assertEqual(done.stdout, "")
                    self.assertIn(f"{file}: ", done.stderr)
                    self.assertIn(answer, done.stderr)
            done = self.expect(0, "run", "--plan-optional", file, "--", "echo", "started")
            self.assertEqual(done.stdout, "started\n")
            self.assertIn("runs without the plan", done.stderr)

    def test_one_plan(self):
        self.file.write_text(json.dumps(plan()))
        both = ("--plan", str(self.file), "--plan-optional", str(self.file))
        self.assertIn("one plan", self.expect(2, "run", *both, "--", "true").stderr)

    def test_a_virtual_machine_does_not_see_it(self):
        for file in ("/dev/stdin", "/proc/self/fd/0", "/run/x/p.json"):
            for option in ("--plan", "--plan-optional"):
                done = self.expect(2, "run", "--on", "lab:2x2", option, file, "--", "true")
                self.assertIn(f"a virtual machine has its own /{file.split('/')[1]}\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
