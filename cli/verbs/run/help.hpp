// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `run`: its options, examples and exit codes.
#pragma once

#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/run/flags.hpp"

namespace nodewise::cli {

inline constexpr auto run_flags = join(
    std::array{&flags::cpunodebind, &flags::physcpubind, &flags::all_processors, &flags::bind,
               &flags::pin, &flags::threads, &flags::main_thread, &flags::places, &flags::smt,
               &flags::ranks_per},
    flags::memory_placement,
    std::array{&flags::numa_balancing, &flags::verify, &flags::show, &flags::hardware},
    flags_of<run_forms>(),
    std::array{&flags::output, &flags::strict, &flags::dry_run, &flags::for_launcher,
               &flags::quiet},
    on_a_machine, std::array{&flags::on_slurm, &flags::on_no_count, &flags::on_counts}, every_verb);
inline constexpr std::array run_examples = {
    example{"nodewise run -N 0 -m 0 ./solver",
            "use only processors and memory of node 0, as with numactl"},
    example{"nodewise run --bind spread --memory blocked --verify -- ./solver -n 4096",
            "spread threads over all nodes, divide each array among them, and print where the "
            "pages are"},
    example{"nodewise run --plan solver.plan.json --verify -- ./solver -n 4096",
            "apply a plan, and print which arrays its entries match"},
    example{"nodewise run --plan solver.plan.json --threads 4 --strict ./solver",
            "use the plan with 4 threads; do not start if it was made for another build of the "
            "program"},
    example{"nodewise run --plan-optional solver.plan.json ./solver",
            "run without the plan if the file is missing or invalid"},
    example{"nodewise run --memory interleave --dry-run ./solver",
            "print equivalent numactl and OpenMP settings and start nothing"},
    example{"nodewise run --pin S0:0-3@S1:0-3 ./solver", "pin threads, as with likwid-pin -c"},
    example{"mpirun -n 4 --bind-to none nodewise run --ranks-per node --bind close ./solver",
            "give each rank a node or a part of one; bind its threads there"},
    example{"nodewise run --ranks-per node --bind close --for openmpi:8 --dry-run ./solver",
            "print mpirun's own options for 8 ranks on each host"},
    example{"mpirun --bind-to none nodewise run --ranks-per node -o run-%h-%r.json ./a",
            "write one result for each rank"},
    example{"nodewise run --bind close --rule 'size>=64M:blocked' ./solver",
            "divide each array of 64 MiB or more among the threads"},
    example{"nodewise run --bind close --memory blocked --on lab:4x2 ./solver",
            "run in a virtual machine of 4 nodes, and print the local and remote traffic"},
    example{"nodewise run --on lab:4x2 --on-counts traffic.json -- ./solver",
            "write the counted memory traffic as JSON, by array, source line, page and node"},
};
inline constexpr std::array<verb_flag_text, 3> run_texts = {
    {{&flags::json, "print as JSON how threads and arrays were placed, after the output of the "
                    "program; with -o, write it to FILE"},
     {&flags::output,
      "write as JSON to FILE how threads and arrays were placed; in the name, %r is the local MPI "
      "rank, %h the host, %p the process ID, %% a percent sign"},
     {&flags::strict, "do not start the program if settings contradict each other or cannot take "
                      "effect (exit code 125); at the end, exit with code 1 if arrays or threads "
                      "are not where requested"}}};
inline constexpr verb_exit run_not_started = {
    exit_code::not_started,
    "nodewise or the lab failed before the program started, or --strict did not let it start"};
inline constexpr auto run_codes =
    join(std::array<verb_exit, 4>{{run_not_started,
                                   {exit_code::check_failed,
                                    "with --strict, arrays or threads are not where requested"},
                                   {exit_code::bad_input},
                                   {exit_code::refused}}},
         codes_of_program);

inline constexpr verb run_verb{
    .name = "run",
    .summary = "start an unmodified program with its threads and memory placed",
    .usage = "[options] [--] PROGRAM [arguments] | --show | --hardware",
    .description =
        "The exit code is the program's own, except as listed below. The program gets all "
        "signals and streams. Options with numactl's names work as in numactl, with these "
        "differences. "
        "-N uses only processors of the affinity mask that nodewise inherits. --all also works "
        "without -N and -C: the program may then use all processors of its cpuset. -b without -m "
        "prints a warning. -c is likwid-pin's option, not numactl's older name of -N. --strict "
        "has another meaning. NODES is written as at -N. Sizes "
        "accept the suffixes K, M, G and T (powers of 1024): 64K, 8MiB.",
    .flags = run_flags,
    .flag_texts = run_texts,
    .takes = operands::program,
    .examples = run_examples,
    .exit_codes = run_codes,
    .has_page = true};

} // namespace nodewise::cli
