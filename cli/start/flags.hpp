// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that say where threads and memory go: with numactl's names where numactl has the option.
#pragma once

#include "cli/frame/flags.hpp"
#include "placement/words.hpp"

namespace nodewise::cli::flags {

inline constexpr flag cpunodebind{.name = "cpunodebind",
                                  .letter = 'N',
                                  .value = "NODES",
                                  .group = group::binding,
                                  .help = "use only processors of these nodes, written 0-3 or 0,2 "
                                          "or all or +0 (the first allowed node) or '!0' (all but "
                                          "node 0; quoted for the shell)",
                                  .alias = "cpubind"};
inline constexpr flag physcpubind{.name = "physcpubind",
                                  .letter = 'C',
                                  .value = "CPUS",
                                  .group = group::binding,
                                  .help =
                                      "use only these processors, written 0-7 or +0-1 (the first "
                                      "two allowed) or 0x5 (a mask) or package:1.core:0 (hwloc) or "
                                      "S0:0-3 (likwid); if -N is given, too, the last of -N and "
                                      "-C applies"};
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
                                  "0,2,4 or S0:0-3@S1:0-3 (four processors of socket 0, then four "
                                  "of socket 1) or M:scatter (the nodes in turn)"};
inline constexpr flag places{
    .name = "places",
    .value = "KIND",
    .choices = "threads|cores|nodes|packages",
    .standard = "threads",
    .group = group::binding,
    .help = "with --bind or --pin, let a bound thread run on: threads (one hardware thread), cores "
            "(its core), nodes (its node), packages (its socket)"};
inline constexpr flag smt{.name = "smt",
                          .value = "WHICH",
                          .choices = "on|off",
                          .standard = "only when every core already has a thread of the program",
                          .group = group::binding,
                          .help = "use the second hardware thread of each core: off (never), on "
                                  "(always; needs --bind)"};
inline constexpr flag ranks_per{.name = "ranks-per",
                                .value = "PART",
                                .choices = "node|socket|core|gpu|fabric|node+memory",
                                .group = group::binding,
                                .help = "under an MPI launcher, assign each rank and its threads "
                                        "to a node, socket (package) or core; gpu, fabric: to the "
                                        "node of the rank's GPU or network adapter; node+memory: "
                                        "to a node, and allocate memory only there"};
inline constexpr flag for_launcher{
    .name = "for",
    .value = "LAUNCHER",
    .group = group::binding,
    .help = "with --dry-run and --ranks-per, print the line of openmpi, slurm or mpich that places "
            "the ranks and their threads in the same way, or what it cannot do; openmpi:N: for N "
            "ranks on each host (default: one for each part)"};
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
    .help = "with --bind or --pin, what the main thread of a program without OpenMP or TBB does "
            "while its other threads run: waits (it is not bound), works (it is thread 0)"};
inline constexpr flag threads{
    .name = "threads",
    .value = "N",
    .standard = "with --pin, one per entry; else OMP_NUM_THREADS, or one per core (with --smt "
                "on, per hardware thread)",
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
inline constexpr flag numa_balancing{
    .name = "numa-balancing",
    .value = "WHICH",
    .choices = "on|off",
    .standard = "as it is",
    .group = group::memory,
    .help = "switch the kernel's automatic NUMA balancing for the whole system until the program "
            "ends (root only; other than -b, which concerns only the nodes of -m)"};
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
    .help = "print nodes, processors, memory and distances, as numactl -H does; start nothing",
    .stands_alone = true};
inline constexpr flag localalloc{
    .name = "localalloc",
    .letter = 'l',
    .group = group::memory,
    .help = "allocate memory on the node of the processor that first touches it"};
inline constexpr auto memory_help = [] {
  placements::word_list made;
  made.add("place memory: ");
  placements::add_command_words(made, false, true);
  made.add("; or place each large array (see --threshold): ");
  placements::add_command_words(made, true, true);
  made.add("; use blocked, rows and cyclic with --bind");
  return made;
}();
inline constexpr flag memory{
    .name = "memory", .value = "PLACEMENT", .group = group::memory, .help = memory_help.view()};
inline constexpr flag rule{.name = "rule",
                           .value = "WHICH:PLACEMENT",
                           .kind = flag_kind::list,
                           .group = group::memory,
                           .help = "for arrays that match WHICH, override --memory by PLACEMENT, "
                                   "written as there. WHICH is site=FILE:LINE or site=FUNCTION "
                                   "(where allocated), symbol=NAME, file=PATTERN (read-only "
                                   "mappings of files, as file=*.gguf), size>=SIZE, size<SIZE, or "
                                   "several of these joined by commas, which must all match. Quote "
                                   "it for the shell: 'size>=64M:blocked' (repeatable: the first "
                                   "rule that matches applies)"};
inline constexpr flag also{
    .name = "also",
    .value = "WHAT",
    .choices = "files",
    .group = group::memory,
    .help = "place read-only mappings of files as --memory says, too: what is cached is moved"};
inline constexpr flag read_files{
    .name = "read-files",
    .group = group::memory,
    .help = "of files that --also or --rule places, read what is not cached when they are mapped"};
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
inline constexpr flag huge_pages{
    .name = "huge-pages",
    .value = "WHICH",
    .choices = "on|off",
    .standard = "as the kernel decides",
    .group = group::memory,
    .help =
        "transparent huge pages: on (request them for large arrays), off (the program and those "
        "that it starts get none)"};
inline constexpr flag verify{.name = "verify",
                             .group = group::results,
                             .help = "at the end, print on which nodes the kernel reported each "
                                     "array's pages when the array was freed or the program ended"};

/// The options of `run` for memory.
inline constexpr std::array memory_placement = {
    &membind,       &balancing,      &interleave, &weighted_interleave,
    &preferred,     &preferred_many, &localalloc, &memory,
    &rule,          &also,           &read_files, &plan,
    &plan_optional, &threshold,      &huge_pages};

/// The placement options of `run`, which `lab check` passes on to it. --all is not among them:
/// `lab` has another --all.
inline constexpr auto run_placement =
    join(std::array{&cpunodebind, &physcpubind, &bind, &pin, &threads, &main_thread, &places, &smt,
                    &ranks_per},
         memory_placement);

} // namespace nodewise::cli::flags
