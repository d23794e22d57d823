// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The texts of `nodewise --help` and the manual for every verb, and the options that the parser
// accepts.
#include <algorithm>
#include <array>

#include "cli/exit_codes.hpp"
#include "cli/measure_flags.hpp"
#include "cli/model_flags.hpp"
#include "cli/profile_flags.hpp"
#include "cli/registry.hpp"

namespace nodewise::cli {

namespace {

using flag_list = const flag*;

template <class T, std::size_t... N>
constexpr auto join(const std::array<T, N>&... parts) {
  std::array<T, (N + ...)> all{};
  std::size_t at = 0;
  ((std::copy(parts.begin(), parts.end(), all.begin() + static_cast<std::ptrdiff_t>(at)), at += N),
   ...);
  return all;
}

// Exit codes that --on adds to a verb that starts no program of the user.
constexpr std::array<verb_exit, 3> codes_of_on = {
    {{exit_code::time_limit},
     {exit_code::not_started, "with --on, the virtual machine failed"},
     {exit_code::signal_base, "signal N ended nodewise"}}};
// Those of a verb that starts a program.
constexpr std::array<verb_exit, 5> codes_of_program = {{{exit_code::time_limit},
                                                        {exit_code::not_started},
                                                        {exit_code::not_executable},
                                                        {exit_code::not_found},
                                                        {exit_code::signal_base}}};

constexpr std::array<flag_list, 3> every_verb = {&flags::color, &flags::help, &flags::version};
constexpr std::array<flag_list, 5> on_a_machine = {&flags::on, &flags::on_timeout, &flags::on_thp,
                                                   &flags::on_numa_balancing, &flags::on_overlay};

// topo

constexpr auto topo_flags = join(std::array<flag_list, 5>{&flags::input, &flags::costs, &flags::xml,
                                                          &flags::json, &flags::output},
                                 on_a_machine, every_verb);
constexpr std::array topo_examples = {
    example{"nodewise topo", "draw this machine and what this process may use of it"},
    example{"nodewise topo --input lab:4x2", "draw a machine of 4 nodes with 2 cores each"},
    example{"nodewise topo -i cluster-node.xml --json",
            "print a machine recorded by lstopo as JSON"},
    example{"nodewise topo --xml -o node.xml",
            "write the topology for lstopo, MPI launchers and other users of hwloc"},
    example{"nodewise topo -i node.xml --costs node.json --xml -o costs.xml",
            "add measured bandwidths and latencies, which `lstopo --memattrs` prints"},
    example{"nodewise topo --on lab:4x2", "draw what a program sees in a virtual machine"},
};
constexpr auto topo_codes =
    join(std::array<verb_exit, 2>{{{exit_code::bad_input}, {exit_code::refused}}}, codes_of_on);

// run

constexpr auto run_flags = join(
    std::array<flag_list, 10>{&flags::cpunodebind, &flags::physcpubind, &flags::all_processors,
                              &flags::bind, &flags::pin, &flags::threads, &flags::main_thread,
                              &flags::places, &flags::smt, &flags::ranks_per},
    std::array<flag_list, 12>{&flags::membind, &flags::balancing, &flags::interleave,
                              &flags::weighted_interleave, &flags::preferred,
                              &flags::preferred_many, &flags::localalloc, &flags::memory,
                              &flags::rule, &flags::plan, &flags::plan_optional, &flags::threshold},
    std::array<flag_list, 3>{&flags::verify, &flags::show, &flags::hardware},
    std::array<flag_list, 5>{&flags::json, &flags::output, &flags::strict, &flags::dry_run,
                             &flags::quiet},
    on_a_machine, std::array<flag_list, 2>{&flags::on_no_count, &flags::on_counts}, every_verb);
constexpr std::array run_examples = {
    example{"nodewise run -N 0 -m 0 ./solver",
            "use only processors and memory of node 0, as with numactl"},
    example{"nodewise run --bind spread --memory blocked --verify -- ./solver -n 4096",
            "spread threads over all nodes, divide each array among them, and print where the "
            "pages are"},
    example{"nodewise run --plan solver.plan.json --verify -- ./solver -n 4096",
            "apply a plan, and print which arrays its entries match"},
    example{"nodewise run --plan solver.plan.json --threads 4 --strict ./solver",
            "apply the plan to another number of threads; with another build of the program, fail"},
    example{"nodewise run --plan-optional solver.plan.json ./solver",
            "run without the plan if the file is missing or invalid"},
    example{"nodewise run --memory interleave --dry-run ./solver",
            "print equivalent numactl and OpenMP settings and start nothing"},
    example{"nodewise run --pin S0:0-3@S1:0-3 ./solver", "pin threads, as with likwid-pin -c"},
    example{"mpirun -n 4 --bind-to none nodewise run --ranks-per node --bind close ./solver",
            "give each rank a node, and bind its threads to the node's cores"},
    example{"mpirun -n 4 nodewise run --ranks-per node --json -o run-%r.json ./solver",
            "write one result for each rank"},
    example{"nodewise run --memory blocked --verify --on lab:4x2 ./solver",
            "run in a virtual machine of 4 nodes, and print the local and remote traffic"},
    example{"nodewise run --on lab:4x2 --on-counts traffic.json -- ./solver",
            "write the counted memory traffic as JSON, by array, source line, page and node"},
};
constexpr std::array<verb_flag_text, 1> run_texts = {
    {{&flags::strict, "treat warnings before the start as errors; exit with code 1 if arrays or "
                      "threads are not where requested"}}};
constexpr auto run_codes =
    join(std::array<verb_exit, 3>{{{exit_code::check_failed,
                                    "with --strict, arrays or threads are not where requested"},
                                   {exit_code::bad_input},
                                   {exit_code::refused}}},
         codes_of_program);

// doctor

constexpr auto doctor_flags =
    join(std::array<flag_list, 2>{&flags::process, &flags::input},
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::strict, &flags::quiet},
         on_a_machine, every_verb);
constexpr std::array doctor_examples = {
    example{"nodewise doctor", "check system calls and settings, and print a fix for each problem"},
    example{"nodewise doctor --quiet && echo ready",
            "in a script: exit code 4 if a needed system call is refused"},
    example{"nodewise doctor --strict --quiet", "exit code 1 if there is a warning"},
    example{"nodewise doctor --json -o doctor-%h.json",
            "write a report for a ticket or a cluster's inventory"},
    example{"nodewise doctor -i doctor-node7.json", "show such a report"},
    example{"nodewise doctor -p 4711", "examine process 4711"},
};
constexpr std::array<verb_flag_text, 2> doctor_texts = {
    {{&flags::input,
      "show a report that doctor wrote, or examine a recorded machine: FILE.json, FILE.xml from "
      "lstopo, sysfs:DIR, lab:NAME, NODESxCORES such as 4x2, or a synthetic description of hwloc"},
     {&flags::strict, "exit with code 1 if there is a warning"}}};
constexpr auto doctor_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed, "with --strict, there is a warning"},
         {exit_code::bad_input},
         {exit_code::refused, "the operating system refused a request, or a needed system call"}}},
    codes_of_on);

