// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `profile`: its options, examples and exit codes.
#pragma once

#include "cli/start/flags.hpp"
#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/profile/flags.hpp"

namespace nodewise::cli {

inline constexpr auto profile_flags = join(
    std::array{&flags::process, &flags::duration, &flags::compare},
    std::array{&flags::write_plan, &flags::prove, &flags::no_prove, &flags::verbose, &flags::input},
    std::array{&flags::cpunodebind, &flags::physcpubind, &flags::bind, &flags::pin, &flags::threads,
               &flags::main_thread, &flags::places, &flags::ranks_per},
    flags_of<profile_forms>(), std::array{&flags::output, &flags::strict, &flags::quiet},
    on_a_machine, every_verb);
inline constexpr std::array profile_examples = {
    example{"nodewise profile -- ./solver -n 4096",
            "print misplaced arrays, the line that touched them first, and how to fix them"},
    example{"nodewise profile --write-plan solver.plan.json -- ./solver -n 4096",
            "write the fix as a plan; apply it by nodewise run --plan solver.plan.json -- ./solver "
            "-n 4096"},
    example{"nodewise profile --on lab:4x2 -- ./solver",
            "profile in a virtual machine of 4 nodes, with exact counts of the cache lines that "
            "each thread fetches"},
    example{"nodewise profile --bind close -o before.json -- ./solver",
            "bind the threads and save the profile"},
    example{"nodewise profile --compare before.json after.json", "compare two saved profiles"},
    example{"nodewise profile before.json --pprof > remote.pb.gz",
            "write a file for pprof: which code causes remote traffic, and to which array"},
    example{"nodewise profile before.json --input lab:yuca-4x8",
            "predict the gains of a saved profile on another machine"},
    example{"nodewise profile -p 4711 --duration 10", "observe a running process for 10 s"},
    example{"mpirun --bind-to none nodewise profile --ranks-per node -o prof-%r.json -- ./a",
            "profile ranks of one host; nodewise profile prof-*.json shows them all"},
};
inline constexpr std::array<verb_flag_text, 7> profile_texts = {
    {{&flags::process, "observe the running process PID"},
     {&flags::compare, "compare two saved profiles and print what changed"},
     {&flags::input,
      "predict gains with the bandwidths and latencies of another machine: FILE.json, FILE.xml "
      "from lstopo, sysfs:DIR, lab:NAME, NODESxCORES such as 4x2, or a synthetic description of "
      "hwloc",
      "the machine of the profile"},
     {&flags::threads, flags::threads.help,
      "OMP_NUM_THREADS, else one per core; with --pin, one per entry"},
     {&flags::json, "print the findings as JSON, also with -o"},
     {&flags::output,
      "save the recorded profile (not the findings) as JSON in FILE, for `nodewise profile FILE`; "
      "with --compare, save the comparison; in the name, %r is the local MPI rank, %h the host, %p "
      "the process ID, %% a percent sign"},
     {&flags::strict,
      "exit with code 4 if the kernel refuses to sample page faults (perf_event_open)"}}};
inline constexpr auto profile_codes = join(
    std::array<verb_exit, 2>{{{exit_code::bad_input}, {exit_code::refused}}}, codes_of_program);

inline constexpr verb profile_verb{
    .name = "profile",
    .summary = "find misplaced arrays, their first touch, and the fix",
    .usage = "[options] -- PROGRAM [arguments] | -p PID | FILE.json...",
    .description =
        "Runs an unmodified program and samples page faults to find which thread and source "
        "line touched pages of each array first (needs kernel.perf_event_paranoid 2 or less), and "
        "which threads use them later (needs kernel.numa_balancing 1). With --on, it needs neither "
        "and counts from which memory each cache line was fetched. Needs neither root "
        "nor hardware counters. For each problem it prints a fix and the gain that a model "
        "predicts. It also lists missing evidence. With -p it observes a running process. "
        "FILE.json is a profile saved by -o: one FILE is analysed again; several FILEs are "
        "analysed together, as the ranks of one MPI run; with --compare, two FILEs are compared.",
    .flags = profile_flags,
    .flag_texts = profile_texts,
    .takes = operands::names_or_program,
    .examples = profile_examples,
    .exit_codes = profile_codes,
    .has_page = true};

} // namespace nodewise::cli
