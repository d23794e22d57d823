// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `survey`: its options, examples and exit codes.
#pragma once

#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/survey/flags.hpp"

namespace nodewise::cli {

inline constexpr auto survey_flags =
    join(std::array<flag_list, 4>{&flags::records, &flags::lines, &flags::job, &flags::expect},
         flags_of<survey_forms>(),
         std::array<flag_list, 3>{&flags::output, &flags::strict, &flags::quiet}, on_a_machine,
         every_verb);
inline constexpr std::array<excluded_pair, 1> survey_excludes = {
    {{&flags::records, &flags::lines}}};
inline constexpr std::array survey_examples = {
    example{"mpirun -n 64 nodewise survey -- ./solver",
            "run a job, and show where its ranks, threads and pages were"},
    example{"srun nodewise survey --lines -- ./solver > job.out",
            "the same where hosts share no file system: the records are in the output"},
    example{"nodewise survey --expect hosts=2,ranks-per-host=4 job.out",
            "exit code 1 if the ranks are not four on each of two hosts"},
    example{"nodewise survey job.out", "show the job whose records are in this output"},
    example{"nodewise survey --strict --json nodewise-survey-4711.0",
            "for scripts: the job as JSON, and exit code 1 if something is wrong"},
};
inline constexpr std::array<verb_flag_text, 1> survey_texts = {
    {{&flags::strict,
      "exit with code 1 if something is wrong with the job, or a record is missing; "
      "with -- PROGRAM, if the program itself ended with 0"}}};
inline constexpr auto survey_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed,
          "with --strict, something is wrong with the job; with --expect, it has other counts"},
         {exit_code::bad_input, "there is no record, or the records belong to several jobs"},
         {exit_code::refused}}},
    codes_of_program);

inline constexpr verb survey_verb{
    .name = "survey",
    .summary = "show where all ranks, threads and pages of an MPI job were",
    .usage = "[options] -- PROGRAM [arguments] | [options] DIR|FILE...",
    .description =
        "Started by an MPI launcher in front of the program, survey runs the program unchanged and "
        "writes one record for each rank: its host, the processors that the launcher gave it, "
        "where its threads ran and where the pages of its large arrays were. The rank that ends "
        "last shows the whole job if all records are in one folder: first what is wrong, with the "
        "line that fixes it for the launcher in use, then the hosts, where those with the same "
        "picture are one. With folders or files, survey shows the job whose records they hold.",
    .flags = survey_flags,
    .flag_texts = survey_texts,
    .excludes = survey_excludes,
    .takes = operands::names_or_program,
    .examples = survey_examples,
    .exit_codes = survey_codes};

} // namespace nodewise::cli
