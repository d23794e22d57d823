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
    example{"nodewise topo", "this machine, and what this process may use of it"},
    example{"nodewise topo --input lab:4x2", "a machine of 4 nodes with 2 cores each"},
    example{"nodewise topo -i cluster-node.xml --json", "a machine recorded by lstopo, as JSON"},
    example{"nodewise topo --xml -o node.xml",
            "for lstopo, MPI launchers and other users of hwloc"},
    example{"nodewise topo -i node.xml --costs node.json --xml -o costs.xml",
            "with measured bandwidths and latencies, which `lstopo --memattrs` prints"},
    example{"nodewise topo --on lab:4x2", "what a program sees inside a virtual machine"},
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
    example{"nodewise run -N 0 -m 0 ./solver", "processors and memory of node 0, as with numactl"},
    example{"nodewise run --bind spread --memory blocked --verify -- ./solver -n 4096",
            "threads over all nodes, each array in equal parts beside them; then check the pages"},
    example{"nodewise run --plan solver.plan.json --verify -- ./solver -n 4096",
            "threads and arrays as a plan says; then which of its entries fitted what"},
    example{"nodewise run --plan solver.plan.json --threads 4 --strict ./solver",
            "with fewer threads than it was made for; not at all if the program is another build"},
    example{"nodewise run --plan-optional solver.plan.json ./solver",
            "the same, but without a plan if the file is missing or broken"},
    example{"nodewise run --memory interleave --dry-run ./solver",
            "the equivalent numactl and OpenMP settings, nothing is started"},
    example{"nodewise run --pin S0:0-3@S1:0-3 ./solver", "as likwid-pin -c"},
    example{"mpirun -n 4 --bind-to none nodewise run --ranks-per node --bind close ./solver",
            "a node for each rank, its threads on the cores of it"},
    example{"mpirun -n 4 nodewise run --ranks-per node --json -o run-%r.json ./solver",
            "one result a rank"},
    example{"nodewise run --memory blocked --verify --on lab:4x2 ./solver",
            "the same on a virtual machine of 4 nodes; then what was local and what was not"},
    example{"nodewise run --on lab:4x2 --on-counts traffic.json -- ./solver",
            "the memory traffic by array, source line, page and node"},
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
    example{"nodewise doctor", "every system call tried, every setting read, a cure beside each"},
    example{"nodewise doctor --quiet && echo ready",
            "in a script: exit code 4 if a call is refused"},
    example{"nodewise doctor --strict --quiet", "exit code 1 if there is a warning, too"},
    example{"nodewise doctor --json -o doctor-%h.json", "for a ticket or a cluster's inventory"},
    example{"nodewise doctor -i doctor-node7.json", "what such a file says"},
    example{"nodewise doctor -p 4711", "what process 4711 may use, and how it is set"},
};
constexpr std::array doctor_codes = {exit_code::check_failed, exit_code::bad_input,
                                     exit_code::refused};

// pages

constexpr auto pages_flags =
    join(std::array<flag_list, 10>{&flags::process, &flags::at, &flags::watch, &flags::interval,
                                   &flags::count, &flags::method, &flags::all_mappings,
                                   &flags::totals, &flags::csv, &flags::migrate},
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::strict, &flags::quiet},
         on_a_machine, every_verb);
constexpr std::array pages_examples = {
    example{"nodewise pages 4711", "where the pages of process 4711 are"},
    example{"nodewise pages --watch=2 -p 4711", "the same, drawn again every two seconds"},
    example{"nodewise pages -- ./solver -n 4096", "of a program, just before it ends"},
    example{"nodewise pages --csv --interval 1 -o pages.csv 4711 4712",
            "how much is on each node over time, of two processes"},
    example{"nodewise pages -p 4711 --migrate 0:1", "its pages from node 0 to node 1"},
};
constexpr std::array pages_codes = {exit_code::check_failed, exit_code::refused,
                                    exit_code::not_started,  exit_code::not_executable,
                                    exit_code::not_found,    exit_code::signal_base};

