// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that only survey has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag records{
    .name = "records",
    .value = "DIR",
    .standard = "nodewise-survey, with the launcher's name of the job",
    .group = group::results,
    .help = "with -- PROGRAM, write the record of this rank to DIR, which all hosts should share"};
inline constexpr flag lines{
    .name = "lines",
    .group = group::results,
    .help = "with -- PROGRAM, print the record on standard output instead, in lines that survey "
            "finds among those of the program; for hosts without a shared file system"};
inline constexpr flag job{.name = "job",
                          .value = "NAME",
                          .group = group::selection,
                          .help = "show this job if the records belong to several"};

inline constexpr flag expect{
    .name = "expect",
    .value = "COUNTS",
    .group = group::selection,
    .help = "exit with code 1 if the job has other counts: hosts=N, ranks=N, ranks-per-host=N, "
            "threads=N (of each rank), joined by commas"};

} // namespace flags

struct surveyed_job; // in view.hpp
/// `nodewise/survey/1`.
[[nodiscard]] std::string survey_json(const surveyed_job& what);

inline constexpr std::array survey_forms = {form<surveyed_job>{&flags::json, survey_json}};

} // namespace nodewise::cli
