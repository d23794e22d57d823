# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Dependencies between rooms point one way: every #include of ours is held against one table."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Who may include whom; a room may always include itself. `arithmetic` is the freestanding header
# that library and agent share, `kind` the kinds of placement, `raw` the door to the kernel without a C++ runtime, `protocol` what
# the agent writes and the launcher reads, `marker` what programs tell the lab's counter: leaves, all
# five. The counter itself is under another licence and shares nothing.
MAY_INCLUDE = {
    "arithmetic": set(),
    "kind": set(),
    "raw": set(),
    "protocol": set(),
    "marker": set(),
    "counter": set(),
    "base": {"arithmetic"},
    "sys": {"base", "raw"},
    "topology": {"base", "sys"},
    "model": {"base", "topology"},
    "place": {"base", "sys", "raw", "arithmetic", "topology", "model"},
    "bind": {"base", "sys", "topology"},
    "parallel": {"base", "sys", "topology", "place", "bind", "arithmetic"},
    "sparse": {"base", "topology", "model", "place", "bind", "arithmetic", "parallel"},
    "c": {"base", "topology", "place", "bind", "parallel", "sparse"},
    "spec": {"base", "sys", "topology"},
    "launch": {"base", "sys", "topology", "place", "bind", "spec", "plan", "placement", "kind",
               "protocol", "marker"},
    "doctor": {"base", "sys", "topology", "bind"},
    "report": {"base"},
    "drawing": {"base", "report"},
    "html": {"base", "drawing"},
    "tune": {"base", "sys", "topology", "bind", "model"},
    "survey": {"base", "topology"},
    "page_cache": {"base", "sys"},
    "measure": {"base", "sys", "topology", "place", "bind", "spec", "marker"},
    "symbols": {"base"},
    "profile": {"base", "topology", "symbols"},
    "exports": {"base", "profile"},
    "placement": {"base", "arithmetic", "kind"},
    "plan": {"base", "topology", "bind", "placement"},
    "observe": {"base", "sys", "raw", "topology", "symbols", "profile", "protocol"},
    "attribution": {"base", "topology", "symbols", "observe", "launch", "traffic", "profile", "sys",
                    "protocol"},
    "advise": {"arithmetic", "base", "topology", "bind", "model", "symbols", "profile", "plan", "placement", "kind"},
    "traffic": {"base", "symbols"},
    "agent": {"raw", "arithmetic", "kind", "protocol", "marker"},
    "the umbrella": {"parallel", "sparse"},  # for programs
    "lab": {"marker"},
    "examples": {"marker", "parallel", "sparse", "c", "the umbrella"},
    "published": {"marker", "examples"},
    "bench": {"base", "sys", "place", "parallel", "sparse", "measure", "model", "observe", "symbols", "tune"},
}
# Rooms of the command. Each may also include what its executable links; a verb includes no other.
LINKED = {"arithmetic", "base", "drawing", "exports", "html", "sys", "topology", "place", "bind", "spec", "launch", "doctor", "report", "symbols", "observe",
          "traffic", "model", "profile", "plan", "attribution", "advise", "page_cache", "measure", "placement",
          "kind", "tune", "survey"}
VERBS = {f"cli/verbs/{each.name}" for each in (ROOT / "cli/verbs").iterdir() if each.is_dir()}
IN_A_VERB = {"cli/frame", "cli/machine", "cli/start", "cli/measurements", "cli/prediction", "cli/profiles", "cli/cached", "cli/jobs", "cli/traffic", "cli/lab", "cli/help parts"}
COMMAND = {
    "cli/frame": set(),
    "cli/machine": {"cli/frame"},
    "cli/start": {"cli/frame", "cli/machine"},
    "cli/measurements": set(),
    "cli/jobs": set(),
    "cli/cached": set(),
    "cli/prediction": {"cli/frame"},
    "cli/profiles": {"cli/prediction"},
    "cli/traffic": {"cli/frame", "cli/prediction"},
    "cli/lab": {"cli/frame", "cli/machine", "cli/start", "cli/prediction", "cli/traffic"},
    "cli/help parts": {"cli/frame"},
    "cli/server": {"cli/frame"},
    "cli/manual": {"cli/frame", "cli/machine", "cli/start", "cli/verbs/measure"},  # completes names of experiments
    **{verb: IN_A_VERB for verb in VERBS},
    "cli/verbs/help": IN_A_VERB | {"cli/manual"},
    "cli": VERBS | IN_A_VERB,  # the table of the verbs, and the two executables
}
MAY_INCLUDE |= {room: LINKED | needs for room, needs in COMMAND.items()}

