# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise profile` of files: what was written before, what is broken, how it is told, where it goes."""

import copy
import json
import re
import tempfile
import unittest
from pathlib import Path

from command import CommandTest, conforms, on_a_terminal

MACHINE = {"schema": "nodewise/machine/1", "name": "two", "nodes": [{"id": 0, "cpus": "0-1", "memory_bytes": 1 << 30},
                                                                     {"id": 1, "cpus": "2-3", "memory_bytes": 1 << 30}]}
SETTINGS = {"kernel": "6.12.0", "page_bytes": 4096, "numa_balancing": "0", "thp": "madvise", "thp_defrag": "madvise",
            "virtual": "unavailable"}
PAGES = 4096
LINE = {"module": "solver", "offset": "0x1200", "function": "fill", "file": "/src/solver.c", "line": 34}


def thread(number):
    return {"tid": 100 + number, "name": "solver", "main": number == 0, "migrations": 0,
            "stays": [{"node": number // 2, "samples": 50}]}


def array(number, line):
    """Touched first by the main thread, on node 0, used by all four threads in equal parts."""
    part = PAGES // 4
    return {"id": number, "kind": "heap", "made_at": [LINE | {"offset": hex(0x1000 + line), "line": line}], "made_by": 0,
            "start": hex((number + 1) << 32), "bytes": PAGES * 4096, "blocks": 1, "allocated_s": 0.1, "freed_s": 9,
            "live_at_end": True, "pages": PAGES, "resident": PAGES, "unseen_touches": 0, "page_bytes": 4096,
            "where": f"0+{PAGES}@0",
            "touches": [{"pages": PAGES // 2, "how": "code", "from": 0, "by": 0, "where": [LINE | {"offset": offset}]}
                        for offset in ("0x1200", "0x1300")],
            "touched": f"0+{PAGES}@0/0",
            "uses": [f"{k * part}+{part} {k}:{part * 6400}" for k in range(4)],
            "write_share": 0, "used_at": [{"amount": 5, "where": LINE | {"line": 40}}], "contested": []}


def profile(**changes):
    program = {"pid": 100, "parent": 0, "name": "solver", "end": "exited", "openmp": True, "tbb": False,
               "use_from": "traffic count", "use_unit_bytes": 64, "threads": [thread(k) for k in range(4)],
               "objects": [array(0, 20), array(1, 21)]}
    return {"schema": "nodewise/profile/2", "nodewise": "0.1.0", "machine": MACHINE, "settings": SETTINGS,
            "command": ["./solver"], "page_bytes": 4096,
            "evidence": {"faults": True, "chains": True, "kernel": True, "hinting": False, "counts": True, "agent": True,
                         "fault_samples": 2 * PAGES, "hinting_samples": 0, "lost_samples": 0, "thinned_samples": 0,
                         "pages_moved": 0, "missing": []},
            "overhead": {"wall_s": 9.5, "observer_s": 0.1},
            "memory": [{"node": n, "total_bytes": 1 << 30, "free_bytes": 1 << 29, "cache_bytes": 0} for n in (0, 1)],
            "programs": [program]} | changes


def edited(edit):
    document = profile()
    edit(document)
    return json.dumps(document)


def plain_on_a_terminal(*arguments, columns=80):
    """What a terminal of so many columns gets, without colours."""
    text = on_a_terminal(*arguments, columns=columns).decode()
    return re.sub(r"\x1b\[[0-9;]*[a-zA-Z]", "", text).replace("\r\n", "\n")


class InputTest(CommandTest):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory(prefix="nodewise-profile-")
        self.addCleanup(self.kept.cleanup)
        self.folder = Path(self.kept.name)

    def file(self, content, name="p.json"):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)


class Told(InputTest):
    def test_the_files_of_this_test_conform(self):
        self.assertIsNone(conforms(profile(), "profile-2"))

    def test_a_finding_with_its_lines_merged_its_cures_and_a_plan(self):
        plan = self.folder / "plan.json"
        done = self.expect(0, "profile", self.file(profile()), "--write-plan", str(plan))
        self.assertIn("solver.c:34 (100 %)", done.stdout)
        self.assertRegex(done.stdout, r"fix +\S+")
        self.assertIn("nodewise run --plan", done.stdout)
        self.assertIsNone(conforms(json.loads(plan.read_text()), "plan-1"))

    def test_advice_as_json(self):
        result = self.expect_json(0, "profile", self.file(profile()), "--json")
        self.assertIsNone(conforms(result, "advice-2"))
        self.assertGreater(result["findings"][0]["gain"]["ratio"], 1.02)
        self.assertEqual({o["name"] for o in result["objects"]}, {"solver.c:20", "solver.c:21"})

    def test_it_is_written_as_it_was_read(self):
        first, second = self.folder / "1.json", self.folder / "2.json"
        self.expect(0, "profile", "-q", self.file(profile()), "-o", str(first))
        self.expect(0, "profile", "-q", str(first), "-o", str(second))
        self.assertEqual(first.read_text(), second.read_text())
        self.assertIsNone(conforms(json.loads(first.read_text()), "profile-2"))

    def test_files_of_version_1_are_read(self):
        before = {"allocated_s": "born_s", "freed_s": "died_s", "unseen_touches": "unwitnessed", "pages_bound": "pages_held"}

        def renamed(value):
            if isinstance(value, list):
                return [renamed(each) for each in value]
            if isinstance(value, dict):
                return {before.get(key, key): renamed(each) for key, each in value.items()}
            return value

        old = json.loads(json.dumps(renamed(profile(schema="nodewise/profile/1"))))
        self.assertIn("born_s", json.dumps(old))
        first, second = self.folder / "1.json", self.folder / "2.json"
        self.expect(0, "profile", "-q", self.file(old, "old.json"), "-o", str(first))
        self.expect(0, "profile", "-q", self.file(profile()), "-o", str(second))
        self.assertEqual(first.read_text(), second.read_text())

    def test_it_fits_a_screen(self):
        text = plain_on_a_terminal("profile", self.file(profile()))
        code = re.compile(r"^ {6}\S|#pragma|//")  # is to be pasted, and stays as it is
        self.assertEqual([line for line in text.splitlines() if len(line) > 80 and not code.search(line)], [])

    def test_what_was_not_looked_for_is_one_line_a_reason(self):
        def without_uses(document):
            document["programs"][0]["use_from"] = "none"
            document["evidence"]["counts"] = False
            for each in document["programs"][0]["objects"]:
                each["uses"] = []
        text = self.expect(0, "profile", "--verbose", self.file(edited(without_uses))).stdout
        self.assertEqual(text.count("uses of memory were not observed"), 1)
        self.assertRegex(text, r"unchecked +uses of memory were not observed: .*sparse matrix, .*few threads")

    def test_of_one_node_there_is_no_advice(self):
        def on_one_node(document):
            document["machine"] = MACHINE | {"nodes": MACHINE["nodes"][:1]}
            for each in document["programs"][0]["threads"]:
                each["stays"] = [{"node": 0, "samples": 9}]
        text = self.expect(0, "profile", self.file(edited(on_one_node))).stdout
        self.assertTrue(text.startswith("This machine has one node: nothing can be in the wrong place\n"), text)
        self.assertIn("solver.c:20", text)
        self.assertNotIn("unchecked", text)


class Ranks(InputTest):
    """Files of several ranks of one run, which each wrote its own."""

    def ranks(self, count, edit=lambda document, rank: None):
        """Rank k with its threads, and all that it touched, on node k / 2."""
        files = []
        for rank in range(count):
            document = profile()
            program = document["programs"][0]
            program["rank"] = rank
            program["pid"] = 100 * (rank + 1)
            edit(document, rank)
            files.append(self.file(document, f"prof-{rank}.json"))
        return files

    def test_they_are_judged_together_and_have_one_plan(self):
        plan = self.folder / "plan.json"
        files = self.ranks(2)
        result = self.expect_json(0, "profile", "--json", "--write-plan", str(plan), *files)
        self.assertIsNone(conforms(result, "advice-2"))
        self.assertEqual({o["program"] for f in result["findings"] for o in f["objects"]}, {0, 1})
        self.assertEqual(result["evidence"]["fault_samples"], 4 * PAGES)
        document = json.loads(plan.read_text())
        self.assertIsNone(conforms(document, "plan-1"))
        self.assertEqual(len(result["plans"]), 1)
        self.assertEqual(document["program"], {"name": "solver"})
        self.assertEqual([e["site"] for e in document["objects"]], ["solver.c:20", "solver.c:21"])

    def test_entries_fit_the_sizes_of_all(self):
        def larger(document, rank):
            for each in document["programs"][0]["objects"]:
                each["bytes"] = PAGES * 4096 - rank * 4096 * 1024
                each["pages"] = each["resident"] = pages = PAGES - rank * 1024
                each["where"], each["touched"] = f"0+{pages}@0", f"0+{pages}@0/0"
                each["uses"] = [f"{k * pages // 4}+{pages // 4} {k}:{pages * 1600}" for k in range(4)]
        plan = self.folder / "plan.json"
        self.expect(0, "profile", "-q", "--write-plan", str(plan), *self.ranks(2, larger))
        entries = json.loads(plan.read_text())["objects"]
        self.assertEqual({e["bytes"] for e in entries}, {">= 64K"})

    def test_a_table_of_the_ranks_comes_first(self):
        def bound(document, rank):
            document["programs"][0]["processors"] = ("0-3", "2-5")[rank]

        files = self.ranks(2, bound)
        shown = self.expect(0, "profile", *files).stdout
        rows = [line.split() for line in shown.splitlines()[:3]]
        self.assertEqual(rows, [["rank", "processors", "nodes", "threads", "local"],
                                ["0", "0-3", "0,1", "4", "50.0", "%"], ["1", "2-5", "0,1", "4", "50.0", "%"]])
        self.assertIn("ranks 0 and 1 may run on the same processors, 2-3: give", shown)
        self.assertIn("solver.c:20 (rank 1)", shown)
        result = json.loads(self.expect(0, "profile", "--json", *files).stdout)
        self.assertEqual(result["ranks"][1], {"rank": 1, "processors": "2-5", "nodes": [0, 1], "threads": 4, "remote": 0.5})
        alone = self.expect(0, "profile", files[0]).stdout
        self.assertNotIn("rank", alone)
        with open(files[0]) as kept:
            wrong = json.load(kept)
        wrong["programs"][0]["processors"] = "0-"
        self.assertIn("processors", self.expect(3, "profile", self.file(wrong, "wrong.json")).stderr)

    def test_ranks_that_differ_have_no_plan_and_it_is_said_why(self):
        def other_users(document, rank):
            if rank == 1:
                for each in document["programs"][0]["objects"]:
                    each["uses"] = [f"0+{PAGES} 3:{PAGES * 6400}"]
        plan = self.folder / "plan.json"
        done = self.expect(2, "profile", "--write-plan", str(plan), *self.ranks(2, other_users))
        self.assertRegex(done.stderr, r"one plan does not fit all ranks: rank 0 and rank 1 differ: solver\.c:2")
        self.assertIn("write a plan from each rank's file separately", done.stderr)
        self.assertFalse(plan.exists())
        self.assertIn("for rank 0 alone, because ranks need different plans", done.stdout)

    def test_what_is_no_one_run_is_refused(self):
        a, b = self.ranks(2)
        done = self.expect(2, "profile", a, a)
        self.assertIn("both are rank 0 of a host", done.stderr)
        elsewhere = self.file(edited(lambda d: d.update(machine=MACHINE | {"name": "other"})), "c.json")
        done = self.expect(2, "profile", a, b, elsewhere)
        self.assertIn("they are from different machines: two and other", done.stderr)
        self.assertEqual(done.stdout, "")
        less = MACHINE | {"nodes": MACHINE["nodes"][:1]}
        part = self.file(edited(lambda d: d.update(machine=less)), "d.json")
        self.assertIn("different parts of two", self.expect(2, "profile", a, part).stderr)

    def test_memory_that_grew_between_ranks_is_no_other_machine(self):
        a, b = self.ranks(2)
        grown = [node | {"memory_bytes": 2 * node["memory_bytes"]} for node in MACHINE["nodes"]]
        document = json.loads(Path(b).read_text()) | {"machine": MACHINE | {"nodes": grown}}
        Path(b).write_text(json.dumps(document))
        self.expect(0, "profile", "-q", "-o", str(self.folder / "grown.json"), a, b)
        kept = json.loads((self.folder / "grown.json").read_text())
        self.assertEqual([n["memory_bytes"] for n in kept["machine"]["nodes"]],
                         [n["memory_bytes"] for n in MACHINE["nodes"]])

    def test_merged_they_are_a_file_again(self):
        whole = self.folder / "all.json"
        self.expect(0, "profile", "-q", "-o", str(whole), *self.ranks(4))
        document = json.loads(whole.read_text())
        self.assertIsNone(conforms(document, "profile-2"))
        self.assertEqual([p["rank"] for p in document["programs"]], [0, 1, 2, 3])


def broken():
    def change(path, value):
        def edit(document):
            at = document
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
        return edited(edit)

    thing = ("programs", 0, "objects", 0)
    whole = json.dumps(profile())
    plan = {"schema": "nodewise/plan/1", "objects": []}
    return (
        ("", "not JSON: "),
        (whole[:len(whole) // 2], "not JSON: "),
        (whole + "]", "not JSON: "),
        ("[]", "a list instead of an object"),
        ("\x00\xff", "not JSON: "),
        (json.dumps(plan), "another kind of file"),
        (json.dumps(profile(schema="nodewise/profile/9")), "a newer version"),
        (json.dumps(profile(page_bytes=-1)), "page_bytes"),
        (json.dumps(profile(surprise=1)), "surprise"),
        (json.dumps({k: v for k, v in profile().items() if k != "machine"}), "machine"),
        (change((*thing, "where"), "0+99999@0"), "objects[0].where"),
        (change((*thing, "where"), "5+5@0 0+5@0"), "objects[0].where"),
        (change((*thing, "touched"), "0+5@9/0"), "objects[0].touched"),
        (change((*thing, "uses"), ["0+5 7:1"]), "objects[0].uses[0]"),
        (change((*thing, "uses"), ["0+5 0:1e999"]), "objects[0].uses[0]"),
        (change((*thing, "made_by"), 4), "objects[0].made_by"),
        (change((*thing, "kind"), "pile"), "objects[0].kind"),
        (change((*thing, "pages"), 1e30), "objects[0].pages"),
        (change(("programs", 0, "end"), "lost"), "programs[0].end"),
        (change(("programs",), {}), "programs"),
    )


class Broken(InputTest):
    def test_the_field_is_named(self):
        for text, complaint in broken():
            with self.subTest(complaint, text=text[:60]):
                done = self.expect(3, "profile", self.file(text))
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Anodewise: the (profile|file) \S+p\.json: .*\n    hint: .+\n\Z")
                self.assertIn(complaint, done.stderr)

    def test_cut_off_anywhere(self):
        whole = json.dumps(profile())
        for length in range(1, len(whole), len(whole) // 40):
            self.expect(3, "profile", self.file(whole[:length]))

    def test_nonsense_that_can_be_read_is_no_crash(self):
        def edits():
            yield lambda d: d.update(programs=[])
            yield lambda d: d["programs"][0].update(objects=[])
            yield lambda d: d["programs"].append(copy.deepcopy(d["programs"][0]))
            yield lambda d: d["programs"][0]["objects"][0].update(where="", touched="", touches=[], uses=[])
            yield lambda d: d["programs"][0]["objects"][0].update(where=f"0+{PAGES}@7")
            yield lambda d: [t.update(stays=[]) for t in d["programs"][0]["threads"]]
            yield lambda d: d.update(memory=[])
        for number, edit in enumerate(edits()):
            with self.subTest(number):
                result = self.expect_json(0, "profile", "--json", self.file(edited(edit)))
                self.assertIsNone(conforms(result, "advice-2"))

    def test_a_program_or_a_process_is_told_how_it_is_profiled(self):
        (self.folder / "script").write_text("#!/bin/sh\n")
        for name, cure in (("/bin/true", "nodewise profile -- /bin/true"), (f"{self.folder}/script", f"-- {self.folder}/script"),
                           ("4194304", "nodewise profile -p 4194304")):
            with self.subTest(name):
                self.assertIn(cure, self.expect(2, "profile", name).stderr)

    def test_no_such_file_and_no_file(self):
        self.assertIn("/nonexistent.json", self.expect(3, "profile", "/nonexistent.json").stderr)
        self.expect(3, "profile", "/")


class Files(InputTest):
    def test_what_could_not_be_written_is_refused_before_the_program_runs(self):
        for option in ("-o", "--write-plan"):
            with self.subTest(option):
                done = self.expect(4, "profile", option, "/nonexistent/x.json", "--", "echo", "started")
                self.assertEqual(done.stdout, "")
                self.assertIn("/nonexistent/x.json", done.stderr)

    def test_on_a_full_disk_the_advice_is_told_all_the_same(self):
        for option in ("-o", "--write-plan"):
            with self.subTest(option):
                done = self.expect(4, "profile", option, "/dev/full", self.file(profile()))
                self.assertIn("solver.c:34", done.stdout)
                self.assertIn("ENOSPC", done.stderr)

    def test_names_have_the_process(self):
        self.expect(0, "profile", "-q", self.file(profile()), "-o", str(self.folder / "x-%p.json"))
        self.assertTrue(list(self.folder.glob("x-[0-9]*.json")))

    def test_what_to_profile_is_one_thing(self):
        file = self.file(profile())
        for arguments in ((), (file, "-p", "1"), (file, "--", "true"), ("--duration", "1", "--", "true"),
                          ("-p", "1", "-p", "2")):
            with self.subTest(arguments):
                self.assertEqual(self.expect(2, "profile", *arguments).stdout, "")

    def test_help_promises_no_more_processes_than_one(self):
        said = " ".join(self.expect(0, "profile", "--help").stdout.split())
        self.assertIn("-p, --process", said)
        self.assertNotIn("several times", said.split("--process")[1].split(" --")[0])


if __name__ == "__main__":
    unittest.main()
