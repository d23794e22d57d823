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

template <std::size_t... N>
constexpr auto join(const std::array<flag_list, N>&... parts) {
  std::array<flag_list, (N + ...)> all{};
  std::size_t at = 0;
  ((std::copy(parts.begin(), parts.end(), all.begin() + static_cast<std::ptrdiff_t>(at)), at += N),
   ...);
  return all;
}

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
constexpr std::array topo_codes = {exit_code::bad_input};

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
            "apply a plan, and print which arrays its entries fit"},
    example{"nodewise run --plan solver.plan.json --threads 4 --strict ./solver",
            "apply the plan to another number of threads, but not to another build"},
    example{"nodewise run --plan-optional solver.plan.json ./solver",
            "run without the plan if the file is missing or broken"},
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
            "write the memory traffic by array, source line, page and node"},
};
constexpr std::array run_codes = {exit_code::check_failed, exit_code::bad_input,
                                  exit_code::refused,      exit_code::time_limit,
                                  exit_code::not_started,  exit_code::not_executable,
                                  exit_code::not_found,    exit_code::signal_base};

// doctor

constexpr auto doctor_flags =
    join(std::array<flag_list, 2>{&flags::process, &flags::input},
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::strict, &flags::quiet},
         on_a_machine, every_verb);
constexpr std::array doctor_examples = {
    example{"nodewise doctor", "check system calls and settings, with a fix for each problem"},
    example{"nodewise doctor --quiet && echo ready",
            "in a script: exit code 4 if a system call is refused"},
    example{"nodewise doctor --strict --quiet", "exit code 1 if there is a warning"},
    example{"nodewise doctor --json -o doctor-%h.json",
            "write a report for a ticket or a cluster's inventory"},
    example{"nodewise doctor -i doctor-node7.json", "show such a report"},
    example{"nodewise doctor -p 4711", "examine process 4711"},
};
constexpr std::array doctor_codes = {exit_code::check_failed, exit_code::bad_input,
                                     exit_code::refused};

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
constexpr std::array pages_codes = {exit_code::check_failed, exit_code::refused,
                                    exit_code::not_started,  exit_code::not_executable,
                                    exit_code::not_found,    exit_code::signal_base};

// lab

constexpr auto lab_flags =
    join(std::array<flag_list, 5>{&flags::phase, &flags::object, &flags::all, &flags::min_local,
                                  &flags::max_imbalance},
         flags::run_placement,
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::quiet, &flags::verbose},
         on_a_machine, every_verb);
constexpr std::array lab_actions = {
    action{"list", "", "list the machines that come with nodewise"},
    action{"describe", "MACHINE", "draw a machine, with the sources of its figures"},
    action{"shell", "MACHINE", "open a shell in a virtual machine, without a time limit"},
    action{"selftest", "MACHINE", "boot a machine and compare it with its machine file"},
    action{"check", "-- PROGRAM", "run a program, count its memory traffic and check it"},
    action{"cache", "list|remove", "list or remove stored kernels and snapshots"},
};
constexpr std::array lab_examples = {
    example{"nodewise lab list", "list the names for --on lab:NAME and --input lab:NAME"},
    example{"nodewise lab describe 4x2 --json", "print the machine file, for editing"},
    example{"nodewise lab shell 4x2", "open a shell on 4 nodes with 2 cores each"},
    example{"nodewise lab selftest 4x2", "test whether the lab works here"},
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
constexpr std::array lab_codes = {
    exit_code::check_failed,   exit_code::bad_input, exit_code::time_limit, exit_code::not_started,
    exit_code::not_executable, exit_code::not_found, exit_code::signal_base};

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
            "add a figure that the machine file lacks"},
    example{"nodewise model traffic.json",
            "predict the time of traffic from `run --on lab:NAME --on-counts traffic.json`"},
    example{"nodewise model traffic.json --region sweep --json -o predicted.json",
            "predict only the traffic between two marks, as JSON"},
};
constexpr std::array model_codes = {exit_code::bad_input, exit_code::refused};