// lab

constexpr auto lab_flags =
    join(std::array<flag_list, 5>{&flags::json, &flags::output, &flags::quiet, &flags::verbose,
                                  &flags::all},
         std::array<flag_list, 4>{&flags::min_local, &flags::max_imbalance, &flags::phase,
                                  &flags::object},
         flags::run_placement, on_a_machine, every_verb);
constexpr std::array lab_actions = {
    action{"list", "", "the machines that come with nodewise"},
    action{"describe", "MACHINE", "what is known of one, and where it is from"},
    action{"shell", "MACHINE", "a shell inside a virtual machine"},
    action{"selftest", "MACHINE",
           "boot it and check what the kernel sees against the machine file"},
    action{"check", "-- PROGRAM", "run it there, count its memory traffic, and judge that"},
    action{"cache", "list|remove", "kernels and snapshots that make the next start fast"},
};
constexpr std::array lab_examples = {
    example{"nodewise lab list", "what can follow lab: in --on and --input"},
    example{"nodewise lab describe 4x2 --json", "the machine file, for one to be edited"},
    example{"nodewise lab shell 4x2", "look around on 4 nodes with 2 cores each"},
    example{"nodewise lab selftest 4x2", "does the lab work here?"},
    example{"nodewise lab check --on lab:4x2 --min-local 0.95 -- ./solver",
            "in continuous integration: exit code 1 if less than 95 % of the lines it used "
            "were local"},
    example{"nodewise lab check --on lab:4x2 --min-local 0.99 --object a.c:41 -- ./solver",
            "only what was allocated on that line"},
    example{"nodewise lab check --on lab:4x2 --bind close --min-local 0.9 -- ./solver",
            "placed as by `nodewise run` with the same options"},
    example{"nodewise lab check --on lab:4x2 --max-imbalance 1.5 --phase all -- ./solver",
            "no memory has much more to do than the others"},
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
            "how much slower the triad is whose arrays one thread has initialised"},
    example{"nodewise model --input lab:opteron-4x2 --kernel triad --sweep threads=1,2,4,8",
            "the time by the number of threads"},
    example{"nodewise model -i lab:yuca-4x8 --kernel copy --sweep memory=serial,interleave",
            "two placements of the same arrays"},
    example{"nodewise model -i lab:westmere-2x6 --set shared_efficiency=0.91 --kernel triad",
            "with a figure that the machine's file lacks"},
    example{"nodewise model traffic.json",
            "the time of what `run --on lab:NAME --on-counts traffic.json` has counted"},
    example{"nodewise model traffic.json --region sweep --json -o predicted.json",
            "of what moved between two marks, as JSON"},
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
    example{"nodewise measure", "bandwidths and latencies between all nodes, in half a minute"},
    example{"nodewise measure --full -o today.json", "every experiment, kept as JSON"},
    example{"nodewise measure --compare last-week.json", "measure again, and what changed since"},
    example{"nodewise measure --compare old.json new.json", "two measurements that were kept"},
    example{"nodewise measure --only latency,loaded-latency --time 5",
            "some experiments, with more patience"},
    example{"nodewise measure -t triad,triad_nt --size 2G", "two kernels, as STREAM counts them"},
    example{"nodewise measure -t triad -w S0:1GB:2:1:2-0:S1,1:S1",
            "as likwid-bench: two threads of socket 0, two of the arrays in socket 1"},
    example{"nodewise measure today.json --weights",
            "the kernel's weights for interleaving, by what was measured"},
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
            "which arrays are in the wrong place, who put them there, what cures it"},
    example{"nodewise profile --write-plan solver.plan.json -- ./solver -n 4096",
            "and the cure as a file, for nodewise run --plan solver.plan.json -- ./solver"},
    example{"nodewise profile --on lab:4x2 -- ./solver",
            "on a virtual machine of 4 nodes, with exact counts of who used what"},
    example{"nodewise profile --bind close -o before.json -- ./solver",
            "threads bound; the profile kept"},
    example{"nodewise profile --compare before.json after.json", "what moved, what is better"},
    example{"nodewise profile before.json --input lab:yuca-4x8",
            "advice on a profile that was kept, by another machine's figures"},
    example{"nodewise profile -p 4711 --duration 10", "a process that runs already"},
    example{"mpirun -n 4 nodewise profile --ranks-per node -o prof-%r.json -- ./solver",
            "a profile of each MPI rank; nodewise profile prof-*.json shows them together"},
};
constexpr std::array profile_codes = {
    exit_code::bad_input,      exit_code::refused,   exit_code::time_limit, exit_code::not_started,
    exit_code::not_executable, exit_code::not_found, exit_code::signal_base};

