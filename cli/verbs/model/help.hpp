// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `model`: its options, examples and exit codes.
#pragma once

#include "cli/start/flags.hpp"
#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/model/flags.hpp"

namespace nodewise::cli {

inline constexpr auto model_flags =
    join(std::array<flag_list, 3>{&flags::input, &flags::set, &flags::limit},
         std::array<flag_list, 2>{&flags::phase, &flags::region},
         std::array<flag_list, 8>{&flags::kernel, &flags::elements, &flags::element_bytes,
                                  &flags::schedule, &flags::loop_shape, &flags::random_access,
                                  &flags::chunk_start, &flags::sweep},
         std::array<flag_list, 5>{&flags::cpunodebind, &flags::physcpubind, &flags::threads,
                                  &flags::bind, &flags::smt},
         std::array<flag_list, 4>{&flags::memory, &flags::stagger, &flags::model_page_size,
                                  &flags::free_memory},
         flags_of<model_forms>(), std::array<flag_list, 1>{&flags::output}, every_verb);
inline constexpr std::array model_examples = {
    example{"nodewise model --input lab:westmere-2x6 --kernel triad --memory serial",
            "predict the triad if one thread has initialised its arrays"},
    example{"nodewise model --input lab:opteron-4x2 --kernel triad --sweep threads=1,2,4,8",
            "predict the time for several numbers of threads"},
    example{"nodewise model -i lab:yuca-4x8 --kernel copy --sweep memory=serial,interleave",
            "compare two placements of the same arrays"},
    example{"nodewise model -i lab:westmere-2x6 --set shared_efficiency=0.91 --kernel triad",
            "set a figure that the machine file lacks"},
    example{"nodewise model traffic.json",
            "predict the time of traffic from `run --on lab:NAME --on-counts traffic.json`"},
    example{"nodewise model traffic.json --region sweep --json -o predicted.json",
            "predict only the traffic of the region `sweep` that the program marks, as JSON"},
};
inline constexpr auto model_memory_help = [] {
  placements::word_list made;
  made.add("place the arrays: serial (one thread touches all of them first)");
  placements::add_command_words(made, false, true);
  placements::add_command_words(made, true, true);
  return made;
}();
inline constexpr std::array<verb_flag_text, 6> model_texts = {
    {{&flags::input, flags::input.help,
      "this machine, with the figures that `nodewise measure` saved; for TRAFFIC.json, the machine "
      "in this file"},
     {&flags::phase, "with TRAFFIC.json, select traffic: use (after each page was initialised), "
                     "init (while it was initialised), all"},
     {&flags::threads, "number of threads of the loop",
      "one per core; with --smt on, one per hardware thread"},
     {&flags::bind,
      "bind threads: close (fill one node after the other), spread (evenly over all nodes)",
      "spread"},
     {&flags::smt, "use the second hardware thread of each core: off (never), on (always)"},
     {&flags::memory, model_memory_help.view(), "local"}}};
inline constexpr std::array<verb_exit, 2> model_codes = {
    {{exit_code::bad_input}, {exit_code::refused}}};

inline constexpr verb model_verb{
    .name = "model",
    .summary = "predict the time of a loop, or of traffic counted in the lab",
    .usage = "[options] TRAFFIC.json | [options] --kernel NAME",
    .description = "Predicts the time of a loop (--kernel), or of memory traffic counted in "
                   "the lab (TRAFFIC.json), from the bandwidths and latencies of a machine. "
                   "Without bandwidths it prints only ratios of times. Prints what limits the "
                   "threads, the time of the best placement, and how much the prediction "
                   "changes with each input. Runs and measures nothing. The threads of a loop "
                   "are bound.",
    .flags = model_flags,
    .flag_texts = model_texts,
    .takes = operands::names,
    .examples = model_examples,
    .exit_codes = model_codes,
    .has_page = true};

} // namespace nodewise::cli
