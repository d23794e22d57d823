// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `tune`: its options, examples and exit codes.
#pragma once

#include "cli/start/flags.hpp"
#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/tune/flags.hpp"

namespace nodewise::cli {

inline constexpr auto tune_flags = join(
    std::array<flag_list, 7>{&flags::over, &flags::attempt, &flags::candidates, &flags::between,
                             &flags::plan, &flags::profiled_plan, &flags::traffic},
    std::array<flag_list, 7>{&flags::figure, &flags::figure_file, &flags::region, &flags::phase,
                             &flags::higher, &flags::equal, &flags::within},
    std::array<flag_list, 7>{&flags::most_runs, &flags::run_timeout, &flags::same_output,
                             &flags::check_command, &flags::prepare, &flags::cleanup, &flags::seed},
    std::array<flag_list, 2>{&flags::tune_log, &flags::resume}, flags_of<tune_forms>(),
    std::array<flag_list, 5>{&flags::write_plan, &flags::dry_run, &flags::output, &flags::strict,
                             &flags::quiet},
    on_a_machine, every_verb);
inline constexpr std::array<excluded_pair, 22> tune_excludes = {
    {{&flags::region, &flags::phase},
     {&flags::region, &flags::figure},
     {&flags::region, &flags::figure_file},
     {&flags::region, &flags::higher},
     {&flags::between, &flags::over},
     {&flags::between, &flags::attempt},
     {&flags::between, &flags::candidates},
     {&flags::between, &flags::plan},
     {&flags::between, &flags::profiled_plan},
     {&flags::candidates, &flags::plan},
     {&flags::candidates, &flags::profiled_plan},
     {&flags::dry_run, &flags::json},
     {&flags::dry_run, &flags::csv},
     {&flags::dry_run, &flags::output},
     {&flags::on, &flags::traffic},
     {&flags::region, &flags::traffic},
     {&flags::on, &flags::figure},
     {&flags::on, &flags::figure_file},
     {&flags::on, &flags::higher},
     {&flags::candidates, &flags::over},
     {&flags::candidates, &flags::attempt},
     {&flags::tune_log, &flags::resume}}};
inline constexpr std::array tune_examples = {
    example{"nodewise tune -- ./solver",
            "find the setting of threads, binding and memory that runs ./solver fastest"},
    example{"nodewise tune --figure 'GFlop/s: ([0-9.]+)' --higher -- ./solver",
            "compare a figure that the program prints instead of its wall time"},
    example{"nodewise tune --try '--bind close --memory blocked' --over threads -- ./solver",
            "also try a setting of your own"},
    example{"nodewise tune --on lab:westmere-2x6 -- ./solver",
            "compare the times that a model predicts for another machine, from memory traffic "
            "counted in a virtual one"},
    example{"nodewise tune -- mpirun --bind-to none -n 4 {run} ./solver",
            "try settings under an MPI launcher: nodewise run and its options replace {run}"},
    example{"nodewise tune --log solver.tune --check 'cmp out.dat ref.dat' -- ./solver",
            "keep each run in a file, and drop settings after which the check fails"},
};
inline constexpr std::array<verb_flag_text, 9> tune_texts = {
    {{.of = &flags::region,
      .help = "compare the time between NODEWISE_MARKER_START(\"NAME\") and "
              "NODEWISE_MARKER_STOP(\"NAME\") in the program",
      .group = group::figure},
     {.of = &flags::phase,
      .help = "with --on, compare the predicted time of: use (after each page was initialised), "
              "init (while it was initialised), all",
      .group = group::figure},
     {.of = &flags::plan,
      .help = "also try the plan in FILE, from `nodewise profile --write-plan FILE`",
      .group = group::settings},
     {.of = &flags::write_plan,
      .help = "write binding and placement of the best setting as a plan to FILE, for `nodewise "
              "run --plan FILE`",
      .group = group::results},
     {&flags::on, "run in a virtual machine, and compare the times that a model predicts from the "
                  "counted memory traffic: lab:NAME from `nodewise lab list`, "
                  "lab:NODESxCORES[xTHREADS] such as lab:4x2, or lab:./FILE.json"},
     {&flags::on_timeout, "stop a run's virtual machine after SECONDS, and drop its setting; 0: no "
                          "limit"},
     {&flags::dry_run, "list the settings and run nothing"},
     {&flags::strict,
      "exit with code 1 if a setting was ahead, but the runs did not show a difference"},
     {&flags::quiet, "print only the command line to use"}}};
inline constexpr auto tune_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed,
          "with --strict, a setting was ahead, but the runs did not show a difference"},
         {exit_code::bad_input,
          "the program fails as it is, prints no figure, or a file is invalid"},
         {exit_code::refused}}},
    std::array<verb_exit, 4>{{{exit_code::not_started, "nodewise failed before the program "
                                                       "started"},
                              {exit_code::not_executable},
                              {exit_code::not_found},
                              {exit_code::signal_base}}});

inline constexpr verb tune_verb{
    .name = "tune",
    .summary = "find the setting that runs a program fastest",
    .usage = "[options] -- PROGRAM [arguments]",
    .description =
        "Runs the program as it is (unchanged, in your environment) and under several settings of "
        "`nodewise run`, in random order. Settings that are probably not the best are set aside, "
        "often after one run. Then the best one and the unchanged program run again. These runs "
        "decide: tune names a faster setting (if none is faster, in at most 5 % of calls), or "
        "advises to keep what you have. Prints the command line to use. Nothing else should run on "
        "the machine meanwhile. In an MPI command line write {run} before the program; `nodewise "
        "run` and its options replace it. The launcher itself must not bind.",
    .flags = tune_flags,
    .flag_texts = tune_texts,
    .excludes = tune_excludes,
    .takes = operands::program,
    .examples = tune_examples,
    .exit_codes = tune_codes,
    .has_page = true};

} // namespace nodewise::cli
