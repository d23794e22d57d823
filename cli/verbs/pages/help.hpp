// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `pages`: its options, examples and exit codes.
#pragma once

#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/pages/flags.hpp"

namespace nodewise::cli {

inline constexpr auto pages_flags =
    join(std::array<flag_list, 10>{&flags::process, &flags::of_files, &flags::all_mappings,
                                   &flags::at, &flags::watch, &flags::interval, &flags::count,
                                   &flags::method, &flags::totals, &flags::migrate},
         flags_of<pages_forms>(),
         std::array<flag_list, 3>{&flags::output, &flags::strict, &flags::quiet}, on_a_machine,
         every_verb);
inline constexpr std::array<excluded_pair, 13> pages_excludes = {
    {{&flags::watch, &flags::json},
     {&flags::csv, &flags::totals},
     {&flags::openmetrics, &flags::totals},
     {&flags::of_files, &flags::process},
     {&flags::of_files, &flags::all_mappings},
     {&flags::of_files, &flags::at},
     {&flags::of_files, &flags::watch},
     {&flags::of_files, &flags::interval},
     {&flags::of_files, &flags::count},
     {&flags::of_files, &flags::totals},
     {&flags::of_files, &flags::migrate},
     {&flags::of_files, &flags::csv},
     {&flags::of_files, &flags::openmetrics}}};
inline constexpr std::array pages_examples = {
    example{"nodewise pages 4711", "draw where the pages of process 4711 are"},
    example{"nodewise pages --watch=2 -p 4711", "redraw every two seconds"},
    example{"nodewise pages -- ./solver -n 4096",
            "start a program and examine it just before it ends"},
    example{"nodewise pages --csv --interval 1 -o pages.csv 4711 4712",
            "record how much memory two processes have on each node over time"},
    example{"nodewise pages --interval 15 -o /srv/metrics/4711.prom 4711",
            "every 15 seconds, replace a file that node_exporter reads for Prometheus"},
    example{"nodewise pages --file model.gguf", "draw on which nodes a file is cached"},
    example{"nodewise pages -p 4711 --migrate 0:1", "move the pages on node 0 to node 1"},
};
inline constexpr std::array<verb_flag_text, 3> pages_texts = {
    {{&flags::process, "examine the process PID (repeatable)"},
     {&flags::csv, "print CSV: bytes in memory, with one row per process, time and node"},
     {&flags::strict,
      "exit with code 1 if pages could not be moved, or the program ended before it was sampled"}}};
inline constexpr auto pages_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed,
          "with --strict, pages were not moved, or the program ended too early"},
         {exit_code::bad_input},
         {exit_code::refused}}},
    codes_of_program);

inline constexpr verb pages_verb{
    .name = "pages",
    .summary = "draw where the pages of a process are",
    .usage = "[options] PID... | --file FILE... | -- PROGRAM [arguments]",
    .description =
        "Draws, for each mapping, on which node its pages are, from the first page to the last. "
        "Static arrays are drawn separately, and so are allocated arrays if nodewise run placed "
        "the program. Pages that are not in memory, and the kernel's shared page of zeros, "
        "are on no node. You need root to examine processes of other users. Several processes "
        "can be given, each as PID or -p PID. Without --at, a PROGRAM is stopped for a moment "
        "just before it ends, and examined then.",
    .flags = pages_flags,
    .flag_texts = pages_texts,
    .excludes = pages_excludes,
    .takes = operands::names_or_program,
    .examples = pages_examples,
    .exit_codes = pages_codes,
    .has_page = true};

} // namespace nodewise::cli
