// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What an option is, and the options of several verbs; those of one verb are in
// verbs/NAME/flags.hpp. Each verb lists the options it accepts (verbs/NAME/help.hpp), and code
// queries an invocation by the same constants, so a misspelt option does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace nodewise::cli {

namespace group {
inline constexpr std::string_view common = "Common options";
inline constexpr std::string_view virtual_machine = "Virtual machine";
inline constexpr std::string_view input = "Machine";
inline constexpr std::string_view binding = "Threads";
inline constexpr std::string_view memory = "Memory";
inline constexpr std::string_view selection = "Selection";
inline constexpr std::string_view sampling = "Sampling";
inline constexpr std::string_view checks = "Checks";
inline constexpr std::string_view results = "Output";
inline constexpr std::string_view loop = "Loop";
inline constexpr std::string_view plan = "Plan";
} // namespace group

enum class flag_kind {
  toggle,         ///< present or absent
  value,          ///< one value; if repeated, the last counts
  optional_value, ///< present or absent, perhaps followed by =VALUE
  list,           ///< may be given several times, all count
};

// A named default, so that a flag may omit these fields.
inline constexpr std::string_view no_text;

struct flag {
  std::string_view name;            ///< long form without the dashes
  char letter = '\0';               ///< short form, or none
  std::string_view value = no_text; ///< what the help calls the value: "NODES"
  flag_kind kind = value.empty() ? flag_kind::toggle : flag_kind::value;
  std::string_view choices = no_text;  ///< empty if the value is free text
  std::string_view standard = no_text; ///< the default, for the help
  std::string_view group = group::common;
  std::string_view help;
  std::string_view alias = no_text; ///< an older long form, still accepted
  bool stands_alone = false;        ///< prints an answer and starts no program
  bool is_form = false;    ///< selects the form of the result; such flags exclude each other
  bool is_binary = false;  ///< a form that is not text, and so not for a terminal
  bool names_form = false; ///< its value is the name of another flag, which selects a form
};

using flag_list = const flag*;

/// The elements of several arrays in one.
template <class T, std::size_t... N>
constexpr auto join(const std::array<T, N>&... parts) {
  std::array<T, (N + ...)> all{};
  auto end = all.begin();
  ((end = std::ranges::copy(parts, end).out), ...);
  return all;
}

/// When a form of a result that is still growing is written.
enum class form_growth {
  at_the_end, ///< once, of the whole result
  in_parts,   ///< as the result grows, each time what is new
  anew,       ///< each time of what is new alone, in place of what was written before
};

/// A form of a result besides text. A verb lists its forms in verbs/NAME/flags.hpp, and each writer
/// has a source file of its own.
template <class Result>
struct form {
  const flag* by; ///< the flag that selects it
  std::string (*write)(const Result&);
  form_growth grows = form_growth::at_the_end;
};

/// The flags of a verb's forms, and `--export`, which names one of them. `More`: forms that the
/// verb writes without the table.
template <const auto& Forms, flag_list... More>
struct form_flags {
  static constexpr std::size_t count = sizeof...(More) + Forms.size();
  static constexpr std::array<flag_list, count> each = [] {
    std::array<flag_list, count> all{More...};
    std::ranges::transform(Forms, all.begin() + sizeof...(More),
                           [](const auto& f) { return f.by; });
    return all;
  }();
  static constexpr std::size_t length = [] {
    std::size_t sum = 0;
    std::ranges::for_each(each, [&](flag_list f) { sum += f->name.size() + 1; });
    return sum;
  }();
  /// "json|svg|".
  static constexpr std::array<char, length> names = [] {
    std::array<char, length> text{};
    auto end = text.begin();
    for (const flag_list f : each) {
      end = std::ranges::copy(f->name, end).out;
      *end++ = '|';
    }
    return text;
  }();
  static constexpr flag by_name{
      .name = "export",
      .value = "FORMAT",
      .choices = {names.data(), length - 1},
      .group = group::results,
      .help = "print the result as FORMAT, the name of one of this verb's formats: --export json "
              "is the same as --json",
      .names_form = true};
};
template <const auto& Forms, flag_list... More>
constexpr auto flags_of() {
  using all = form_flags<Forms, More...>;
  if constexpr (all::count > 1) {
    return join(all::each, std::array<flag_list, 1>{&all::by_name});
  } else {
    return all::each;
  }
}

