// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `doctor`: its options, examples and exit codes.
#pragma once

#include "cli/verbs/doctor/flags.hpp"
#include "cli/verbs/help_parts.hpp"

namespace nodewise::cli {

inline constexpr auto doctor_flags =
    join(std::array<flag_list, 2>{&flags::process, &flags::input}, flags_of<doctor_forms>(),
         std::array<flag_list, 3>{&flags::output, &flags::strict, &flags::quiet}, on_a_machine,
         every_verb);
inline constexpr std::array doctor_examples = {
    example{"nodewise doctor", "check system calls and settings, and print a fix for each problem"},
    example{"nodewise doctor --quiet && echo ready",
            "in a script: exit code 4 if a needed system call is refused"},
    example{"nodewise doctor --strict --quiet", "exit code 1 if there is a warning"},
    example{"nodewise doctor --json -o doctor-%h.json",
            "write a report for a ticket or a cluster's inventory"},
    example{"nodewise doctor -i doctor-node7.json", "show such a report"},
    example{"nodewise doctor -p 4711", "examine process 4711"},
};
inline constexpr std::array<verb_flag_text, 2> doctor_texts = {
    {{&flags::input,
      "show a report that doctor wrote, or examine a recorded machine, of which only nodes, "
      "processors and distances are known: FILE.json, FILE.xml from lstopo, sysfs:DIR, lab:NAME, "
      "NODESxCORES such as 4x2, or a synthetic description of hwloc"},
     {&flags::strict, "exit with code 1 if there is a warning"}}};
inline constexpr auto doctor_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed, "with --strict, there is a warning"},
         {exit_code::bad_input},
         {exit_code::refused,
          "the operating system refused a request, or refuses a system call that nodewise needs"}}},
    codes_of_on);

inline constexpr verb doctor_verb{
    .name = "doctor",
    .summary = "check permissions and settings that affect placement",
    .usage = "[options]",
    .description =
        "Without -p and -i, tries each system call that nodewise uses; nothing is changed. "
        "Checks the settings that affect placement, the present state of memory, and "
        "environment variables that contradict each other. Prints a fix for each problem. A "
        "value that cannot be read is \"unavailable\", never 0.",
    .flags = doctor_flags,
    .flag_texts = doctor_texts,
    .examples = doctor_examples,
    .exit_codes = doctor_codes,
    .has_page = true};

} // namespace nodewise::cli