# The umbrella includes all public headers and belongs to no room.
UMBRELLA = "include/nodewise/nodewise.hpp"
PUBLIC = {
    "arithmetic.hpp": "arithmetic",
    "id.hpp": "base", "id_set.hpp": "base", "error.hpp": "base", "export.hpp": "base",
    "version.hpp": "base", "cache_aligned.hpp": "base", "interference.hpp": "base",
    "machine.hpp": "topology", "topology.hpp": "topology",
    "advice.hpp": "place", "allocator.hpp": "place", "array.hpp": "place", "distribution.hpp": "place",
    "memory_resource.hpp": "place", "place_objects.hpp": "place", "placement.hpp": "place",
    "region.hpp": "place", "owned_span.hpp": "place", "strip.hpp": "place",
    "affinity.hpp": "bind", "team_layout.hpp": "bind",
    "node_teams.hpp": "parallel", "objects.hpp": "parallel", "openmp.hpp": "parallel",
    "owned_loop.hpp": "parallel", "per_node.hpp": "parallel", "per_thread.hpp": "parallel",
    "read_into.hpp": "parallel", "replicated.hpp": "parallel", "roster.hpp": "parallel",
    "schedule.hpp": "parallel", "task_group.hpp": "parallel", "task_statistics.hpp": "parallel",
    "tasks.hpp": "parallel", "tbb.hpp": "parallel", "thread_map.hpp": "parallel",
    "matrix_market.hpp": "sparse", "row_partition.hpp": "sparse", "sell_matrix.hpp": "sparse", "sparse.hpp": "sparse", "sparse_input.hpp": "sparse", "sparse_matrix.hpp": "sparse", "sparse_multiply.hpp": "sparse",
    "sparse_scattered.hpp": "sparse", "triangular_matrix.hpp": "sparse",
    "detail": "parallel",  # for the headers that include them, not for programs
}
# The two bring a runtime of threads with them, which the umbrella's readers may not have.
# Old names of headers have no place under it either.
NOT_UNDER_IT = {"export.hpp", "openmp.hpp", "tbb.hpp", "detail", "roster.hpp", "interference.hpp"}
C_INTERFACE = {"include/nodewise.h", "include/nodewise/sparse.h"}
MARKER = "include/nodewise/marker.h"  # for C programs, so under no umbrella of ours
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def room_of(path):
    """The room of a source file, by its path relative to the root."""
    parts = pathlib.PurePosixPath(path).parts
    if path == MARKER:
        return "marker"
    if path in C_INTERFACE:
        return "c"
    if path.startswith("lab/counter/"):
        return "counter"
    if parts[:4] == ("include", "nodewise", "detail", "sparse"):
        return "sparse"
    if parts[:2] == ("include", "nodewise"):
        return PUBLIC[parts[2]]
    if path == "src/placement/kind.hpp":
        return "kind"
    if path == "src/sys/raw.hpp":
        return "raw"
    if path == "agent/protocol.h":
        return "protocol"
    if path == "cli/verbs/help_parts.hpp":
        return "cli/help parts"
    if parts[0] == "src":
        return parts[1]
    if parts[0] == "cli" and len(parts) > 2:
        folders = parts[1:-1]
        return "cli" if folders == ("verbs",) else "/".join(("cli", *folders))
    return parts[0]


def sources():
    for folder in ("include", "src", "cli", "agent", "lab", "examples", "published", "bench"):
        for suffix in ("*.hpp", "*.cpp", "*.h", "*.c"):
            yield from (p.relative_to(ROOT).as_posix() for p in (ROOT / folder).rglob(suffix))


def resolve(includer, name):
    """The file of ours that an #include names, or None for somebody else's."""
    if name == "nodewise/version.hpp":  # generated from cmake/version.hpp.in
        return "include/nodewise/version.hpp"
    here = (ROOT / includer).parent
    for base in (here, ROOT / "include", ROOT / "src", ROOT):
        candidate = base / name
        if candidate.is_file():
            return candidate.resolve().relative_to(ROOT).as_posix()
    return None


