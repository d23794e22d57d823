// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that only tune has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace group {
inline constexpr std::string_view settings = "Settings to try";
inline constexpr std::string_view figure = "Figure to compare";
inline constexpr std::string_view runs = "Runs";
} // namespace group

namespace flags {

inline constexpr flag over{.name = "over",
                           .value = "AXES",
                           .standard = "threads,bind,memory,pages; with --on bind,memory",
                           .group = group::settings,
                           .help = "try settings that differ in these: threads, bind, memory, smt "
                                   "(hardware threads of a core), nodes (how many), pages (huge "
                                   "pages), balancing (the "
                                   "kernel's NUMA balancing, for the whole system during a run; "
                                   "root only)"};
inline constexpr flag attempt{.name = "try",
                              .value = "'OPTIONS'",
                              .kind = flag_kind::list,
                              .group = group::settings,
                              .help = "also try these options of run: --try '--threads 4 --bind "
                                      "close'; may be repeated"};
inline constexpr flag candidates{.name = "candidates",
                                 .value = "FILE",
                                 .group = group::settings,
                                 .help = "try only the settings in FILE: options of run, one "
                                         "setting on each line"};
inline constexpr flag between{
    .name = "between",
    .value = "'OPTIONS'",
    .kind = flag_kind::list,
    .group = group::settings,
    .help = "compare only two settings; give the option twice: --between '--bind close' --between "
            "'--bind spread'. An empty text is the program as it is"};
inline constexpr flag profiled_plan{
    .name = "profiled-plan",
    .value = "FILE",
    .group = group::settings,
    .help = "profile the program once, write the plan for it to FILE, and try this plan; a FILE "
            "that exists is used as it is"};
inline constexpr flag traffic{
    .name = "traffic",
    .value = "FILE",
    .group = group::settings,
    .help =
        "predict the time of each setting from the program's memory traffic, and drop hopeless "
        "ones. FILE is "
        "from `nodewise run --on lab:NAME --on-counts FILE`, with a virtual machine like this one"};
inline constexpr flag figure{.name = "figure",
                             .value = "REGEX",
                             .kind = flag_kind::list,
                             .standard = "the wall time",
                             .group = group::figure,
                             .help = "compare a number that the program prints: the first group "
                                     "of the last match, 'Solve time: ([0-9.]+)'. May be repeated: "
                                     "the first one decides, the others are shown"};
inline constexpr flag figure_file{.name = "figure-file",
                                  .value = "FILE",
                                  .standard = "standard output",
                                  .group = group::figure,
                                  .help = "look for the number in FILE, which the program writes"};
inline constexpr flag higher{
    .name = "higher", .group = group::figure, .help = "a higher figure is better, such as GFlop/s"};
inline constexpr flag equal{.name = "equal",
                            .value = "PERCENT",
                            .standard = "1",
                            .group = group::figure,
                            .help = "call two settings equal if they differ by less than this"};
inline constexpr flag within{.name = "within",
                             .value = "PERCENT",
                             .standard = "3",
                             .group = group::figure,
                             .help = "also name the setting with the fewest cores that takes at "
                                     "most this much longer than the chosen one"};
inline constexpr flag most_runs{.name = "runs",
                                .value = "N",
                                .standard = "12; with --on 8",
                                .group = group::runs,
                                .help = "run each setting at most N times, 6 to 32; most are set "
                                        "aside after one or two"};
inline constexpr flag run_timeout{.name = "timeout",
                                  .value = "SECONDS",
                                  .standard = "no limit",
                                  .group = group::runs,
                                  .help = "kill a run that takes longer, and drop its setting"};
inline constexpr flag same_output{.name = "same-output",
                                  .group = group::runs,
                                  .help =
                                      "drop a setting if the program's standard output, printed "
                                      "times included, differs from that of the first run"};
inline constexpr flag check_command{.name = "check",
                                    .value = "COMMAND",
                                    .group = group::runs,
                                    .help = "drop a setting if this shell command fails after a "
                                            "run; not timed"};
inline constexpr flag prepare{.name = "prepare",
                              .value = "COMMAND",
                              .group = group::runs,
                              .help = "run this shell command before each run; not timed"};
inline constexpr flag cleanup{.name = "cleanup",
                              .value = "COMMAND",
                              .group = group::runs,
                              .help = "run this shell command after each run; not timed"};
inline constexpr flag seed{.name = "seed",
                           .value = "N",
                           .standard = "from the clock",
                           .group = group::runs,
                           .help = "number that determines the random order of runs"};
inline constexpr flag tune_log{.name = "log",
                               .value = "FILE",
                               .group = group::results,
                               .help = "write each run to FILE when it ends, so that tune can be "
                                       "resumed"};
inline constexpr flag resume{.name = "resume",
                             .value = "FILE",
                             .group = group::results,
                             .help = "go on with the interrupted tune of --log FILE, and add to "
                                     "FILE; repeat its program and other options"};

} // namespace flags

struct tuned; // in view.hpp
/// `nodewise/tune/1`.
[[nodiscard]] std::string tune_json(const tuned& what);

/// One row for each figure of each setting.
[[nodiscard]] std::string tune_csv(const tuned& what);

inline constexpr std::array tune_forms = {form<tuned>{&flags::json, tune_json},
                                          form<tuned>{&flags::csv, tune_csv}};

} // namespace nodewise::cli
