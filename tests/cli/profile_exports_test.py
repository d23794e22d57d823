# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise profile` for other tools: files for pprof, traces, Markdown. Their numbers are those of its JSON."""

import json
import subprocess
import unittest

from command import COMMAND, conforms, environment, on_a_terminal
from pprof_message import Decoded
from profile_input_test import MACHINE, PAGES, InputTest, array, profile

MACHINE_WITH_FIGURES = MACHINE | {"parameters": [
    {"name": "bandwidth", "from": a, "to": b, "value": 40 if a == b else 10, "unit": "GB/s", "source": "assumed"}
    for a in (0, 1) for b in (0, 1)]}
# A text that must stay a text: no markup, second line, colour, change of direction, link, or name of a person.
HOSTILE = "x\"y'\n\r\x1b[31m<script>alert(1)<b>``` | @all #1 $(id) \\ [a](b:c) **z** &lt; \u202e \x7f \u00e9"
PLAIN = "plain"


def used_array(number, line):
    """As `array`, with the code of all its uses: two places, one of which makes three quarters of them."""
    made = array(number, line)
    all_of_it = PAGES * 6400
    sweep = {"module": "solver", "offset": "0x1400", "function": "sweep", "file": "/src/solver.c", "line": 40}
    norm = {"module": "libnorm.so", "offset": "0x77", "function": "norm", "file": "/src/norm.c", "line": 7}
    return made | {"used_at": [{"amount": all_of_it * 3 / 4, "where": sweep}, {"amount": all_of_it / 4, "where": norm}],
                   "made_at": [{"module": "libnodewise-agent.so", "offset": "0x10"},
                               {"module": "solver", "offset": "0x2100", "function": "inner", "file": "/src/solver.c",
                                "line": line, "inlined": True},
                               {"module": "solver", "offset": "0x2100", "function": "make", "file": "/src/solver.c",
                                "line": 60},
                               {"module": "solver", "offset": "0x2200", "function": "main", "file": "/src/solver.c",
                                "line": 80}]}


def counted(name="solver", machine=MACHINE):
    """Two arrays on node 0, each used by two threads of node 0 and two of node 1."""
    document = profile(machine=machine)
    program = document["programs"][0]
    program |= {"name": name, "file": f"/bin/{name}", "build_id": "ab12", "began_s": 0.25, "ended_s": 9.25,
                "libraries": [{"name": "libnorm.so", "build_id": "cd34"}], "objects": [used_array(0, 20), used_array(1, 21)]}
    program["objects"][1]["freed_s"] = 5
    program["threads"][1] |= {"began_s": 0.5, "ended_s": 8}
    return document


def in_time():
    document = sampled()
    program = document["programs"][0]
    program |= {"interval_s": 0.5, "uses_in_time": ["3+1 0/0:51,1/0:7,1/-:2"]}
    program["threads"][1]["seen"] = "0+4@0 4+20@1"
    return document


def sampled():
    document = counted()
    document["programs"][0] |= {"use_from": "hinting faults", "use_unit_bytes": 0}
    document["evidence"] |= {"counts": False, "hinting": True, "hinting_samples": 99}
    return document


def unused():
    """Only first touches are known."""
    document = counted()
    for each in document["programs"][0]["objects"]:
        each |= {"uses": [], "used_at": []}
    document["programs"][0] |= {"use_from": "none"}
    document["evidence"] |= {"counts": False}
    return document


def two_programs():
    document = counted()
    second = json.loads(json.dumps(document["programs"][0])) | {"pid": 100, "name": "second", "file": "/bin/second"}
    second["objects"][0]["where"] = f"0+{PAGES // 2}@1 {PAGES // 2}+{PAGES // 2}@-"
    second["objects"][0]["uses"] = [f"0+{PAGES} 0:1000.4,3:7.3"]
    document["programs"].append(second)
    return document


