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
    flags::memory_placement, std::array{&flags::verify, &flags::show, &flags::hardware},
    flags_of(run_forms), std::array{&flags::output, &flags::strict, &flags::dry_run, &flags::quiet},
    on_a_machine, std::array{&flags::on_no_count, &flags::on_counts}, every_verb);
inline constexpr std::array run_examples = {
    example{"nodewise run -N 0 -m 0 ./solver",
            "use only processors and memory of node 0, as with numactl"},
    example{"nodewise run --bind spread --memory blocked --verify -- ./solver -n 4096",
            "spread threads over all nodes, divide each array among them, and print where the "
            "pages are"},
    example{"nodewise run --plan solver.plan.json --verify -- ./solver -n 4096",
            "apply a plan, and print which arrays its entries match"},
    example{"nodewise run --plan solver.plan.json --threads 4 --strict ./solver",
            "apply the plan to another number of threads; with another build of the program, fail"},
    example{"nodewise run --plan-optional solver.plan.json ./solver",
            "run without the plan if the file is missing or invalid"},
    example{"nodewise run --memory interleave --dry-run ./solver",
            "print equivalent numactl and OpenMP settings and start nothing"},
    example{"nodewise run --pin S0:0-3@S1:0-3 ./solver", "pin threads, as with likwid-pin -c"},
    example{"mpirun -n 4 --bind-to none nodewise run --ranks-per node --bind close ./solver",
            "give each rank a node, and bind its threads to the node's cores"},
    example{"mpirun -n 4 nodewise run --ranks-per node --json -o run-%r.json ./solver",
            "write one result for each rank"},
    example{"nodewise run --memory blocked --verify --on lab:4x2 ./solver",
            "run in a virtual machine of 4 nodes, and print the local and remote traffic"},
    example{"nodewise run --on lab:4x2 --on-counts traffic.json -- ./solver",
            "write the counted memory traffic as JSON, by array, source line, page and node"},
};
inline constexpr std::array<verb_flag_text, 1> run_texts = {
    {{&flags::strict, "treat warnings before the start as errors; exit with code 1 if arrays or "
                      "threads are not where requested"}}};
inline constexpr auto run_codes =
    join(std::array<verb_exit, 3>{{{exit_code::check_failed,
                                    "with --strict, arrays or threads are not where requested"},
                                   {exit_code::bad_input},
                                   {exit_code::refused}}},
         codes_of_program);

inline constexpr verb run_verb{
    .name = "run",
    .summary = "start an unmodified program with its threads and memory placed",
    .usage = "[options] [--] PROGRAM [arguments] | --show | --hardware",
    .description =
        "Exit code, signals and streams are the program's own. Options with numactl's names "
        "work as in numactl, with three differences: -N stays inside the inherited affinity, "
        "--all widens it without -N and -C, too, and -b without -m prints a warning. Nodes "
        "are written 0-3, 0,2, +0 (the first allowed node), !0 (all but node 0) or all. Sizes "
        "accept the suffixes K, M, G and T (powers of 1024): 64K, 8MiB.",
    .flags = run_flags,
    .flag_texts = run_texts,
    .takes = operands::program,
    .examples = run_examples,
    .exit_codes = run_codes};

} // namespace nodewise::cli