// pages

constexpr auto pages_flags =
    join(std::array<flag_list, 10>{&flags::process, &flags::all_mappings, &flags::at, &flags::watch,
                                   &flags::interval, &flags::count, &flags::method, &flags::totals,
                                   &flags::csv, &flags::migrate},
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::strict, &flags::quiet},
         on_a_machine, every_verb);
constexpr std::array pages_examples = {
    example{"nodewise pages 4711", "draw where the pages of process 4711 are"},
    example{"nodewise pages --watch=2 -p 4711", "redraw every two seconds"},
    example{"nodewise pages -- ./solver -n 4096",
            "start a program and examine it just before it ends"},
    example{"nodewise pages --csv --interval 1 -o pages.csv 4711 4712",
            "record how much memory two processes have on each node over time"},
    example{"nodewise pages -p 4711 --migrate 0:1", "move the pages on node 0 to node 1"},
};
constexpr std::array<verb_flag_text, 1> pages_texts = {
    {{&flags::strict,
      "exit with code 1 if pages could not be moved, or the program ended before it was sampled"}}};
constexpr auto pages_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed,
          "with --strict, pages were not moved, or the program ended too early"},
         {exit_code::bad_input},
         {exit_code::refused}}},
    codes_of_program);

// lab

constexpr auto lab_flags =
    join(std::array<flag_list, 5>{&flags::phase, &flags::object, &flags::all, &flags::min_local,
                                  &flags::max_imbalance},
         flags::run_placement,
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::quiet, &flags::verbose},
         on_a_machine, every_verb);