// measure

constexpr auto measure_flags = join(
    std::array<flag_list, 9>{&flags::full, &flags::only, &flags::measured_kernel, &flags::workgroup,
                             &flags::point_time, &flags::buffer_size, &flags::buffer_pages,
                             &flags::compare, &flags::weights},
    std::array<flag_list, 5>{&flags::no_keep, &flags::json, &flags::output, &flags::strict,
                             &flags::quiet},
    on_a_machine, std::array<flag_list, 2>{&flags::on_no_count, &flags::on_counts}, every_verb);
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
constexpr std::array measure_codes = {exit_code::check_failed, exit_code::bad_input,
                                      exit_code::refused, exit_code::signal_base};

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
            "print misplaced arrays, which line first touched them, and how to fix it"},
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
constexpr std::array profile_codes = {
    exit_code::bad_input,      exit_code::refused,   exit_code::time_limit, exit_code::not_started,
    exit_code::not_executable, exit_code::not_found, exit_code::signal_base};

// drop-cache

constexpr auto drop_cache_flags =
    join(std::array<flag_list, 2>{&flags::cache_nodes, &flags::drop_by},
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::strict, &flags::quiet},
         on_a_machine, every_verb);
constexpr std::array<std::string_view, 1> drop_cache_aliases = {"sweep"};
constexpr std::array drop_cache_examples = {
    example{"nodewise drop-cache", "free memory on all nodes before a run"},
    example{"nodewise drop-cache --nodes 0", "free only node 0, where files copied for a job are"},
    example{"nodewise drop-cache /scratch/mesh.dat /scratch/restart.*",
            "drop only the cached pages of these files"},
};
constexpr std::array drop_cache_codes = {exit_code::check_failed, exit_code::bad_input,
                                         exit_code::refused};

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
         .description =
             "Draws nodes, packages, cores and distances, with the operating system's numbers, "
             "which numactl -H also prints. Marks what the control group or the affinity does not "
             "allow this process to use.",
         .flags = topo_flags,
         .examples = topo_examples,
         .exit_codes = topo_codes},
    verb{.name = "run",
         .summary = "start an unmodified program with its threads and memory placed",
         .usage = "[options] [--] PROGRAM [arguments]",
         .description =
             "Exit code, signals and streams are the program's own. Options with numactl's names "
             "work as in numactl. "
             "Nodes are written 0-3, 0,2, +0 (counted among the allowed ones), !0 or all. Sizes "
             "accept the suffixes K, M and G (powers of 1024).",
         .flags = run_flags,
         .takes = operands::program,
         .examples = run_examples,
         .exit_codes = run_codes},
    verb{.name = "doctor",
         .summary = "check permissions and settings that affect placement",
         .usage = "[options]",
         .description =
             "Tries each system call that nodewise needs, without lasting effects. Checks the "
             "settings that affect placement, the present state of memory, and environment "
             "variables that contradict each other. Prints a fix for each problem. A value that "
             "cannot be read is \"unavailable\", never 0. With -p or -i no system call is tried.",
         .flags = doctor_flags,
         .examples = doctor_examples,
         .exit_codes = doctor_codes},
    verb{.name = "pages",
         .summary = "draw where the pages of a process are",
         .usage = "[options] PID... | [options] -- PROGRAM [arguments]",
         .description =
             "Draws the nodes of each mapping's or array's pages, from the first page to the last. "
             "Pages that are not in memory, and the kernel's shared page of zeros, are on no node. "
             "Processes of other users need root. Several processes can be given, each as PID or "
             "-p PID. A PROGRAM is stopped for a moment just before it ends.",
         .flags = pages_flags,
         .takes = operands::names_or_program,
         .examples = pages_examples,
         .exit_codes = pages_codes},
    verb{.name = "profile",
         .summary = "find misplaced arrays, their first touch, and the fix",
         .usage = "[options] -- PROGRAM [arguments] | -p PID | FILE.json...",
         .description =
             "Runs an unmodified program and samples its page faults: which thread and source line "
             "touched each page of each array first. The kernel's NUMA balancing, if on, samples "
             "which threads use the arrays; a lab machine counts all uses. Needs neither root nor "
             "hardware counters. Prints each problem with a fix and the gain that the model "
             "predicts, and "
             "which evidence is missing. With -p it observes a running process. FILE.json is a "
             "profile saved by -o: one is evaluated again, several are shown as the ranks of one "
             "MPI run, and --compare compares two. With --json it prints the findings as JSON.",
         .flags = profile_flags,
         .takes = operands::names_or_program,
         .examples = profile_examples,
         .exit_codes = profile_codes},
    verb{.name = "measure",
         .aliases = measure_aliases,
         .summary = "measure bandwidth and latency from every node to every node",
         .usage = "[options] [FILE.json]",
         .description =
             "Measures bandwidth and latency from the processors of each node to each memory, the "
             "bandwidth of one memory that all processors share, STREAM's loops, and the speed of "
             "first touch; with --full also mixes, scaling, latency under load, transfers between "
             "cores, and migration. Prints medians with 95 % intervals and what disturbed them. "
             "Saves a complete measurement of the whole machine for topo and run --memory "
             "weighted:auto. FILE.json is a result saved by -o: it is shown again. With --compare, "
             "one FILE.json is compared with a new measurement, two with each other. Ctrl-C stops "
             "and prints what has been measured.",
         .flags = measure_flags,
         .takes = operands::names,
         .examples = measure_examples,
         .exit_codes = measure_codes},
    verb{.name = "drop-cache",
         .aliases = drop_cache_aliases,
         .summary = "empty the page cache, so that first touch is local",
         .usage = "[options] [FILE...]",
         .description =
             "Files that were read or written stay in the memory of a node, so pages that a "
             "program first touches there may come from other nodes. With root, the kernel drops "
             "all clean pages on all nodes. Without root, or if --nodes selects only some nodes, "
             "memory is allocated on each node until the kernel has evicted the page cache; this "
             "stops before the kernel swaps or kills a process. If files are named, only their "
             "pages are dropped. No data is lost: it is read again when needed.",
         .flags = drop_cache_flags,
         .takes = operands::names,
         .examples = drop_cache_examples,
         .exit_codes = drop_cache_codes},
    verb{.name = "lab",
         .summary = "list, describe, open and check virtual NUMA machines",
         .usage = "[options] ACTION [MACHINE] [-- PROGRAM [arguments]]",
         .description =
             "A lab machine runs under QEMU, needs neither root nor KVM, and runs the programs of "
             "this system with a real kernel. MACHINE is a name from the list, the path of a "
             "machine file, or NODESxCORES[xTHREADS] such as 4x2. If PROGRAM fails, a check ends "
             "with the program's exit code.",
         .flags = lab_flags,
         .takes = operands::names_or_program,
         .actions = lab_actions,
         .examples = lab_examples,
         .exit_codes = lab_codes},
    verb{.name = "model",
         .summary = "predict the time of a loop or of counted traffic on a machine",
         .usage = "[options] TRAFFIC.json | [options] --kernel NAME",
         .description =
             "Predicts the time of a described loop, or of traffic counted in the lab, from the "
             "bandwidths and latencies in a machine file. Prints what limits the threads, the time "
             "of the best placement, and how much the prediction depends on each figure. Runs and "
             "measures nothing. Traffic is predicted for the machine in its file unless --input is "
             "given. The threads of a loop are bound spread, one per core, and each touches its "
             "part of the arrays first; with --memory serial one thread touches all of them first.",
         .flags = model_flags,
         .takes = operands::names,
         .examples = model_examples,
         .exit_codes = model_codes},
    verb{.name = "help",
         .summary = "print the help of a verb",
         .usage = "[VERB]",
         .description = "Prints the same as nodewise VERB --help.",
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
