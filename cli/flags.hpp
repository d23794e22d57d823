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
inline constexpr flag json{.name = "json",
                           .group = group::common,
                           .help = "print the result as JSON; with -o, write it to FILE"};
inline constexpr flag quiet{.name = "quiet",
                            .letter = 'q',
                            .group = group::common,
                            .help = "print no text, only errors; JSON and files are still written"};
inline constexpr flag verbose{
    .name = "verbose", .letter = 'v', .group = group::common, .help = "print more details"};
inline constexpr flag strict{
    .name = "strict", .group = group::common, .help = "fail instead of only printing a warning"};
inline constexpr flag dry_run{.name = "dry-run",
                              .group = group::common,
                              .help = "print equivalent shell commands and start nothing"};
inline constexpr flag output{
    .name = "output",
    .letter = 'o',
    .value = "FILE",
    .group = group::common,
    .help = "write the result to FILE, as JSON unless another format is selected; in the name, %r "
            "is the local MPI rank, %h the host, %p the process ID, %% a percent sign"};
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
inline constexpr flag on{.name = "on",
                         .value = "lab:MACHINE",
                         .group = group::virtual_machine,
                         .help = "run in a virtual machine: lab:NAME from `nodewise lab list`, "
                                 "lab:NODESxCORES[xTHREADS] such as lab:4x2, or lab:./FILE.json"};
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
inline constexpr flag on_no_count{.name = "on-no-count",
                                  .group = group::virtual_machine,
                                  .help = "do not count memory traffic; 2 to 3 times faster"};
inline constexpr flag on_counts{
    .name = "on-counts",
    .value = "FILE",
    .group = group::virtual_machine,
    .help = "write the counted traffic as JSON to FILE; - is standard output"};

// topo
inline constexpr flag xml{.name = "xml",
                          .group = group::results,
                          .help = "print the machine as hwloc's XML, the format of lstopo"};
inline constexpr flag input{
    .name = "input",
    .letter = 'i',
    .value = "MACHINE",
    .standard = "this machine",
    .group = group::input,
    .help = "use another machine: FILE.xml from lstopo, FILE.json, sysfs:DIR, lab:NAME, "
            "NODESxCORES such as 4x2, or a synthetic description of hwloc: \"numa:2 core:4 pu:1\""};
inline constexpr flag costs{
    .name = "costs",
    .value = "FILE.json",
    .standard = "what `nodewise measure` saved for this machine; with --input, none",
    .group = group::input,
    .help = "read the machine's bandwidths and latencies from FILE.json"};

// run: with numactl's option names where numactl has the option.
inline constexpr flag cpunodebind{.name = "cpunodebind",
                                  .letter = 'N',
                                  .value = "NODES",
                                  .group = group::binding,
                                  .help = "use only processors of these nodes: 0-3, 0,2, +0 (the "
                                          "first allowed node), !0 (all but node 0), all",
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
    .help = "ignore the inherited affinity: allow all processors of the control group (cpuset)"};
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
    .help = "with --bind or --pin, let a bound thread run on: threads (one hardware thread), cores "
            "(its core), nodes (its node), packages (its package)"};
inline constexpr flag smt{.name = "smt",
                          .value = "WHICH",
                          .choices = "on|off",
                          .standard = "the second ones only if all cores have a thread",
                          .group = group::binding,
                          .help = "use hardware threads: off (only the first of each core), on "
                                  "(with --bind: all, one thread on each)"};
inline constexpr flag ranks_per{.name = "ranks-per",
                                .value = "PART",
                                .choices = "node|socket|core",
                                .group = group::binding,
                                .help = "under an MPI launcher, assign each rank and its threads "
                                        "to a node, socket (package) or core"};
inline constexpr flag bind{
    .name = "bind",
    .value = "HOW",
    .choices = "close|spread|none",
    .standard = "none",
    .group = group::binding,
    .help = "bind threads: close (fill one node after the other), spread (evenly over all nodes), "
            "none"};
inline constexpr flag main_thread{
    .name = "main",
    .value = "WHAT",
    .choices = "waits|works",
    .standard = "waits",
    .group = group::binding,
    .help = "in a program without OpenMP or TBB, while its threads run, the main thread: waits (do "
            "not bind it), works (bind it as thread 0)"};