constexpr std::array lab_actions = {
    action{"list", "", "list the machines that come with nodewise"},
    action{"describe", "MACHINE",
           "draw a machine, and list where its bandwidths and latencies come from"},
    action{"shell", "MACHINE", "open a shell in a virtual machine"},
    action{"selftest", "MACHINE", "boot a machine and compare it with its machine file"},
    action{"check", "-- PROGRAM",
           "run a program with --on, count its memory traffic, and fail if it does not reach "
           "--min-local or exceeds --max-imbalance (one is required)"},
    action{"cache", "list|remove [KEY]",
           "list stored kernels and snapshots, or remove the entry KEY of the list; with --all, "
           "every entry"},
};
constexpr std::array lab_examples = {
    example{"nodewise lab list", "list the names for --on lab:NAME and --input lab:NAME"},
    example{"nodewise lab describe 4x2 --json", "print the machine file, for editing"},
    example{"nodewise lab shell 4x2", "open a shell on 4 nodes with 2 cores each"},
    example{"nodewise lab selftest 4x2", "test whether the lab works on this host"},
    example{"nodewise lab check --on lab:4x2 --min-local 0.95 -- ./solver",
            "in continuous integration: exit code 1 if less than 95 % of the cache lines are "
            "local"},
    example{"nodewise lab check --on lab:4x2 --min-local 0.99 --object a.c:41 -- ./solver",
            "check only memory allocated on this source line"},
    example{"nodewise lab check --on lab:4x2 --bind close --min-local 0.9 -- ./solver",
            "place the program as `nodewise run` does with the same options"},
    example{"nodewise lab check --on lab:4x2 --max-imbalance 1.5 --phase all -- ./solver",
            "check that the traffic is balanced over the memories"},
};
constexpr std::array<verb_flag_text, 2> lab_texts = {
    {{&flags::on, "with `check`, the virtual machine to run in (required): lab:NAME from `nodewise "
                  "lab list`, lab:NODESxCORES[xTHREADS] such as lab:4x2, or lab:./FILE.json"},
     {&flags::on_timeout, flags::on_timeout.help, "600; with `shell`, 0"}}};
constexpr std::array<verb_exit, 8> lab_codes = {
    {{exit_code::check_failed, "a check failed"},
     {exit_code::bad_input},
     {exit_code::refused},
     {exit_code::time_limit},
     {exit_code::not_started, "the lab failed, or a selftest failed"},
     {exit_code::not_executable},
     {exit_code::not_found},
     {exit_code::signal_base}}};

// model

constexpr auto model_flags =
    join(std::array<flag_list, 3>{&flags::input, &flags::set, &flags::limit},
         std::array<flag_list, 2>{&flags::phase, &flags::region},
         std::array<flag_list, 8>{&flags::kernel, &flags::elements, &flags::element_bytes,
                                  &flags::schedule, &flags::loop_shape, &flags::random_access,
                                  &flags::chunk_start, &flags::sweep},
         std::array<flag_list, 5>{&flags::cpunodebind, &flags::physcpubind, &flags::threads,
                                  &flags::bind, &flags::smt},
         std::array<flag_list, 4>{&flags::memory, &flags::stagger, &flags::model_page_size,
                                  &flags::free_memory},
         std::array<flag_list, 2>{&flags::json, &flags::output}, every_verb);
constexpr std::array model_examples = {
    example{"nodewise model --input lab:westmere-2x6 --kernel triad --memory serial",
            "predict the triad if one thread has initialised its arrays"},
    example{"nodewise model --input lab:opteron-4x2 --kernel triad --sweep threads=1,2,4,8",
            "predict the time for several numbers of threads"},
    example{"nodewise model -i lab:yuca-4x8 --kernel copy --sweep memory=serial,interleave",
            "compare two placements of the same arrays"},
    example{"nodewise model -i lab:westmere-2x6 --set shared_efficiency=0.91 --kernel triad",
            "set a figure that the machine file lacks"},
    example{"nodewise model traffic.json",
            "predict the time of traffic from `run --on lab:NAME --on-counts traffic.json`"},
    example{"nodewise model traffic.json --region sweep --json -o predicted.json",
            "predict only the traffic between two marks, as JSON"},
};
constexpr std::array<verb_flag_text, 4> model_texts = {
    {{&flags::input, flags::input.help, "this machine; for TRAFFIC.json, the machine in this file"},
     {&flags::threads, "number of threads of the loop", "one per core"},
     {&flags::bind,
      "bind threads: close (fill one node after the other), spread (evenly over all nodes)",
      "spread"},
     {&flags::memory,
      "place the arrays: serial (one thread touches all first), local (each thread touches its "
      "part first), bind:NODES, prefer:NODES, interleave[:NODES], blocked (one part per thread), "
      "cyclic:SIZE[:NODES] (pieces of SIZE in turn), weighted:NODE=WEIGHT,..., "
      "weighted:auto[:NODES] (by the machine's bandwidths)",
      "local"}}};