class Rooms(unittest.TestCase):
    def test_every_public_header_has_a_room_and_is_under_the_umbrella(self):
        names = {p.name for p in (ROOT / "include/nodewise").iterdir() if p.suffix == ".hpp"}
        self.assertEqual(names - set(PUBLIC), {"nodewise.hpp"})
        umbrella = (ROOT / UMBRELLA).read_text()
        for name in sorted(PUBLIC):
            if name not in NOT_UNDER_IT:
                self.assertIn(f"<nodewise/{name}>", umbrella)

    def test_dependencies_point_one_way(self):
        wrong = []
        edges = 0
        for path in sources():
            if path == UMBRELLA:
                continue
            room = room_of(path)
            self.assertIn(room, MAY_INCLUDE, f"{path}: a folder that is no room")
            for name in INCLUDE.findall((ROOT / path).read_text()):
                target = resolve(path, name)
                if target is None:
                    continue
                edges += 1
                other = room_of(target) if target != UMBRELLA else "the umbrella"
                if other != room and other not in MAY_INCLUDE[room]:
                    wrong.append(f"{path}: {room} may not include {target} ({other})")
        self.assertGreater(edges, 50, "the walk found too little: is the root right?")
        self.assertEqual(wrong, [])

    def test_the_table_has_no_cycle(self):
        done = set()
        while len(done) < len(MAY_INCLUDE):
            free = {r for r, needs in MAY_INCLUDE.items() if r not in done and needs <= done}
            self.assertTrue(free, f"a cycle among {set(MAY_INCLUDE) - done}")
            done |= free

    def test_hwloc_is_named_in_one_room_only(self):
        users = {room_of(p) for p in sources()
                 if p != UMBRELLA and re.search(r"#include <hwloc", (ROOT / p).read_text())}
        self.assertEqual(users, {"topology"})

    def test_memory_policy_calls_go_through_one_door(self):
        calls = re.compile(r"\bSYS_(mbind|move_pages|set_mempolicy|get_mempolicy)\b")
        users = [p for p in sources() if calls.search((ROOT / p).read_text())]
        # An example is a user's program, the lab's guest has nothing of ours: both ask the kernel.
        # A benchmark also does it without us.
        outside = ("examples/", "lab/guest/", "bench/")
        self.assertEqual([p for p in users if not p.startswith(outside)], ["src/sys/raw.hpp"])

    def test_kinds_of_placement_are_distinguished_by_their_traits(self):
        cases = re.compile(r"\bcase (placements::|placement_)?kind::")
        self.assertEqual([p for p in sources() if cases.search((ROOT / p).read_text())], [])

    def test_perf_events_are_opened_in_one_place(self):
        users = [p for p in sources() if "SYS_perf_event_open" in (ROOT / p).read_text()]
        self.assertEqual([p for p in users if not p.startswith(("lab/guest/", "bench/"))], ["src/sys/perf.cpp"])


# Code that runs inside a program of somebody else's, which may have more rights than its caller.
IN_PROGRAMS = ("agent", "include/nodewise", "src/base", "src/sys", "src/topology", "src/place", "src/bind",
               "src/parallel", "src/sparse", "src/c", "src/model")
# Reads a variable to put it back as it was.
MAY_READ_ANY = {"src/topology/hwloc_load.cpp"}
MAY_SET = {"src/topology/hwloc_load.cpp"}


class Environment(unittest.TestCase):
    """The agent and the library trust no variable that a setuid program must not trust, and set none: another
    thread may be reading."""

    def test_variables_are_read_by_secure_getenv_and_never_set(self):
        for folder in IN_PROGRAMS:
            for file in sorted((ROOT / folder).rglob("*.[ch]pp")):
                name = str(file.relative_to(ROOT))
                code = re.sub(r"//.*", "", file.read_text())
                if name not in MAY_READ_ANY:
                    self.assertNotIn("getenv(", re.findall(r"\b\w*getenv\(", code), f"{name}: secure_getenv")
                if name not in MAY_SET:
                    self.assertEqual(re.findall(r"\b(?:set|unset|put|clear)env\(", code), [], name)


if __name__ == "__main__":
    unittest.main()
