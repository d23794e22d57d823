// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that only pages has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag at{.name = "at",
                         .value = "SECONDS",
                         .standard = "just before the program ends",
                         .group = group::sampling,
                         .help = "with -- PROGRAM, examine it SECONDS after its start"};
inline constexpr flag watch{.name = "watch",
                            .value = "SECONDS",
                            .kind = flag_kind::optional_value,
                            .standard = "1",
                            .group = group::sampling,
                            .help = "until you press q, redraw every SECONDS"};
inline constexpr flag interval{
    .name = "interval",
    .value = "SECONDS",
    .group = group::sampling,
    .help = "take a sample every SECONDS and print it below the earlier ones; with --watch, redraw "
            "the screen every SECONDS"};
inline constexpr flag count{.name = "count",
                            .value = "N",
                            .standard = "1; with --interval or --watch, until the process ends",
                            .group = group::sampling,
                            .help = "take N samples, one second apart unless --interval or "
                                    "--watch sets the time"};
inline constexpr flag method{
    .name = "method",
    .value = "HOW",
    .choices = "auto|pagemap|move_pages|numa_maps",
    .standard = "auto",
    .group = group::sampling,
    .help = "how to query the kernel: pagemap (needs root), move_pages, numa_maps (totals only); "
            "if one is refused, the next is used; auto (begin with pagemap, but query single pages "
            "only in mappings that are on several nodes)"};
inline constexpr flag all_mappings{.name = "all",
                                   .letter = 'a',
                                   .group = group::selection,
                                   .help = "list all mappings, also those with less than 64 KiB in "
                                           "memory and those after the first 40"};
inline constexpr flag of_files{.name = "file",
                               .group = group::selection,
                               .help = "the operands are files: draw where their cached pages are, "
                                       "and who has mapped them; nothing is read"};
inline constexpr flag totals{.name = "totals",
                             .group = group::results,
                             .help = "print totals by node in MB, as numastat -p does"};
inline constexpr flag migrate{.name = "migrate",
                              .value = "FROM:TO",
                              .group = group::memory,
                              .help = "move the pages of one process from nodes FROM to nodes TO, "
                                      "as migratepages does: 0:1, 0-1:2-3; draw nothing"};

} // namespace flags

struct pages_result; // in view.hpp
/// `nodewise/pages/1`.
[[nodiscard]] std::string pages_json(const pages_result& what);
/// One row for each process and node; times in seconds since 1970.
[[nodiscard]] std::string pages_csv(const pages_result& what);
/// One exposition for each sample.
[[nodiscard]] std::string pages_openmetrics(const pages_result& what);

struct cached_files; // in files.hpp
/// `nodewise/files/1`.
[[nodiscard]] std::string files_json(const cached_files& what);

/// The forms of `--file`.
inline constexpr std::array files_forms = {form<cached_files>{&flags::json, files_json}};

inline constexpr std::array pages_forms = {
    form<pages_result>{&flags::json, pages_json},
    form<pages_result>{&flags::csv, pages_csv, form_growth::in_parts},
    form<pages_result>{&flags::openmetrics, pages_openmetrics, form_growth::anew}};

} // namespace nodewise::cli
