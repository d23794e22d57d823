// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Every option of every verb, once. A verb lists those it honours (registry.cpp), an invocation is
// asked by the same constants, so that a misspelt option does not compile.
#pragma once

#include <string_view>

namespace nodewise::cli {

enum class flag_kind {
  toggle, ///< there or not
  value,  ///< one value; given twice, the last counts
  list,   ///< may be given several times, all count
};

// With a name, so that a flag may leave these out.
inline constexpr std::string_view no_text;

struct flag {
  std::string_view name; ///< long form without the dashes
  char letter = '\0';    ///< short form, or none
  flag_kind kind = flag_kind::toggle;
  std::string_view value = no_text;    ///< what the help calls the value: "NODES"
  std::string_view choices = no_text;  ///< "auto|always|never"; empty where any text may be right
  std::string_view standard = no_text; ///< what holds if it is not given, for the help
  std::string_view group;
  std::string_view help;
};

namespace group {
inline constexpr std::string_view common = "Common options";
inline constexpr std::string_view virtual_machine = "In a virtual machine";
inline constexpr std::string_view input = "Which machine";
inline constexpr std::string_view binding = "Where it runs";
inline constexpr std::string_view memory = "Where its memory lives";
inline constexpr std::string_view checking = "What is checked";
} // namespace group

namespace flags {

// Common: the same meaning in every verb.
inline constexpr flag json{.name = "json",
                           .group = group::common,
                           .help = "print the result as JSON, with its schema and version"};
inline constexpr flag quiet{
    .name = "quiet", .letter = 'q', .group = group::common, .help = "print errors only"};
inline constexpr flag strict{
    .name = "strict", .group = group::common, .help = "fail where otherwise a warning is printed"};
inline constexpr flag dry_run{.name = "dry-run",
                              .group = group::common,
                              .help =
                                  "print what would be done, as lines for a shell, and do nothing"};
inline constexpr flag output{
    .name = "output",
    .letter = 'o',
    .kind = flag_kind::value,
    .value = "FILE",
    .group = group::common,
    .help = "write the JSON result to FILE; %r is the local MPI rank, %h the host, %p the process"};
inline constexpr flag color{.name = "color",
                            .kind = flag_kind::value,
                            .value = "WHEN",
                            .choices = "auto|always|never",
                            .standard = "auto",
                            .group = group::common,
                            .help = "colours: auto (on a terminal), always, never"};
inline constexpr flag help{
    .name = "help", .letter = 'h', .group = group::common, .help = "print this help"};
inline constexpr flag version{
    .name = "version", .group = group::common, .help = "print the version"};

// `--on` and what describes the virtual machine.
inline constexpr flag on{.name = "on",
                         .kind = flag_kind::value,
                         .value = "lab:MACHINE",
                         .group = group::virtual_machine,
                         .help =
                             "do all this in a virtual machine; `nodewise lab list` names them, "
                             "lab:4x2 is one of 4 nodes with 2 cores each"};
inline constexpr flag on_timeout{.name = "on-timeout",
                                 .kind = flag_kind::value,
                                 .value = "SECONDS",
                                 .group = group::virtual_machine,
                                 .help = "end the virtual machine after this time (exit code 124)"};
inline constexpr flag on_thp{.name = "on-thp",
                             .kind = flag_kind::value,
                             .value = "MODE",
                             .choices = "never|madvise|always",
                             .group = group::virtual_machine,
                             .help = "transparent huge pages there: never, madvise, always"};
inline constexpr flag on_numa_balancing{
    .name = "on-numa-balancing",
    .kind = flag_kind::value,
    .value = "MODE",
    .choices = "0|1|2",
    .group = group::virtual_machine,
    .help = "the kernel's page migration there: 0 off, 1 on, 2 memory tiering"};
inline constexpr flag on_overlay{
    .name = "on-overlay",
    .group = group::virtual_machine,
    .help = "work on a copy of the working directory; what changed in it comes back at the end"};

// topo
inline constexpr flag xml{
    .name = "xml", .group = group::input, .help = "print hwloc's XML, as lstopo writes it"};
inline constexpr flag input{
    .name = "input",
    .letter = 'i',
    .kind = flag_kind::value,
    .value = "MACHINE",
    .standard = "this machine",
    .group = group::input,
    .help = "another machine: FILE.xml of lstopo, FILE.json, sysfs:DIR, lab:NAME, 4x2 or hwloc's "
            "\"numa:2 core:4 pu:1\""};

// run: numactl's words where numactl has one.
inline constexpr flag cpunodebind{.name = "cpunodebind",
                                  .letter = 'N',
                                  .kind = flag_kind::value,
                                  .value = "NODES",
                                  .group = group::binding,
                                  .help =
                                      "only on processors of these nodes: 0-3, 0,2, +0, !0, all"};
inline constexpr flag physcpubind{.name = "physcpubind",
                                  .letter = 'C',
                                  .kind = flag_kind::value,
                                  .value = "CPUS",
                                  .group = group::binding,
                                  .help = "only on these processors"};
inline constexpr flag bind{
    .name = "bind",
    .kind = flag_kind::value,
    .value = "HOW",
    .choices = "close|spread|none",
    .group = group::binding,
    .help = "pin threads: close (neighbours share a node), spread (over all nodes), none"};
inline constexpr flag threads{.name = "threads",
                              .kind = flag_kind::value,
                              .value = "N",
                              .group = group::binding,
                              .help = "threads of the program's OpenMP teams"};
inline constexpr flag membind{.name = "membind",
                              .letter = 'm',
                              .kind = flag_kind::value,
                              .value = "NODES",
                              .group = group::memory,
                              .help = "memory from these nodes only"};
inline constexpr flag interleave{.name = "interleave",
                                 .letter = 'i',
                                 .kind = flag_kind::value,
                                 .value = "NODES",
                                 .group = group::memory,
                                 .help = "pages in turn over these nodes"};
inline constexpr flag preferred{.name = "preferred",
                                .letter = 'P',
                                .kind = flag_kind::value,
                                .value = "NODES",
                                .group = group::memory,
                                .help = "memory from these nodes while they have any"};
inline constexpr flag localalloc{.name = "localalloc",
                                 .letter = 'l',
                                 .group = group::memory,
                                 .help =
                                     "memory from the node of the processor that first touches it"};
inline constexpr flag memory{.name = "memory",
                             .kind = flag_kind::value,
                             .value = "PLACEMENT",
                             .group = group::memory,
                             .help =
                                 "local, bind:NODES, prefer:NODES, interleave[:NODES], or blocked: "
                                 "each large array in equal parts over the nodes, by address"};
inline constexpr flag threshold{.name = "threshold",
                                .kind = flag_kind::value,
                                .value = "SIZE",
                                .standard = "1MiB",
                                .group = group::memory,
                                .help = "smaller mappings are left alone by --memory blocked"};
inline constexpr flag verify{.name = "verify",
                             .group = group::checking,
                             .help = "ask the kernel at the end where the pages are"};

// lab
inline constexpr flag verbose{.name = "verbose",
                              .letter = 'v',
                              .group = group::virtual_machine,
                              .help = "show the console of the virtual machine"};
inline constexpr flag all{
    .name = "all", .group = group::virtual_machine, .help = "with `cache remove`: every entry"};

} // namespace flags
} // namespace nodewise::cli