namespace flags {

// Common options: they mean the same in every verb.
inline constexpr flag json{
    .name = "json", .help = "print the result as JSON; with -o, write it to FILE", .is_form = true};
inline constexpr flag csv{
    .name = "csv", .group = group::results, .help = "print the result as CSV", .is_form = true};
inline constexpr flag quiet{.name = "quiet",
                            .letter = 'q',
                            .help = "print no text, only errors; JSON and files are still written"};
inline constexpr flag verbose{.name = "verbose", .letter = 'v', .help = "print more details"};
inline constexpr flag strict{.name = "strict", .help = "fail instead of only printing a warning"};
inline constexpr flag dry_run{.name = "dry-run",
                              .help = "print equivalent shell commands and start nothing"};
inline constexpr flag output{
    .name = "output",
    .letter = 'o',
    .value = "FILE",
    .help =
        "write the result as JSON to FILE, and print the text as usual; with a "
        "format (--json), write that to FILE and print nothing; in the name, %r is the local MPI "
        "rank, %h the host, %p the process ID, %% a percent sign"};
inline constexpr flag color{.name = "color",
                            .value = "WHEN",
                            .choices = "auto|always|never",
                            .standard = "auto",
                            .help = "use colours: auto (on a terminal), always, never"};
inline constexpr flag help{.name = "help", .letter = 'h', .help = "print this help"};
inline constexpr flag version{.name = "version", .help = "print the version"};

// `--on` and the options that describe the virtual machine.
inline constexpr flag on{.name = "on",
                         .value = "lab:MACHINE",
                         .group = group::virtual_machine,
                         .help = "run in a virtual machine: lab:NAME from `nodewise lab list`, "
                                 "lab:NODESxCORES[xTHREADS] such as lab:4x2, or lab:./FILE.json; "
                                 "with run and survey also a cluster: lab:4x2+4x2"};
inline constexpr flag on_timeout{
    .name = "on-timeout",
    .value = "SECONDS",
    .standard = "600",
    .group = group::virtual_machine,
    .help = "stop the virtual machine after SECONDS, with exit code 124; 0: no limit"};
inline constexpr flag on_thp{
    .name = "on-thp",
    .value = "MODE",
    .choices = "never|madvise|always",
    .standard = "madvise",
    .group = group::virtual_machine,
    .help = "in the virtual machine, set transparent huge pages to never, madvise or always"};
inline constexpr flag on_numa_balancing{
    .name = "on-numa-balancing",
    .value = "MODE",
    .choices = "0|1|2",
    .standard = "0",
    .group = group::virtual_machine,
    .help = "in the virtual machine, set NUMA balancing to 0 (off), 1 (on) or 2 (memory tiering)"};
inline constexpr flag on_overlay{.name = "on-overlay",
                                 .group = group::virtual_machine,
                                 .help = "run in a copy of the working directory, and copy changes "
                                         "back at the end (default: run in the directory itself)"};
inline constexpr flag on_disk{
    .name = "on-disk",
    .value = "SIZE",
    .group = group::virtual_machine,
    .help = "give the virtual machine an empty disk of SIZE (32M to 1T) with the file system ext4, "
            "mounted on /scratch; it is gone when the machine ends"};
inline constexpr flag on_caps{
    .name = "on-caps",
    .value = "NAME",
    .choices = "sys_nice",
    .group = group::virtual_machine,
    .help = "let the program keep a capability, as an administrator may: sys_nice moves pages of "
            "other users and pages that several processes have mapped"};
inline constexpr flag on_slurm{.name = "on-slurm",
                               .group = group::virtual_machine,
                               .help = "start Slurm on the hosts first, for srun and sbatch"};
inline constexpr flag on_no_count{.name = "on-no-count",
                                  .group = group::virtual_machine,
                                  .help = "do not count memory traffic; 2 to 3 times faster"};
inline constexpr flag on_counts{
    .name = "on-counts",
    .value = "FILE",
    .group = group::virtual_machine,
    .help = "write the counted traffic as JSON to FILE; - is standard output"};

// Of several verbs.
inline constexpr flag input{
    .name = "input",
    .letter = 'i',
    .value = "MACHINE",
    .standard = "this machine",
    .group = group::input,
    .help = "use another machine: FILE.xml from lstopo, FILE.json (a machine file or a result of "
            "nodewise), sysfs:DIR (a copy of /sys), lab:NAME, "
            "NODESxCORES such as 4x2, or a synthetic description of hwloc: \"numa:2 core:4 pu:1\""};
inline constexpr flag compare{.name = "compare",
                              .group = group::results,
                              .help = "compare two results and print what changed"};

inline constexpr flag process{.name = "process",
                              .letter = 'p',
                              .value = "PID",
                              .kind = flag_kind::list,
                              .group = group::selection,
                              .help = "examine the process PID"};
inline constexpr flag svg{
    .name = "svg",
    .group = group::results,
    .help = "print the result as a picture in SVG; also chosen by FILE.svg after -o; FILE.png "
            "needs rsvg-convert",
    .is_form = true};
inline constexpr flag picture{
    .name = "picture",
    .value = "PROTOCOL",
    .kind = flag_kind::optional_value,
    .choices = "kitty|iterm2|sixel",
    .group = group::results,
    .help = "draw the result as a picture in the terminal, by the PROTOCOL kitty, iterm2 or sixel "
            "(default: that of the terminal); needs rsvg-convert, and img2sixel for sixel",
    .is_form = true};
inline constexpr flag openmetrics{
    .name = "openmetrics",
    .group = group::results,
    .help = "print the result in the text format of OpenMetrics, which Prometheus reads; also "
            "chosen by a FILE.prom after -o",
    .is_form = true};
inline constexpr flag sarif{
    .name = "sarif",
    .group = group::results,
    .help = "print the failed checks in SARIF 2.1.0, which GitHub shows at source lines; also "
            "chosen by a FILE.sarif after -o",
    .is_form = true};
inline constexpr flag write_plan{.name = "write-plan",
                                 .value = "FILE",
                                 .group = group::plan,
                                 .help = "write the fix as a plan to FILE, for `nodewise run "
                                         "--plan FILE` with the same program"};
inline constexpr flag phase{.name = "phase",
                            .value = "WHEN",
                            .choices = "use|init|all",
                            .standard = "use",
                            .group = group::selection,
                            .help = "select traffic: use (after each page was initialised), init "
                                    "(while it was initialised), all"};
inline constexpr flag region{.name = "region",
                             .value = "NAME",
                             .group = group::selection,
                             .help = "with TRAFFIC.json, select the traffic between "
                                     "NODEWISE_MARKER_START(\"NAME\") and "
                                     "NODEWISE_MARKER_STOP(\"NAME\") in the program"};

} // namespace flags
} // namespace nodewise::cli