def named(name):
    """Everything that a program may name has this name."""
    document = counted(name)
    document["command"] = [f"./{name}", name]
    document["evidence"]["missing"] = [name + "@@1# www.a.b http://c"]
    program = document["programs"][0]
    for each in program["threads"]:
        each["name"] = name
    program["libraries"][0]["name"] = name + ".so"
    for thing in program["objects"]:
        for frame in [*thing["made_at"][1:], *(t["where"][0] for t in thing["touches"]),
                      *(u["where"] for u in thing["used_at"])]:
            frame |= {"function": name + "()", "file": f"/src/{name}.c"}
            frame["module"] = name if frame["module"] == "solver" else name + ".so"
    program["objects"].append(array(2, 30) | {"kind": "static", "name": name, "made_at": []})
    return document


class ExportsTest(InputTest):
    def written(self, document, form, name="p.json"):
        """The bytes of a form."""
        done = subprocess.run([COMMAND, "profile", self.file(document, name), form], capture_output=True, check=False,
                              env=environment())
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def as_json(self, document):
        return json.loads(self.written(document, "--json"))


class Pprof(ExportsTest):
    def pprof(self, document):
        return Decoded(self.written(document, "--pprof"))

    def test_sums_are_those_of_json(self):
        for document, kind in ((counted(), "remote_lines"), (sampled(), "remote_samples"), (two_programs(), "remote_lines"),
                               (unused(), None)):
            with self.subTest(kind):
                decoded = self.pprof(document)
                expected = {}
                for each in self.as_json(document)["objects"]:
                    remote = 0 if each["remote"] == "unavailable" else each["remote"]
                    self.assertNotEqual(kind is None, remote > 0)
                    expected[each["name"]] = expected.get(each["name"], 0) + remote * self.located(document, each)
                found = decoded.sums(kind, "array")
                for name, amount in expected.items():
                    self.assertAlmostEqual(found.get(name, 0), amount, delta=len(document["programs"]))
                self.assertEqual(set(found), {name for name, amount in expected.items() if amount})
                self.assertEqual(sum(decoded.sums("first_touched_pages", "program").values()),
                                 sum(t["pages"] for p in document["programs"] for o in p["objects"] for t in o["touches"]))
                self.assertEqual([name for name, _ in decoded.types], [*filter(None, [kind]), "first_touched_pages"])
                self.assertEqual(decoded.standard, decoded.types[0][0])

    def located(self, document, site):
        """What was used of an array on pages of known nodes: `remote` is a share of that."""
        used = 0
        for program in document["programs"]:
            if program["name"] != site["program"]:
                continue
            for thing in program["objects"]:
                if thing["made_at"][1]["line"] == int(site["name"].split(":")[1]):
                    known = sum(int(run.split("+")[1].split("@")[0]) for run in thing["where"].split()
                                if not run.endswith("-")) / PAGES
                    used += known * sum(float(u.split(":")[1]) for run in thing["uses"] for u in run.split(" ")[1].split(","))
        return used

    def test_from_the_root_the_allocation_the_array_and_the_code_that_uses_it(self):
        decoded = self.pprof(counted())
        stack, values, labels = next(s for s in decoded.samples if s[1]["remote_lines"])
        self.assertEqual([(name, line) for name, _, line in stack],
                         [("sweep", 40), ("array solver.c:20", 20), ("inner", 20), ("make", 60), ("main", 80)])
        self.assertEqual(labels, {"program": "solver", "array": "solver.c:20", "thread": "102 solver", "thread_node": "1",
                                  "memory_node": "0", "code": "divided by use"})
        self.assertEqual(values["remote_lines"], PAGES // 4 * 6400 * 3 // 4)
        stack, _, labels = next(s for s in decoded.samples if s[1]["first_touched_pages"])
        self.assertEqual([name for name, *_ in stack], ["array solver.c:20", "fill"])
        self.assertEqual((labels["touched_by"], labels["thread_node"]), ("code", "0"))

    def test_binaries_have_their_builds_and_places_their_addresses(self):
        decoded = self.pprof(counted())
        self.assertEqual(list(decoded.mappings.values()), [("/bin/solver", "ab12"), ("libnorm.so", "cd34")])
        for address in (0x1400, 0x2100 - 1, 0x2200 - 1):  # of callers, the call
            self.assertIn(("/bin/solver", address), decoded.addresses)
        self.assertIn(("libnorm.so", 0x77), decoded.addresses)

    def test_without_the_code_or_without_all_of_it(self):
        document = counted()
        first, second = document["programs"][0]["objects"]
        first["used_at"] = []
        second["used_at"] = second["used_at"][:1]
        found = {}
        for stack, values, labels in self.pprof(document).samples:
            if values["remote_lines"]:
                key = labels["array"], stack[0][0], labels["code"]
                found[key] = found.get(key, 0) + values["remote_lines"]
        half = PAGES * 6400 // 2
        self.assertEqual(found, {("solver.c:20", "array solver.c:20", "unknown"): half,
                                 ("solver.c:21", "sweep", "divided by use"): half * 3 // 4,
                                 ("solver.c:21", "array solver.c:21", "divided by use"): half // 4})

    def test_a_predicted_wait_is_there_only_with_the_machines_figures(self):
        self.assertNotIn("predicted_wait", dict(self.pprof(counted()).types))
        document = counted(machine=MACHINE_WITH_FIGURES)
        decoded = self.pprof(document)
        self.assertEqual(dict(decoded.types)["predicted_wait"], "nanoseconds")
        self.assertTrue(any("predicted by a model, not measured" in each for each in decoded.comments))
        wait = sum(decoded.sums("predicted_wait", "program").values())
        before = self.as_json(document)["plans"][0]["before"]["seconds"]
        self.assertTrue(0 < wait < before * 1e9, (wait, before))
        for _, values, _ in decoded.samples:
            self.assertEqual(values["predicted_wait"] > 0, values["remote_lines"] > 0)

    def test_where_nothing_was_seen_there_is_no_file(self):
        document = unused()
        for each in document["programs"][0]["objects"]:
            each["touches"] = []
        done = self.expect(3, "profile", self.file(document), "--pprof")
        self.assertEqual(done.stdout, "")
        self.assertIn("neither first touches nor uses", done.stderr)

    def test_the_same_profile_gives_the_same_bytes(self):
        first = self.written(counted(), "--pprof")
        self.assertEqual(first, self.written(counted(), "--pprof"))
        self.assertEqual(first, self.written(counted(), "--export=pprof"))

    def test_a_terminal_does_not_get_it(self):
        for option in ("--pprof", "--export=pprof"):
            text = on_a_terminal("profile", self.file(counted()), option).decode()
            self.assertIn("--pprof on a terminal", text)
            self.assertIn("> FILE", text)

    def test_a_comparison_has_no_such_form(self):
        file = self.file(counted())
        for form in ("--pprof", "--trace", "--markdown"):
            self.assertIn("does not have that form", self.expect(2, "profile", "--compare", file, file, form).stderr)

    def test_a_hostile_name_changes_only_its_own_text(self):
        plain, hostile = self.pprof(named(PLAIN)), self.pprof(named(HOSTILE))
        for control in "\n\r\x1b\x7f\u202e":
            self.assertFalse([each for each in hostile.message.string_table if control in each])
        escaped = next(labels["program"] for _, _, labels in hostile.samples)
        mapped = json.loads(json.dumps(hostile.samples).replace(json.dumps(escaped)[1:-1], PLAIN))
        self.assertEqual(mapped, json.loads(json.dumps(plain.samples)))


class Trace(ExportsTest):
    # Required members by phase, of the format's description ("Trace Event Format").
    MEMBERS = {"M": {"name", "pid", "args"}, "X": {"name", "pid", "tid", "ts", "dur"}, "B": {"name", "pid", "tid", "ts"},
               "b": {"name", "cat", "id", "pid", "ts"}, "e": {"name", "cat", "id", "pid", "ts"},
               "C": {"name", "pid", "ts", "args"}}

    def trace(self, document):
        return json.loads(self.written(document, "--trace"))

    def events(self, document, phase):
        return [each for each in self.trace(document)["traceEvents"] if each["ph"] == phase]

    def test_events_have_the_members_of_the_format(self):
        for document in (counted(), sampled(), unused(), two_programs(), profile(), named(HOSTILE)):
            trace = self.trace(document)
            self.assertEqual(trace["displayTimeUnit"], "ms")
            self.assertGreater(len(trace["traceEvents"]), 5)
            tracks = set()
            for each in trace["traceEvents"]:
                self.assertLessEqual(self.MEMBERS[each["ph"]], set(each))
                if each["ph"] == "M":
                    self.assertIn(each["name"], ("process_name", "thread_name"))
                    self.assertIsInstance(each["args"]["name"], str)
                else:
                    self.assertGreaterEqual(each["ts"], 0)
                if each["ph"] == "C":
                    self.assertTrue(all(isinstance(value, int) and value >= 0 for value in each["args"].values()))
                if each["ph"] in "XB" and each.get("cat") != "node":  # stays are inside the span of their thread
                    self.assertNotIn((each["pid"], each["tid"]), tracks)
                    tracks.add((each["pid"], each["tid"]))
            begun = [each["id"] for each in trace["traceEvents"] if each["ph"] == "b"]
            ended = [each["id"] for each in trace["traceEvents"] if each["ph"] == "e"]
            self.assertEqual((sorted(begun), len(set(begun))), (sorted(ended), len(begun)))

    def test_spans_are_those_of_the_profile(self):
        document = counted()
        spans = self.events(document, "X")
        run, threads = spans[0], spans[1:]
        self.assertEqual((run["name"], run["ts"], run["dur"]), ("solver", 0.25e6, 9e6))
        self.assertEqual([each["args"]["stays"] for each in threads], [t["stays"] for t in document["programs"][0]["threads"]])
        self.assertEqual([each["name"] for each in threads], ["node 0", "node 0", "node 1", "node 1"])
        self.assertEqual((threads[1]["ts"], threads[1]["dur"]), (0.75e6, 7.5e6))
        self.assertEqual((threads[2]["ts"], threads[2]["dur"]), (0.25e6, 9e6))

    def test_stays_are_spans_inside_that_of_their_thread(self):
        document = in_time()
        self.assertIsNone(conforms(document, "profile-2"))
        events = self.trace(document)["traceEvents"]
        threads = [each for each in events if each.get("cat") == "thread"]
        stays = [each for each in events if each.get("cat") == "node"]
        # Intervals of 0.5 s; the run is from 0.25 s to 9.25 s, and thread 1 from 0.75 s to 8.25 s.
        self.assertEqual([(each["tid"], each["name"], each["ts"], each["dur"]) for each in stays],
                         [(threads[1]["tid"], "node 0", 0.75e6, 1.25e6), (threads[1]["tid"], "node 1", 2e6, 6.25e6)])
        self.assertEqual([(each["ts"], each["args"]) for each in events if each["name"] == "sampled accesses"],
                         [(1.5e6, {"local": 51, "remote": 7, "unknown": 2})])

    def test_an_unknown_end_is_not_invented(self):
        spans = self.events(profile(), "B")
        self.assertEqual(len(spans), 5)
        self.assertEqual(self.events(profile(), "X"), [])

    def test_arrays_live_and_their_bytes_are_those_of_the_profile(self):
        document = counted()
        begun = self.events(document, "b")
        self.assertEqual([(each["name"], each["args"]["bytes_by_node"]) for each in begun],
                         [("solver.c:20", {"node 0": PAGES * 4096}), ("solver.c:21", {"node 0": PAGES * 4096})])
        self.assertEqual([(each["ts"], each["args"]["node 0"]) for each in self.events(document, "C")],
                         [(0.35e6, 2 * PAGES * 4096), (5.25e6, PAGES * 4096), (9.25e6, 0)])

    def test_an_array_without_times_is_counted_and_left_out(self):
        document = counted()
        document["programs"][0]["objects"][1] |= {"allocated_s": 0, "freed_s": 0}
        trace = self.trace(document)
        self.assertEqual(trace["otherData"]["arrays_without_times"], 1)
        self.assertEqual(sum(each["ph"] == "b" for each in trace["traceEvents"]), 1)

    def test_a_hostile_name_changes_only_its_own_text(self):
        def renamed(value):
            if isinstance(value, list):
                return [renamed(each) for each in value]
            if isinstance(value, dict):
                return {key: renamed(each) for key, each in value.items()}
            return value.replace(HOSTILE, PLAIN) if isinstance(value, str) else value

        self.assertEqual(renamed(self.trace(named(HOSTILE))), self.trace(named(PLAIN)))
        self.assertNotIn(b"\x1b", self.written(named(HOSTILE), "--trace"))


class Markdown(ExportsTest):
    def markdown(self, document):
        return self.written(document, "--markdown").decode()

    def test_a_ticket_says_what_to_know_and_what_to_type(self):
        document = counted(machine=MACHINE_WITH_FIGURES)
        text = self.markdown(document)
        gain = self.as_json(document)["plans"][0]["gain"]["ratio"]
        for part in ("**Nodewise: ", "`solver`", "`solver.c:20`", "`solver.c:34`", " by 4 threads on nodes 0, 1",
                     "Predicted gain of the fix, by a model (nothing was timed)", f"{gain:.2f}x", "    nodewise run --plan plan.json --verify -- ./solver",
                     "Machine: `two`, 2 nodes", "memory traffic counted"):
            self.assertIn(part, text)
        self.assertTrue(8 <= len(text.splitlines()) <= 24, text)

    def test_without_a_finding(self):
        document = counted()
        for each in document["programs"][0]["objects"]:
            each |= {"where": f"0+{PAGES // 2}@0 {PAGES // 2}+{PAGES // 2}@1"}
        text = self.markdown(document)
        self.assertIn("**Nodewise: no finding in `solver`**", text)
        self.assertNotIn("nodewise run", text)

    def test_a_hostile_name_changes_only_its_own_text(self):
        plain, hostile = self.markdown(named(PLAIN)), self.markdown(named(HOSTILE))
        for control in "\r\x1b\x7f\u202e":
            self.assertNotIn(control, hostile)
        self.assertEqual(len(plain.splitlines()), len(hostile.splitlines()))
        for old, new in zip(plain.splitlines(), hostile.splitlines()):
            if PLAIN not in old:
                self.assertEqual(old, new)
            elif not old.startswith("    nodewise "):  # in a block of code, where all is text
                self.assertNotIn("<script>", self.without_code(new))
                for link in ("@all", "@1", "#1", "www.", "http:", " :"):
                    self.assertNotIn(link, self.without_code(new))

    def without_code(self, line):
        """The line without its code: from a row of backticks to the next row of the same length."""
        rest, kept = line.replace("\\`", ""), ""
        while "`" in rest:
            before, _, after = rest.partition("`")
            length = 1 + len(after) - len(after.lstrip("`"))
            after = after.lstrip("`")
            kept += before
            end = 0
            while True:
                end = after.index("`", end)
                row = len(after[end:]) - len(after[end:].lstrip("`"))
                if row == length:
                    break
                end += row
            rest = after[end + length:]
        return kept + rest


if __name__ == "__main__":
    unittest.main()