constexpr std::array<verb_exit, 2> model_codes = {{{exit_code::bad_input}, {exit_code::refused}}};

// measure

constexpr auto measure_flags =
    join(std::array<flag_list, 9>{&flags::full, &flags::only, &flags::measured_kernel,
                                  &flags::workgroup, &flags::point_time, &flags::buffer_size,
                                  &flags::buffer_pages, &flags::compare, &flags::weights},
         std::array<flag_list, 5>{&flags::no_keep, &flags::json, &flags::output, &flags::strict,
                                  &flags::quiet},
         on_a_machine, every_verb);
constexpr std::array<std::string_view, 1> measure_aliases = {"bench"};
constexpr std::array measure_examples = {
    example{"nodewise measure", "measure bandwidths and latencies between all nodes in about 30 s"},
    example{"nodewise measure --full -o today.json", "run all experiments and save them as JSON"},
    example{"nodewise measure --compare last-week.json", "measure again and print what changed"},
    example{"nodewise measure --compare old.json new.json", "compare two saved measurements"},
    example{"nodewise measure --only latency,loaded-latency --time 5",
            "run two experiments, with more time for each figure"},
    example{"nodewise measure -t triad,triad_nt --size 2G",
            "run two kernels, counted as STREAM counts them"},
    example{"nodewise measure -t triad -w S0:1GB:2:1:2-0:S1,1:S1",
            "as likwid-bench: two threads on socket 0, two of the arrays in socket 1"},
    example{"nodewise measure today.json --weights",
            "print the kernel's interleaving weights for a saved measurement"},
};
constexpr std::array<verb_flag_text, 2> measure_texts = {
    {{&flags::compare, "compare FILE.json with a new measurement, or two FILE.json with each "
                       "other; -o writes the newer one; not with --json"},
     {&flags::strict, "exit with code 1 if a figure is unavailable"}}};
constexpr auto measure_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed,
          "a kernel computed a wrong result, or with --strict, a figure is unavailable"},
         {exit_code::bad_input},
         {exit_code::refused}}},
    codes_of_on);

// profile

constexpr auto profile_flags =
    join(std::array<flag_list, 3>{&flags::process, &flags::duration, &flags::compare},
         std::array<flag_list, 5>{&flags::write_plan, &flags::prove, &flags::no_prove,
                                  &flags::verbose, &flags::input},
         std::array<flag_list, 8>{&flags::cpunodebind, &flags::physcpubind, &flags::bind,
                                  &flags::pin, &flags::threads, &flags::main_thread, &flags::places,
                                  &flags::ranks_per},
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::strict, &flags::quiet},
         on_a_machine, every_verb);
constexpr std::array profile_examples = {
    example{"nodewise profile -- ./solver -n 4096",
            "print misplaced arrays, the line that touched them first, and how to fix them"},
    example{"nodewise profile --write-plan solver.plan.json -- ./solver -n 4096",
            "write the fix for nodewise run --plan solver.plan.json -- ./solver"},
    example{"nodewise profile --on lab:4x2 -- ./solver",
            "profile in a virtual machine of 4 nodes, with exact counts of all accesses"},
    example{"nodewise profile --bind close -o before.json -- ./solver",
            "bind the threads and save the profile"},
    example{"nodewise profile --compare before.json after.json", "compare two saved profiles"},
    example{"nodewise profile before.json --input lab:yuca-4x8",
            "predict the gains of a saved profile on another machine"},
    example{"nodewise profile -p 4711 --duration 10", "observe a running process for 10 s"},
    example{"mpirun -n 4 nodewise profile --ranks-per node -o prof-%r.json -- ./solver",
            "profile each MPI rank; nodewise profile prof-*.json shows them together"},
};
constexpr std::array<verb_flag_text, 5> profile_texts = {
    {{&flags::compare, "compare two saved profiles and print what changed"},
     {&flags::input,
      "predict gains with the bandwidths and latencies of another machine: FILE.json, FILE.xml "
      "from lstopo, sysfs:DIR, lab:NAME, NODESxCORES such as 4x2, or a synthetic description of "
      "hwloc",
      "the machine of the profile"},
     {&flags::json, "print the findings as JSON"},
     {&flags::output,
      "save the profile as JSON in FILE, for `nodewise profile FILE`; in the name, %r is the local "
      "MPI rank, %h the host, %p the process ID, %% a percent sign"},
     {&flags::strict, "fail if the kernel refuses to sample"}}};
