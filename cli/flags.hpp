// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Defines every option of every verb once; the options of `model` alone are in model_flags.hpp.
// Each verb lists the options it accepts (verb_table.cpp), and code queries an invocation by the
// same constants, so a misspelt option does not compile.
#pragma once

#include <array>
#include <string_view>

namespace nodewise::cli {

enum class flag_kind {
  toggle,         ///< present or absent
  value,          ///< one value; if repeated, the last counts
  optional_value, ///< present or absent, perhaps followed by =VALUE
  list,           ///< may be given several times, all count
};

// A named default, so that a flag may omit these fields.
inline constexpr std::string_view no_text;

struct flag {
  std::string_view name; ///< long form without the dashes
  char letter = '\0';    ///< short form, or none
  flag_kind kind = flag_kind::toggle;
  std::string_view value = no_text;    ///< what the help calls the value: "NODES"
  std::string_view choices = no_text;  ///< empty if the value is free text
  std::string_view standard = no_text; ///< the default, for the help
  std::string_view group;
  std::string_view help;
  std::string_view alias = no_text; ///< an older long form, still accepted
  bool stands_alone = false;        ///< prints an answer and starts no program
};

namespace group {
inline constexpr std::string_view common = "Common options";
inline constexpr std::string_view virtual_machine = "In a virtual machine";
inline constexpr std::string_view input = "Which machine";
inline constexpr std::string_view binding = "Where it runs";
inline constexpr std::string_view memory = "Where its memory lives";
inline constexpr std::string_view checking = "What is checked";
inline constexpr std::string_view looking = "What to look at, and when";
inline constexpr std::string_view loop = "A loop, described";
inline constexpr std::string_view traffic = "Counted traffic";
inline constexpr std::string_view advice = "What to do about it";
} // namespace group

namespace flags {

// Common options: they mean the same in every verb.
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

// `--on` and the options that describe the virtual machine.
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
inline constexpr flag on_no_count{
    .name = "on-no-count",
    .group = group::virtual_machine,
    .help = "do not count the memory traffic there, which makes it some times faster"};
inline constexpr flag on_counts{
    .name = "on-counts",
    .kind = flag_kind::value,
    .value = "FILE",
    .group = group::virtual_machine,
    .help = "write the traffic that was counted to FILE, as JSON; - is standard output"};

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
inline constexpr flag costs{
    .name = "costs",
    .kind = flag_kind::value,
    .value = "FILE.json",
    .standard = "what `nodewise measure` found here",
    .group = group::input,
    .help =
        "bandwidths and latencies of that machine: drawn, in the JSON, and memory attributes in "
        "hwloc's XML"};

// run: with numactl's option names where numactl has the option.
inline constexpr flag cpunodebind{.name = "cpunodebind",
                                  .letter = 'N',
                                  .kind = flag_kind::value,
                                  .value = "NODES",
                                  .group = group::binding,
                                  .help =
                                      "only on processors of these nodes: 0-3, 0,2, +0, !0, all",
                                  .alias = "cpubind"};
inline constexpr flag physcpubind{.name = "physcpubind",
                                  .letter = 'C',
                                  .kind = flag_kind::value,
                                  .value = "CPUS",
                                  .group = group::binding,
                                  .help = "only on these processors; of -N and -C the last counts"};
inline constexpr flag all_processors{
    .name = "all",
    .letter = 'a',
    .group = group::binding,
    .help = "leave the affinity that this process was given: all processors of its cpuset"};
inline constexpr flag pin{.name = "pin",
                          .letter = 'c',
                          .kind = flag_kind::value,
                          .value = "LIST",
                          .group = group::binding,
                          .help = "pin the k-th thread to the k-th processor of a list, as "
                                  "likwid-pin does: 0,2,4, S0:0-3@S1:0-3, M:scatter"};
inline constexpr flag places{
    .name = "places",
    .kind = flag_kind::value,
    .value = "KIND",
    .choices = "threads|cores|nodes|packages",
    .standard = "threads",
    .group = group::binding,
    .help = "how far a bound thread may move: not at all, on the hardware threads of its core, in "
            "its node, in its package"};
inline constexpr flag smt{.name = "smt",
                          .kind = flag_kind::value,
                          .value = "WHICH",
                          .choices = "on|off",
                          .group = group::binding,
                          .help = "off: only the first hardware thread of each core; on: with "
                                  "--bind a thread for every hardware thread"};
inline constexpr flag ranks_per{.name = "ranks-per",
                                .kind = flag_kind::value,
                                .value = "PART",
                                .choices = "node|socket|core",
                                .group = group::binding,
                                .help = "under an MPI launcher: a node, socket or core for each "
                                        "rank, its threads inside"};
inline constexpr flag bind{
    .name = "bind",
    .kind = flag_kind::value,
    .value = "HOW",
    .choices = "close|spread|none",
    .group = group::binding,
    .help = "pin threads: close (neighbours share a node), spread (over all nodes), none"};
inline constexpr flag main_thread{
    .name = "main",
    .kind = flag_kind::value,
    .value = "WHAT",
    .choices = "waits|works",
    .standard = "waits",
    .group = group::binding,
    .help =
        "what the main thread does while threads run that it has started itself, without OpenMP "
        "or TBB: works, then it is the first of them and has the first place"};
inline constexpr flag threads{.name = "threads",
                              .kind = flag_kind::value,
                              .value = "N",
                              .group = group::binding,
                              .help = "threads of the program's OpenMP teams, or of a "
                                      "described loop"};
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
inline constexpr flag weighted_interleave{.name = "weighted-interleave",
                                          .letter = 'w',
                                          .kind = flag_kind::value,
                                          .value = "NODES",
                                          .group = group::memory,
                                          .help =
                                              "pages in turn by the kernel's weights (Linux 6.9)"};
inline constexpr flag preferred{.name = "preferred",
                                .letter = 'p',
                                .kind = flag_kind::value,
                                .value = "NODE",
                                .group = group::memory,
                                .help = "memory from this node while it has any"};
inline constexpr flag preferred_many{.name = "preferred-many",
                                     .letter = 'P',
                                     .kind = flag_kind::value,
                                     .value = "NODES",
                                     .group = group::memory,
                                     .help = "memory from these nodes while they have any"};
inline constexpr flag balancing{.name = "balancing",
                                .letter = 'b',
                                .group = group::memory,
                                .help = "with -m: the kernel may move pages between these nodes"};
inline constexpr flag show{.name = "show",
                           .letter = 's',
                           .group = group::checking,
                           .help = "print what a program started so would be given, as numactl -s",
                           .stands_alone = true};
inline constexpr flag hardware{.name = "hardware",
                               .letter = 'H',
                               .group = group::checking,
                               .help = "print nodes, processors, memory, distances, as numactl -H",
                               .stands_alone = true};
inline constexpr flag localalloc{.name = "localalloc",
                                 .letter = 'l',
                                 .group = group::memory,
                                 .help =
                                     "memory from the node of the processor that first touches it"};
inline constexpr flag memory{
    .name = "memory",
    .kind = flag_kind::value,
    .value = "PLACEMENT",
    .group = group::memory,
    .help = "local, bind:NODES, prefer:NODES, interleave[:NODES], weighted:NODE=WEIGHT,..; "
            "weighted:auto[:NODES] by measured bandwidths; or each large array blocked (equal "
            "parts beside the threads, by address) or cyclic:SIZE; of a "
            "described loop also serial (all first touched by its first thread)"};
inline constexpr flag rule{
    .name = "rule",
    .kind = flag_kind::list,
    .value = "WHICH:PLACEMENT",
    .group = group::memory,
    .help = "for arrays by site=FILE:LINE, site=FUNCTION, symbol=NAME, size>=SIZE, size<SIZE "
            "(several with commas); the first rule that fits decides"};
inline constexpr flag plan{
    .name = "plan",
    .kind = flag_kind::value,
    .value = "FILE",
    .group = group::memory,
    .help = "bind threads and place arrays as FILE says; options on the command line override it"};
inline constexpr flag plan_optional{
    .name = "plan-optional",
    .kind = flag_kind::value,
    .value = "FILE",
    .group = group::memory,
    .help = "the same, but run the program without the plan, with a warning, if FILE is missing or "
            "broken"};
inline constexpr flag threshold{.name = "threshold",
                                .kind = flag_kind::value,
                                .value = "SIZE",
                                .standard = "1MiB",
                                .group = group::memory,
                                .help = "smaller mappings are left alone by --memory blocked"};
/// The placement options of `run`, which `lab check` passes on to it. --all is not among them:
/// `lab` has another --all.
inline constexpr std::array run_placement = {&cpunodebind,
                                             &physcpubind,
                                             &bind,
                                             &pin,
                                             &threads,
                                             &main_thread,
                                             &places,
                                             &smt,
                                             &ranks_per,
                                             &membind,
                                             &balancing,
                                             &interleave,
                                             &weighted_interleave,
                                             &preferred,
                                             &preferred_many,
                                             &localalloc,
                                             &memory,
                                             &rule,
                                             &plan,
                                             &plan_optional,
                                             &threshold};
inline constexpr flag verify{.name = "verify",
                             .group = group::checking,
                             .help = "ask the kernel at the end where the pages are"};

// profile and measure
inline constexpr flag compare{.name = "compare",
                              .group = group::looking,
                              .help = "two files: what moved or changed, and what is better; of "
                                      "measure also one, and what is measured now"};

// pages
inline constexpr flag process{.name = "process",
                              .letter = 'p',
                              .kind = flag_kind::list,
                              .value = "PID",
                              .group = group::looking,
                              .help = "the process to look at"};
inline constexpr flag at{.name = "at",
                         .kind = flag_kind::value,
                         .value = "SECONDS",
                         .standard = "just before the program ends",
                         .group = group::looking,
                         .help = "look at the program this long after its start"};
inline constexpr flag watch{.name = "watch",
                            .kind = flag_kind::optional_value,
                            .value = "SECONDS",
                            .group = group::looking,
                            .help = "draw again every second, or every so many; q ends it"};
inline constexpr flag interval{.name = "interval",
                               .kind = flag_kind::value,
                               .value = "SECONDS",
                               .group = group::looking,
                               .help = "look again and again, with this time between"};
inline constexpr flag count{.name = "count",
                            .kind = flag_kind::value,
                            .value = "N",
                            .standard = "until the process ends",
                            .group = group::looking,
                            .help = "look N times"};
inline constexpr flag method{
    .name = "method",
    .kind = flag_kind::value,
    .value = "HOW",
    .choices = "auto|pagemap|move_pages|numa_maps",
    .standard = "auto",
    .group = group::looking,
    .help = "pagemap (frame numbers, which root may read) or the best below it that is permitted; "
            "auto: page by page only where a mapping is on several nodes"};
inline constexpr flag all_mappings{
    .name = "all", .letter = 'a', .group = group::looking, .help = "small mappings, too"};
inline constexpr flag totals{.name = "totals",
                             .group = group::looking,
                             .help = "sums by node in MB, as numastat -p prints them"};
inline constexpr flag csv{.name = "csv",
                          .group = group::looking,
                          .help = "one row a process, time and node: bytes in memory"};
inline constexpr flag migrate{.name = "migrate",
                              .kind = flag_kind::value,
                              .value = "FROM:TO",
                              .group = group::looking,
                              .help = "move its pages from these nodes to those, as migratepages "
                                      "does"};

// sweep
inline constexpr flag swept_nodes{.name = "nodes",
                                  .kind = flag_kind::value,
                                  .value = "NODES",
                                  .standard = "all that this process may use",
                                  .group = group::memory,
                                  .help = "empty the page cache of these nodes"};
inline constexpr flag sweep_by{
    .name = "by",
    .kind = flag_kind::value,
    .value = "WAY",
    .choices = "auto|drop|files|pressure",
    .standard = "auto",
    .group = group::memory,
    .help = "drop: /proc/sys/vm/drop_caches, all nodes, as root; files: those that are named; "
            "pressure: memory is asked of each node until its cache is gone"};

// lab
inline constexpr flag verbose{.name = "verbose",
                              .letter = 'v',
                              .group = group::common,
                              .help = "show more: the evidence behind a finding, the console of a "
                                      "virtual machine"};
inline constexpr flag min_local{
    .name = "min-local",
    .kind = flag_kind::value,
    .value = "SHARE",
    .group = group::checking,
    .help = "with `check`: at least this share of the lines is local, 0.95 or 95%"};
inline constexpr flag max_imbalance{
    .name = "max-imbalance",
    .kind = flag_kind::value,
    .value = "RATIO",
    .group = group::checking,
    .help = "with `check`: the busiest memory moves at most this many times the mean; 1 is even"};
inline constexpr flag phase{.name = "phase",
                            .kind = flag_kind::value,
                            .value = "WHEN",
                            .choices = "use|init|all",
                            .standard = "use",
                            .group = group::checking,
                            .help =
                                "the traffic that is judged or priced: use, init(ialisation) or "
                                "all"};
inline constexpr flag object{
    .name = "object",
    .kind = flag_kind::list,
    .value = "NAME",
    .group = group::checking,
    .help = "with `check`: only this static array, or what was allocated at FILE:LINE or in FILE; "
            "may be given several times"};
inline constexpr flag all{
    .name = "all", .group = group::virtual_machine, .help = "with `cache remove`: every entry"};

} // namespace flags
} // namespace nodewise::cli
