// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise profile` that no other verb has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag duration{.name = "duration",
                               .value = "SECONDS",
                               .standard = "until the process ends",
                               .group = group::sampling,
                               .help = "with -p, observe the process for SECONDS"};
inline constexpr flag prove{
    .name = "prove",
    .group = group::plan,
    .help = "with --on, run the program again with the plan, and with other placements that may be "
            "better, and compare the counted traffic (default)"};
inline constexpr flag no_prove{
    .name = "no-prove", .group = group::plan, .help = "with --on, do not run the program again"};
inline constexpr flag pprof{
    .name = "pprof",
    .group = group::results,
    .help = "print the remote uses and first touches by call chain and array, compressed, for "
            "pprof and viewers of flame graphs; not on a terminal",
    .is_form = true,
    .is_binary = true};
inline constexpr flag trace{.name = "trace",
                            .group = group::results,
                            .help = "print threads and arrays over time, for ui.perfetto.dev or "
                                    "chrome://tracing",
                            .is_form = true};
inline constexpr flag markdown{.name = "markdown",
                               .group = group::results,
                               .help = "print a short summary in Markdown, for a ticket",
                               .is_form = true};

} // namespace flags

struct reported_advice; // in result.hpp
/// `nodewise/advice/2`.
[[nodiscard]] std::string advice_json(const reported_advice& what);
/// A compressed file of pprof. Throws `error` (input) if neither first touches nor uses are known.
[[nodiscard]] std::string advice_pprof(const reported_advice& what);
/// In Chrome's trace event format.
[[nodiscard]] std::string advice_trace(const reported_advice& what);
/// A summary of about fifteen lines; text that comes from a program is escaped.
[[nodiscard]] std::string advice_markdown(const reported_advice& what);

inline constexpr std::array profile_forms = {
    form<reported_advice>{&flags::json, advice_json},
    form<reported_advice>{&flags::pprof, advice_pprof},
    form<reported_advice>{&flags::trace, advice_trace},
    form<reported_advice>{&flags::markdown, advice_markdown}};

} // namespace nodewise::cli