constexpr auto profile_codes = join(
    std::array<verb_exit, 2>{{{exit_code::bad_input}, {exit_code::refused}}}, codes_of_program);

// drop-cache

constexpr auto drop_cache_flags =
    join(std::array<flag_list, 2>{&flags::cache_nodes, &flags::drop_by},
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::strict, &flags::quiet},
         on_a_machine, every_verb);
constexpr std::array<std::string_view, 1> drop_cache_aliases = {"sweep"};
constexpr std::array drop_cache_examples = {
    example{"nodewise drop-cache", "free memory on all nodes before a run"},
    example{"nodewise drop-cache --nodes 0",
            "free only node 0, which holds files that were copied for a job"},
    example{"nodewise drop-cache /scratch/mesh.dat /scratch/restart.*",
            "drop only the cached pages of these files"},
};
constexpr std::array<verb_flag_text, 1> drop_cache_texts = {
    {{&flags::strict,
      "exit with code 1 if page cache is left, or it is unknown whether any is left"}}};
constexpr auto drop_cache_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed,
          "with --strict, page cache is left, or it is unknown whether any is"},
         {exit_code::bad_input, "a named file was not dropped, or only a part of it"},
         {exit_code::refused}}},
    codes_of_on);

// help, internal

constexpr std::array help_examples = {
    example{"nodewise help run", "print the same as nodewise run --help"},
};
constexpr std::array internal_examples = {
    example{"nodewise internal man run", "print the manual page of a verb as roff"},
    example{"nodewise internal completion bash", "print the completion script: bash, zsh or fish"},
};

