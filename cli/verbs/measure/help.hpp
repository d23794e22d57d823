// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `measure`: its options, examples and exit codes.
#pragma once

#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/measure/flags.hpp"

namespace nodewise::cli {

inline constexpr auto measure_flags =
    join(std::array<flag_list, 9>{&flags::full, &flags::only, &flags::measured_kernel,
                                  &flags::workgroup, &flags::point_time, &flags::buffer_size,
                                  &flags::buffer_pages, &flags::compare, &flags::weights},
         std::array<flag_list, 1>{&flags::no_keep}, flags_of<measure_forms>(),
         std::array<flag_list, 3>{&flags::output, &flags::strict, &flags::quiet}, on_a_machine,
         every_verb);
inline constexpr std::array<std::string_view, 1> measure_aliases = {"bench"};
inline constexpr std::array measure_examples = {
    example{"nodewise measure", "measure bandwidths and latencies between all nodes in about 30 s"},
    example{"nodewise measure --full -o today.json", "run all experiments and save them as JSON"},
    example{"nodewise measure --compare last-week.json", "measure again and print what changed"},
    example{"nodewise measure --compare old.json new.json", "compare two saved measurements"},
    example{"nodewise measure --only latency,loaded-latency --time 5",
            "run two experiments, with more time for each figure"},
    example{"nodewise measure -t triad,triad_nt --size 2G",
            "measure two loops; bytes are counted as in STREAM (without write-allocate)"},
    example{"nodewise measure -t triad -w S0:1GB:2:1:2-0:S1,1:S1",
            "as likwid-bench: two threads on socket 0, two arrays in the memory of socket 1"},
    example{"nodewise measure today.json --picture",
            "draw a saved measurement in the terminal (Kitty, iTerm2, Sixel)"},
    example{"nodewise measure today.json --weights",
            "print the kernel's interleaving weights for a saved measurement"},
};
inline constexpr std::array<verb_flag_text, 2> measure_texts = {
    {{&flags::compare, "compare a new measurement with OLD.json, or NEW.json with OLD.json, and "
                       "print what changed; -o writes the newer result; not with --json"},
     {&flags::strict, "exit with code 1 if a figure is unavailable"}}};
inline constexpr auto measure_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed,
          "a loop computed a wrong result, or with --strict, a figure is unavailable"},
         {exit_code::bad_input},
         {exit_code::refused}}},
    codes_of_on);

inline constexpr verb measure_verb{
    .name = "measure",
    .aliases = measure_aliases,
    .summary = "measure bandwidth and latency from every node to every memory",
    .usage = "[options] [FILE.json] | --compare OLD.json [NEW.json]",
    .description =
        "Measures values, called figures here: bandwidth and latency from the processors of "
        "each node to each memory, the bandwidth of each memory when all processors use it, "
        "STREAM's loops, and the speed of first touch; --full adds the other experiments of "
        "--only. Prints the median of each figure with its 95 % confidence interval, and marks "
        "figures that other programs disturbed. If all bandwidths and latencies of the whole "
        "machine were measured with the default --size and --pages, the result is saved, and "
        "topo, doctor, model and run --memory weighted:auto use it. FILE.json is a result saved "
        "by -o: it is shown again. Ctrl-C stops and prints what has been measured.",
    .flags = measure_flags,
    .flag_texts = measure_texts,
    .excludes = picture_excludes,
    .takes = operands::names,
    .examples = measure_examples,
    .exit_codes = measure_codes,
    .has_page = true};

} // namespace nodewise::cli