// sweep

constexpr auto sweep_flags =
    join(std::array<flag_list, 2>{&flags::swept_nodes, &flags::sweep_by},
         std::array<flag_list, 4>{&flags::json, &flags::output, &flags::strict, &flags::quiet},
         on_a_machine, every_verb);
constexpr std::array sweep_examples = {
    example{"nodewise sweep", "before a run whose memory is to be where it is touched"},
    example{"nodewise sweep --nodes 0", "node 0 only, which is where copies into a job land"},
    example{"nodewise sweep /scratch/mesh.dat /scratch/restart.*", "only what these files hold"},
};
constexpr std::array sweep_codes = {exit_code::check_failed, exit_code::bad_input,
                                    exit_code::refused};

// help, internal

constexpr std::array help_examples = {
    example{"nodewise help run", "the same as nodewise run --help"},
};
constexpr std::array internal_examples = {
    example{"nodewise internal man run", "the manual page of a verb, as roff"},
    example{"nodewise internal completion bash", "for a shell to read: bash, zsh or fish"},
};

constexpr std::array table = {
    verb{.name = "topo",
         .summary = "draw the machine and what this process may use of it",
         .usage = "[options]",
         .description =
             "Draws nodes, packages, cores and distances, by the operating system's numbers "
             "as numactl -H prints them. What the process may not use, because of its "
             "control group or affinity, is marked.",
         .flags = topo_flags,
         .examples = topo_examples,
         .exit_codes = topo_codes},
    verb{.name = "run",
         .summary = "start an unmodified program with its threads and memory placed",
         .usage = "[options] [--] PROGRAM [arguments]",
         .description =
             "The program is started in place of nodewise; numactl's options mean what they "
             "mean there. Nodes are written 0-3, 0,2, +0 (of those allowed), !0 or all. "
             "Sizes take K, M, G (powers of 1024).",
         .flags = run_flags,
         .takes = operands::program,
         .examples = run_examples,
         .exit_codes = run_codes},
    verb{.name = "doctor",
         .summary = "what is permitted and what is in the way on this machine",
         .usage = "[options]",
         .description =
             "Tries every system call that nodewise needs, one by one, in a way that leaves "
             "nothing behind; reads the settings that change results, what memory is like now, and "
             "variables that contradict each other. Each fault comes with its cure. What cannot be "
             "read is \"unavailable\", never 0. Of another process (-p) and of a file (-i) nothing "
             "is "
             "tried.",
         .flags = doctor_flags,
         .examples = doctor_examples,
         .exit_codes = doctor_codes},
    verb{.name = "pages",
         .summary = "draw where the pages of a process are",
         .usage = "[options] PID... | [options] -- PROGRAM [arguments]",
         .description =
             "Each mapping or array with the nodes of its pages, the first page left. A page that "
             "is not in memory is on no node, and neither is the kernel's page of zeros. Processes "
             "of other users need root. Several processes may be named, each as PID or -p PID. A "
             "PROGRAM is stopped for a moment just before it ends.",
         .flags = pages_flags,
         .takes = operands::names_or_program,
         .examples = pages_examples,
         .exit_codes = pages_codes},
    verb{.name = "profile",
         .summary = "who touches what, what is wrong, and what cures it",
         .usage = "[options] -- PROGRAM [arguments] | -p PID | FILE.json...",
         .description =
             "Runs an unmodified program and watches its page faults: which thread touched each "
             "page of each array first, and from which line. Who uses the arrays is sampled where "
             "the kernel's NUMA balancing is on, and counted in the lab. Neither root nor hardware "
             "counters are needed. What is wrong comes with its cure and the gain that the model "
             "predicts; what could not be seen is said. FILE.json is what -o wrote before: advice "
             "on it, on several together as the ranks of one MPI run, or with --compare on two of "
             "them. With -p it is one process that runs already. With --json the advice is printed "
             "as JSON.",
         .flags = profile_flags,
         .takes = operands::names_or_program,
         .examples = profile_examples,
         .exit_codes = profile_codes},
    verb{.name = "measure",
         .aliases = measure_aliases,
         .summary = "what memory costs here, from every node to every node",
         .usage = "[options] [FILE.json]",
         .description =
             "Measures bandwidth and latency from the processors of each node to the memory of "
             "each, what a memory gives when all processors want it, STREAM's loops, and how fast "
             "fresh pages come; with --full also mixes, scaling, latency under load, transfers "
             "between cores and migration. Figures are medians with the interval that holds them "
             "95 times of 100; what disturbed them is said beside them. A complete measurement of "
             "the whole machine is kept, for topo and for run --memory weighted:auto. FILE.json is "
             "what -o wrote before: it is shown again. Ctrl-C ends it and keeps what is measured.",
         .flags = measure_flags,
         .takes = operands::names,
         .examples = measure_examples,
         .exit_codes = measure_codes},
    verb{.name = "sweep",
         .summary = "empty the page cache of nodes, so that memory is local again",
         .usage = "[options] [FILE...]",
         .description =
             "Files that were read or written stay in the memory of some node, and what a program "
             "touches there first goes elsewhere. Root has the kernel drop all that is clean, on "
             "all nodes. Others name files; or, and where --nodes names some nodes only, memory is "
             "asked of each node until the kernel has given up its cache for it, which ends before "
             "it swaps or has to end somebody. Nothing is lost: what was cached is read again when "
             "it is wanted.",
         .flags = sweep_flags,
         .takes = operands::names,
         .examples = sweep_examples,
         .exit_codes = sweep_codes},
    verb{.name = "lab",
         .summary = "virtual NUMA machines: list, describe, open, check",
         .usage = "[options] ACTION [MACHINE] [-- PROGRAM [arguments]]",
         .description =
             "A lab machine is booted by QEMU, needs neither root nor KVM, and runs the "
             "programs of this system under a real kernel. MACHINE is a name from the list, "
             "a path of a machine file, or NODESxCORES[xTHREADS] such as 4x2. A check ends as "
             "its PROGRAM where that fails.",
         .flags = lab_flags,
         .takes = operands::names_or_program,
         .actions = lab_actions,
         .examples = lab_examples,
         .exit_codes = lab_codes},
    verb{.name = "model",
         .summary = "predict what a placement costs on a machine",
         .usage = "[options] TRAFFIC.json | [options] --kernel NAME",
         .description =
             "Predicts, by the bandwidths and latencies of a machine file, the time of traffic "
             "that was counted in the lab or of a loop that is described: memories, links and "
             "cores are shared fairly. Says what threads wait for, what the best placement would "
             "take, and how much the answer depends on each figure. Nothing is run or measured. "
             "Traffic is priced on the machine in its file; the threads of a loop are bound "
             "spread, one a core, and touch its arrays first.",
         .flags = model_flags,
         .takes = operands::names,
         .examples = model_examples,
         .exit_codes = model_codes},
    verb{.name = "help",
         .summary = "explain a verb",
         .usage = "[VERB]",
         .description = "The same as nodewise VERB --help.",
         .flags = every_verb,
         .takes = operands::names,
         .examples = help_examples,
         .exit_codes = {}},
    verb{.name = "internal",
         .summary = "what the build of nodewise needs of the command",
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