constexpr std::array table = {
    verb{.name = "topo",
         .summary = "draw the machine and what this process may use of it",
         .usage = "[options]",
         .description = "Draws nodes, packages, cores and distances. Numbers are those of the "
                        "operating system, as in numactl -H. Marks processors and nodes that this "
                        "process may not use (control group, affinity).",
         .flags = topo_flags,
         .examples = topo_examples,
         .exit_codes = topo_codes},
    verb{.name = "run",
         .summary = "start an unmodified program with its threads and memory placed",
         .usage = "[options] [--] PROGRAM [arguments] | --show | --hardware",
         .description =
             "Exit code, signals and streams are the program's own. Options with numactl's names "
             "work as in numactl, with three differences: -N stays inside the inherited affinity, "
             "--all widens it without -N and -C, too, and -b without -m prints a warning. Nodes "
             "are written 0-3, 0,2, +0 (the first allowed node), !0 (all but node 0) or all. Sizes "
             "accept the suffixes K, M, G and T (powers of 1024): 64K, 8MiB.",
         .flags = run_flags,
         .flag_texts = run_texts,
         .takes = operands::program,
         .examples = run_examples,
         .exit_codes = run_codes},
    verb{.name = "doctor",
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
         .exit_codes = doctor_codes},
    verb{.name = "pages",
         .summary = "draw where the pages of a process are",
         .usage = "[options] PID... | [options] -- PROGRAM [arguments]",
         .description =
             "Draws, for each mapping or array, on which node its pages are, from the first page "
             "to the last. Pages that are not in memory, and the kernel's shared page of zeros, "
             "are on no node. You need root to examine processes of other users. Several processes "
             "can be given, each as PID or -p PID. Without --at, a PROGRAM is stopped for a moment "
             "just before it ends, and examined then.",
         .flags = pages_flags,
         .flag_texts = pages_texts,
         .takes = operands::names_or_program,
         .examples = pages_examples,
         .exit_codes = pages_codes},
    verb{.name = "profile",
         .summary = "find misplaced arrays, their first touch, and the fix",
         .usage = "[options] -- PROGRAM [arguments] | -p PID | FILE.json...",
         .description =
             "Runs an unmodified program and records by page faults which thread and source line "
             "touched the pages of each array first. If the kernel's NUMA balancing is on, it "
             "samples which threads use the arrays; with --on, all uses are counted. Needs neither "
             "root nor hardware counters. Prints each problem with a fix and the gain that the "
             "model predicts, and which evidence is missing. With -p it observes a running "
             "process. FILE.json is a profile saved by -o: one FILE is evaluated again; several "
             "FILEs are the ranks of one MPI run; with --compare, two FILEs are compared.",
         .flags = profile_flags,
         .flag_texts = profile_texts,
         .takes = operands::names_or_program,
         .examples = profile_examples,
         .exit_codes = profile_codes},
    verb{
        .name = "measure",
        .aliases = measure_aliases,
        .summary = "measure bandwidth and latency from every node to every memory",
        .usage = "[options] [FILE.json] | --compare OLD.json [NEW.json]",
        .description =
            "Measures bandwidth and latency from the processors of each node to each memory, the "
            "bandwidth of each memory when all processors use it, STREAM's loops, and the speed of "
            "first touch; with --full also interleaving, scaling, mixes, loaded latency, transfers "
            "between cores, and migration. Prints medians with 95 % intervals, and marks figures "
            "(measured values) that other programs disturbed. Saves a complete measurement of the "
            "whole machine for topo and run --memory weighted:auto. FILE.json is a result saved by "
            "-o: it is shown again. With --compare, one FILE is compared with a new measurement, "
            "two FILEs with each other. Ctrl-C stops and prints what has been measured.",
        .flags = measure_flags,
        .flag_texts = measure_texts,
        .takes = operands::names,
        .examples = measure_examples,
        .exit_codes = measure_codes},
    verb{
        .name = "drop-cache",
        .aliases = drop_cache_aliases,
        .summary = "empty the page cache, so that new memory is local",
        .usage = "[options] [FILE...]",
        .description =
            "Files that were read or written stay in memory. If they fill a node, new memory of a "
            "program comes from other nodes. As root, nodewise writes changed pages to disk and "
            "lets the kernel drop the page cache of all nodes. Without root, or if --nodes selects "
            "only some nodes, nodewise allocates memory on these nodes until the kernel has "
            "evicted their page cache, and frees it again; it stops as soon as the kernel begins "
            "to swap, and if memory runs out, the kernel kills nodewise first. If files are named, "
            "only their pages are dropped. No data is lost: it is read again when needed.",
        .flags = drop_cache_flags,
        .flag_texts = drop_cache_texts,
        .takes = operands::names,
        .examples = drop_cache_examples,
        .exit_codes = drop_cache_codes},
    verb{.name = "lab",
         .summary = "list, describe and use virtual NUMA machines",
         .usage = "[options] ACTION [MACHINE] [-- PROGRAM [arguments]]",
         .description =
             "A lab machine is a virtual machine under QEMU. It needs neither root nor KVM, has a "
             "real kernel, and runs your programs from your own file system. MACHINE is a name "
             "from the list, the path of a machine file, or NODESxCORES[xTHREADS] such as 4x2. If "
             "PROGRAM fails, a check ends with the program's exit code, so let PROGRAM end with 0.",
         .flags = lab_flags,
         .flag_texts = lab_texts,
         .takes = operands::names_or_program,
         .actions = lab_actions,
         .examples = lab_examples,
         .exit_codes = lab_codes},
    verb{.name = "model",
         .summary = "predict the time of a loop, or of traffic counted in the lab",
         .usage = "[options] TRAFFIC.json | [options] --kernel NAME",
         .description = "Predicts the time of a loop (--kernel), or of memory traffic counted in "
                        "the lab (TRAFFIC.json), from the bandwidths and latencies in a machine "
                        "file. Prints what limits the threads, the time of the best placement, and "
                        "how much the prediction changes with each input. Runs and measures "
                        "nothing. The threads of a loop are bound, one per core.",
         .flags = model_flags,
         .flag_texts = model_texts,
         .takes = operands::names,
         .examples = model_examples,
         .exit_codes = model_codes},
    verb{.name = "help",
         .summary = "print the help of a verb",
         .usage = "[VERB]",
         .description = "Prints the help of VERB, as nodewise VERB --help does; without VERB, the "
                        "list of verbs.",
         .flags = every_verb,
         .takes = operands::names,
         .examples = help_examples,
         .exit_codes = {}},
    verb{.name = "internal",
         .summary = "print manual pages and completion scripts for the build",
         .usage = "man [VERB] | man-pages DIRECTORY | completion SHELL",
         .description = "Not an interface: it may change without notice.",
         .flags = every_verb,
         .takes = operands::names,
         .examples = internal_examples,
         .exit_codes = {},
         .hidden = true},
};

} // namespace

std::span<const verb> all_verbs() noexcept {
  return table;
}

std::span<const flag* const> command_flags() noexcept {
  return every_verb;
}

} // namespace nodewise::cli
