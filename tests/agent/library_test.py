# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the agent's library needs and what it shows: it must fit into any program."""

import os
import pathlib
import re
import subprocess
import unittest

FOLDER = pathlib.Path(os.environ["NODEWISE_BUILD"]) / "lib/nodewise"
AGENT, TRACE = FOLDER / "libnodewise-agent.so", FOLDER / "libnodewise-trace.so"
ALLOCATION = {
    "malloc", "calloc", "realloc", "reallocarray", "free", "posix_memalign", "aligned_alloc", "memalign", "valloc",
    "pvalloc", "malloc_usable_size", "mmap", "mmap64", "munmap", "mremap",
}
OPERATORS = {
    f"_Z{name}{rest}"
    for name in ("nw", "na")
    for rest in ("m", "mRKSt9nothrow_t", "mSt11align_val_t", "mSt11align_val_tRKSt9nothrow_t")
} | {
    f"_Z{name}{rest}"
    for name in ("dlPv", "daPv")
    for rest in ("", "m", "RKSt9nothrow_t", "St11align_val_t", "mSt11align_val_t", "St11align_val_tRKSt9nothrow_t")
}
THREADS = {"pthread_create", "thrd_create", "pthread_join", "thrd_join", "pthread_setaffinity_np", "sched_setaffinity"}
PROCESS = {"_exit", "_Exit", "dlclose", "syscall", "setrlimit", "setrlimit64", "prlimit", "prlimit64"}
STARTS = {
    "execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat", "posix_spawn",
    "posix_spawnp",
}
JEMALLOC = {"dallocx", "sdallocx", "sallocx", "xallocx", "rallocx"}
LOOPS = ("static", "dynamic", "guided", "runtime")
REGIONS = {
    "GOMP_parallel", "GOMP_parallel_start", "GOMP_parallel_sections", "GOMP_parallel_sections_start",
    "GOMP_parallel_reductions", "GOMP_teams_reg", "__kmpc_fork_call", "__kmpc_fork_call_if", "__kmpc_fork_teams",
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime",
} | {f"GOMP_parallel_loop_{kind}" for kind in LOOPS} | {f"GOMP_parallel_loop_{kind}_start" for kind in LOOPS} | {
    f"GOMP_parallel_loop_nonmonotonic_{kind}" for kind in ("dynamic", "guided", "runtime")
}
OUR_OWN = {
    "nodewise_agent_gives_back", "nodewise_agent_region", "nodewise_agent_region_of", "nodewise_agent_view",
    "nodewise_agent_wrote",
}
INTERPOSED = ALLOCATION | OPERATORS | THREADS | PROCESS | STARTS | JEMALLOC | REGIONS | OUR_OWN
READERS = {
    "madvise",
    "read", "pread", "pread64", "readv", "preadv", "preadv64", "recv", "recvfrom", "recvmsg", "fread", "fread_unlocked",
    "__read_chk", "__pread_chk", "__pread64_chk", "__recv_chk", "__recvfrom_chk", "__fread_chk", "__fread_unlocked_chk",
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Library(unittest.TestCase):
    def test_it_needs_the_c_library_only(self):
        for library, ours in ((AGENT, set()), (TRACE, {AGENT.name})):
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", str(library)))
            self.assertLessEqual(set(needed), {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"} | ours)

    def test_nothing_of_a_cxx_runtime_is_missing_from_it(self):
        for library in (AGENT, TRACE):
            undefined = output("nm", "-D", "--undefined-only", str(library)).split()
            self.assertEqual([name for name in undefined if name.startswith(("_Z", "__cxa_guard", "__gxx"))], [])

    def test_it_shows_what_it_interposes_and_nothing_else(self):
        for library, shown in ((AGENT, INTERPOSED), (TRACE, READERS)):
            defined = {line.split()[-1] for line in output("nm", "-D", "--defined-only", str(library)).splitlines()}
            self.assertEqual(defined, shown)


if __name__ == "__main__":
    unittest.main()