inline constexpr flag threads{
    .name = "threads",
    .value = "N",
    .standard = "OMP_NUM_THREADS, else one per core; with --pin, one per entry",
    .group = group::binding,
    .help = "number of threads to bind, and to start in a parallel region"};
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
inline constexpr flag balancing{
    .name = "balancing",
    .letter = 'b',
    .group = group::memory,
    .help = "with -m, let the kernel migrate pages between these nodes; without -m, no effect"};
inline constexpr flag show{.name = "show",
                           .letter = 's',
                           .group = group::results,
                           .help = "print the policy and processors that a program would get, as "
                                   "numactl -s does; start nothing",
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
    .help =
        "place memory: local, bind:NODES, prefer:NODES, interleave[:NODES]; or, for each large "
        "array (see --threshold): blocked (one part per thread), cyclic:SIZE[:NODES] (pieces of "
        "SIZE in turn), weighted:NODE=WEIGHT,..., weighted:auto[:NODES] (by measured bandwidth)"};
inline constexpr flag rule{.name = "rule",
                           .value = "WHICH:PLACEMENT",
                           .kind = flag_kind::list,
                           .group = group::memory,
                           .help = "place arrays that match site=FILE:LINE, site=FUNCTION, "
                                   "symbol=NAME, size>=SIZE, size<SIZE, or several of these joined "
                                   "by commas (all must match); the first matching rule applies"};
inline constexpr flag plan{.name = "plan",
                           .value = "FILE",
                           .group = group::memory,
                           .help = "bind threads and place arrays as the plan in FILE describes; "
                                   "command-line options override it"};
inline constexpr flag plan_optional{
    .name = "plan-optional",
    .value = "FILE",
    .group = group::memory,
    .help = "as --plan, but if FILE is missing or invalid, print a warning and run without a plan"};
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
inline constexpr flag verify{.name = "verify",
                             .group = group::results,
                             .help = "when the program ends, print on which nodes the pages of "
                                     "each array are, as the kernel reports it"};

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
                              .help = "examine the process with this process ID"};
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
                            .help = "redraw the screen every SECONDS; press q to quit"};
inline constexpr flag interval{
    .name = "interval",
    .value = "SECONDS",
    .group = group::sampling,
    .help = "take a sample every SECONDS and print it below the earlier ones"};
inline constexpr flag count{.name = "count",
                            .value = "N",
                            .standard = "1; with --interval or --watch, until the process ends",
                            .group = group::sampling,
                            .help = "take N samples"};
inline constexpr flag method{
    .name = "method",
    .value = "HOW",
    .choices = "auto|pagemap|move_pages|numa_maps",
    .standard = "auto",
    .group = group::sampling,
    .help = "query the kernel by pagemap (needs root), move_pages or numa_maps (totals only), "
            "falling back to the next if refused; auto: the same, but single pages only for "
            "mappings on several nodes"};
inline constexpr flag all_mappings{.name = "all",
                                   .letter = 'a',
                                   .group = group::selection,
                                   .help = "list all mappings, including small ones"};
inline constexpr flag totals{.name = "totals",
                             .group = group::results,
                             .help = "print totals by node in MB, as numastat -p does"};
inline constexpr flag csv{
    .name = "csv",
    .group = group::results,
    .help = "print CSV: bytes in memory, with one row per process, time and node"};
inline constexpr flag migrate{.name = "migrate",
                              .value = "FROM:TO",
                              .group = group::memory,
                              .help = "move the pages of one process from nodes FROM to nodes TO, "
                                      "as migratepages does; draw nothing"};

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
    .help = "empty it by: auto (files if files are named, drop for root and all nodes, otherwise "
            "pressure), drop (/proc/sys/vm/drop_caches: all nodes, needs root), files (only the "
            "named files), pressure (allocate memory on each node until the kernel has evicted its "
            "page cache)"};

// lab
inline constexpr flag min_local{.name = "min-local",
                                .value = "SHARE",
                                .group = group::checks,
                                .help = "with `check`, fail if less than SHARE of the fetched "
                                        "cache lines came from the local node: 0.95 or 95%"};
inline constexpr flag max_imbalance{
    .name = "max-imbalance",
    .value = "RATIO",
    .group = group::checks,
    .help = "with `check`, fail if the traffic of the busiest memory is more than RATIO times the "
            "mean of all memories (1: all equal)"};
inline constexpr flag phase{.name = "phase",
                            .value = "WHEN",
                            .choices = "use|init|all",
                            .standard = "use",
                            .group = group::selection,
                            .help = "select traffic: use (after each page was initialised), init "
                                    "(while it was initialised), all"};
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
