// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Defines every option of every verb once; the options of only one verb are in measure_flags.hpp,
// model_flags.hpp and profile_flags.hpp. Each verb lists the options it accepts (verb_table.cpp),
// and code queries an invocation by the same constants, so a misspelt option does not compile.
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
  std::string_view name;            ///< long form without the dashes
  char letter = '\0';               ///< short form, or none
  std::string_view value = no_text; ///< what the help calls the value: "NODES"
  flag_kind kind = value.empty() ? flag_kind::toggle : flag_kind::value;
  std::string_view choices = no_text;  ///< empty if the value is free text
  std::string_view standard = no_text; ///< the default, for the help
  std::string_view group;
  std::string_view help;
  std::string_view alias = no_text; ///< an older long form, still accepted
  bool stands_alone = false;        ///< prints an answer and starts no program
};

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

namespace flags {

// Common options: they mean the same in every verb.
inline constexpr flag json{
    .name = "json", .group = group::common, .help = "print the result as JSON"};
inline constexpr flag quiet{
    .name = "quiet", .letter = 'q', .group = group::common, .help = "print only errors"};
inline constexpr flag verbose{
    .name = "verbose", .letter = 'v', .group = group::common, .help = "print more details"};
inline constexpr flag strict{
    .name = "strict", .group = group::common, .help = "treat warnings as errors"};
inline constexpr flag dry_run{.name = "dry-run",
                              .group = group::common,
                              .help = "print equivalent shell commands and start nothing"};
inline constexpr flag output{
    .name = "output",
    .letter = 'o',
    .value = "FILE",
    .group = group::common,
    .help = "write the result to FILE, as JSON unless another format is selected; in the name, %r "
            "is the local MPI rank, %h the host, %p the process ID"};
inline constexpr flag color{.name = "color",
                            .value = "WHEN",
                            .choices = "auto|always|never",
                            .standard = "auto",
                            .group = group::common,
                            .help = "use colours: auto (on a terminal), always, never"};
inline constexpr flag help{
    .name = "help", .letter = 'h', .group = group::common, .help = "print this help"};
inline constexpr flag version{
    .name = "version", .group = group::common, .help = "print the version"};

// `--on` and the options that describe the virtual machine.
inline constexpr flag on{
    .name = "on",
    .value = "lab:MACHINE",
    .group = group::virtual_machine,
    .help = "run in a virtual machine: a name from `nodewise lab list`, or NODESxCORES such as "
            "lab:4x2"};
inline constexpr flag on_timeout{
    .name = "on-timeout",
    .value = "SECONDS",
    .standard = "600",
    .group = group::virtual_machine,
    .help = "stop the virtual machine after SECONDS, with exit code 124; 0: no limit"};
inline constexpr flag on_thp{.name = "on-thp",
                             .value = "MODE",
                             .choices = "never|madvise|always",
                             .standard = "madvise",
                             .group = group::virtual_machine,
                             .help = "set transparent huge pages to never, madvise or always"};
inline constexpr flag on_numa_balancing{
    .name = "on-numa-balancing",
    .value = "MODE",
    .choices = "0|1|2",
    .standard = "0",
    .group = group::virtual_machine,
    .help = "set NUMA balancing to 0 (off), 1 (on) or 2 (memory tiering)"};
inline constexpr flag on_overlay{
    .name = "on-overlay",
    .group = group::virtual_machine,
    .help = "run in a copy of the working directory; copy changes back at the end"};
inline constexpr flag on_no_count{.name = "on-no-count",
                                  .group = group::virtual_machine,
                                  .help = "do not count memory traffic; several times faster"};
inline constexpr flag on_counts{
    .name = "on-counts",
    .value = "FILE",
    .group = group::virtual_machine,
    .help = "write the counted traffic as JSON to FILE; - is standard output"};

// topo
inline constexpr flag xml{
    .name = "xml", .group = group::results, .help = "print hwloc's XML, as lstopo writes it"};
inline constexpr flag input{
    .name = "input",
    .letter = 'i',
    .value = "MACHINE",
    .standard = "this machine",
    .group = group::input,
    .help = "use another machine: FILE.xml from lstopo, FILE.json, sysfs:DIR, lab:NAME, 4x2, or "
            "hwloc's \"numa:2 core:4 pu:1\""};
inline constexpr flag costs{.name = "costs",
                            .value = "FILE.json",
                            .standard = "what `nodewise measure` saved for this machine",
                            .group = group::input,
                            .help = "read the machine's bandwidths and latencies from FILE.json"};

// run: with numactl's option names where numactl has the option.
inline constexpr flag cpunodebind{.name = "cpunodebind",
                                  .letter = 'N',
                                  .value = "NODES",
                                  .group = group::binding,
                                  .help =
                                      "use only processors of these nodes: 0-3, 0,2, +0, !0, all",
                                  .alias = "cpubind"};
inline constexpr flag physcpubind{.name = "physcpubind",
                                  .letter = 'C',
                                  .value = "CPUS",
                                  .group = group::binding,
                                  .help =
                                      "use only these processors; the last of -N and -C applies"};
inline constexpr flag all_processors{
    .name = "all",
    .letter = 'a',
    .group = group::binding,
    .help = "ignore the inherited affinity: allow all processors of the cpuset"};
inline constexpr flag pin{.name = "pin",
                          .letter = 'c',
                          .value = "LIST",
                          .group = group::binding,
                          .help = "pin thread k to the k-th processor of LIST, as likwid-pin does: "
                                  "0,2,4, S0:0-3@S1:0-3, M:scatter"};
inline constexpr flag places{
    .name = "places",
    .value = "KIND",
    .choices = "threads|cores|nodes|packages",
    .standard = "threads",
    .group = group::binding,
    .help = "where a bound thread may run: threads (one hardware thread), cores (its core), nodes "
            "(its node), packages (its package)"};
inline constexpr flag smt{
    .name = "smt",
    .value = "WHICH",
    .choices = "on|off",
    .group = group::binding,
    .help = "hardware threads: off (use only the first of each core), on (with --bind, start one "
            "thread for each)"};
inline constexpr flag ranks_per{
    .name = "ranks-per",
    .value = "PART",
    .choices = "node|socket|core",
    .group = group::binding,
    .help = "under an MPI launcher, assign each rank and its threads to a node, socket or core"};
inline constexpr flag bind{
    .name = "bind",
    .value = "HOW",
    .choices = "close|spread|none",
    .group = group::binding,
    .help = "bind threads: close (fill one node after the other), spread (evenly over all nodes), "
            "none"};
inline constexpr flag main_thread{
    .name = "main",
    .value = "WHAT",
    .choices = "waits|works",
    .standard = "waits",
    .group = group::binding,
    .help = "what the main thread does while threads run that it started without OpenMP or TBB: "
            "waits (is not bound), works (is bound as the first thread)"};
inline constexpr flag threads{.name = "threads",
                              .value = "N",
                              .group = group::binding,
                              .help = "number of threads in a parallel region"};
inline constexpr flag membind{.name = "membind",
                              .letter = 'm',
                              .value = "NODES",
                              .group = group::memory,
                              .help = "allocate memory only on these nodes"};
inline constexpr flag interleave{.name = "interleave",
                                 .letter = 'i',
                                 .value = "NODES",
                                 .group = group::memory,
                                 .help = "interleave pages over these nodes"};
inline constexpr flag weighted_interleave{
    .name = "weighted-interleave",
    .letter = 'w',
    .value = "NODES",
    .group = group::memory,
    .help = "interleave pages over these nodes by the kernel's weights (Linux 6.9)"};
inline constexpr flag preferred{
    .name = "preferred",
    .letter = 'p',
    .value = "NODE",
    .group = group::memory,
    .help = "allocate memory on this node, falling back to others when full"};
inline constexpr flag preferred_many{
    .name = "preferred-many",
    .letter = 'P',
    .value = "NODES",
    .group = group::memory,
    .help = "allocate memory on these nodes, falling back to others when full"};
inline constexpr flag balancing{.name = "balancing",
                                .letter = 'b',
                                .group = group::memory,
                                .help =
                                    "with -m, let the kernel migrate pages between these nodes"};
inline constexpr flag show{
    .name = "show",
    .letter = 's',
    .group = group::results,
    .help = "print the policy and processors that a program would get, as numactl -s does",
    .stands_alone = true};
inline constexpr flag hardware{
    .name = "hardware",
    .letter = 'H',
    .group = group::results,
    .help = "print nodes, processors, memory and distances, as numactl -H does",
    .stands_alone = true};
inline constexpr flag localalloc{
    .name = "localalloc",
    .letter = 'l',
    .group = group::memory,
    .help = "allocate memory on the node of the processor that first touches it"};
inline constexpr flag memory{
    .name = "memory",
    .value = "PLACEMENT",
    .group = group::memory,
    .help = "local, bind:NODES, prefer:NODES, interleave[:NODES]; or for each large array: blocked "
            "(one part per thread), cyclic:SIZE, weighted:NODE=WEIGHT,..., weighted:auto[:NODES] "
            "(by measured bandwidth)"};
inline constexpr flag rule{
    .name = "rule",
    .value = "WHICH:PLACEMENT",
    .kind = flag_kind::list,
    .group = group::memory,
    .help = "place arrays that match site=FILE:LINE, site=FUNCTION, symbol=NAME, size>=SIZE, "
            "size<SIZE, or several of these joined by commas; the first matching rule applies"};
inline constexpr flag plan{
    .name = "plan",
    .value = "FILE",
    .group = group::memory,
    .help = "bind threads and place arrays by the plan in FILE; command-line options override it"};
inline constexpr flag plan_optional{
    .name = "plan-optional",
    .value = "FILE",
    .group = group::memory,
    .help = "the same, but if FILE is missing or broken, print a warning and run without a plan"};
inline constexpr flag threshold{.name = "threshold",
                                .value = "SIZE",
                                .standard = "1MiB",
                                .group = group::memory,
                                .help = "place only arrays of at least SIZE"};
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
inline constexpr flag verify{
    .name = "verify",
    .group = group::results,
    .help = "print which node each page is on when the program ends, as the kernel reports it"};

// profile and measure
inline constexpr flag compare{.name = "compare",
                              .group = group::results,
                              .help = "compare two results and print what changed"};

// pages
inline constexpr flag process{.name = "process",
                              .letter = 'p',
                              .value = "PID",
                              .kind = flag_kind::list,
                              .group = group::selection,
                              .help = "examine the process with this number"};
inline constexpr flag at{.name = "at",
                         .value = "SECONDS",
                         .standard = "just before the program ends",
                         .group = group::sampling,
                         .help = "examine the program SECONDS after its start"};
inline constexpr flag watch{.name = "watch",
                            .value = "SECONDS",
                            .kind = flag_kind::optional_value,
                            .standard = "1",
                            .group = group::sampling,
                            .help = "redraw every SECONDS; press q to quit"};
inline constexpr flag interval{.name = "interval",
                               .value = "SECONDS",
                               .group = group::sampling,
                               .help = "sample every SECONDS"};
inline constexpr flag count{.name = "count",
                            .value = "N",
                            .standard = "until the process ends",
                            .group = group::sampling,
                            .help = "take N samples"};
inline constexpr flag method{
    .name = "method",
    .value = "HOW",
    .choices = "auto|pagemap|move_pages|numa_maps",
    .standard = "auto",
    .group = group::sampling,
    .help = "query the kernel by pagemap (needs root), move_pages or numa_maps, falling back to "
            "the next if refused; auto queries single pages only in mappings on several nodes"};
inline constexpr flag all_mappings{.name = "all",
                                   .letter = 'a',
                                   .group = group::selection,
                                   .help = "list all mappings, including small ones"};
inline constexpr flag totals{.name = "totals",
                             .group = group::results,
                             .help = "print totals by node in MB, as numastat -p does"};
inline constexpr flag csv{.name = "csv",
                          .group = group::results,
                          .help =
                              "print CSV: the bytes in memory, one row per process, time and node"};
inline constexpr flag migrate{.name = "migrate",
                              .value = "FROM:TO",
                              .group = group::memory,
                              .help =
                                  "move pages from nodes FROM to nodes TO, as migratepages does"};

// drop-cache
inline constexpr flag cache_nodes{.name = "nodes",
                                  .value = "NODES",
                                  .standard = "all that this process may use",
                                  .group = group::selection,
                                  .help = "empty the page cache of these nodes"};
inline constexpr flag drop_by{
    .name = "by",
    .value = "WAY",
    .choices = "auto|drop|files|pressure",
    .standard = "auto",
    .group = group::selection,
    .help = "drop (/proc/sys/vm/drop_caches: all nodes, needs root), files (only the named files), "
            "pressure (allocate memory on each node until the kernel has evicted the cache)"};

// lab
inline constexpr flag min_local{
    .name = "min-local",
    .value = "SHARE",
    .group = group::checks,
    .help = "with `check`, fail if the local share of cache lines is below SHARE: 0.95 or 95%"};
inline constexpr flag max_imbalance{
    .name = "max-imbalance",
    .value = "RATIO",
    .group = group::checks,
    .help = "with `check`, fail if the busiest memory moves more than RATIO times the mean; 1 is "
            "even"};
inline constexpr flag phase{.name = "phase",
                            .value = "WHEN",
                            .choices = "use|init|all",
                            .standard = "use",
                            .group = group::selection,
                            .help = "select traffic of this phase: use (after initialisation), "
                                    "init (initialisation), all"};
inline constexpr flag object{
    .name = "object",
    .value = "NAME",
    .kind = flag_kind::list,
    .group = group::selection,
    .help = "with `check`, select this static array, or memory allocated at FILE:LINE or in FILE "
            "(repeatable)"};
inline constexpr flag all{
    .name = "all", .group = group::selection, .help = "with `cache remove`, remove every entry"};

} // namespace flags
} // namespace nodewise::cli
