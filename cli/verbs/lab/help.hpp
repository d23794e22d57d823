// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `lab`: its options, examples and exit codes.
#pragma once

#include "cli/start/flags.hpp"
#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/lab/flags.hpp"

namespace nodewise::cli {

inline constexpr auto lab_flags =
    join(std::array{&flags::phase, &flags::object, &flags::all, &flags::min_local,
                    &flags::max_imbalance},
         flags::run_placement, flags_of<check_forms>(),
         std::array{&flags::output, &flags::quiet, &flags::verbose}, on_a_machine, every_verb);
inline constexpr std::array lab_actions = {
    action{"list", "", "list the machines that come with nodewise"},
    action{"describe", "MACHINE",
           "draw the machine that the virtual one stands for, and list where its bandwidths and "
           "latencies come from"},
    action{"shell", "MACHINE[+MACHINE]...",
           "open a shell in a virtual machine, or on the first host of a cluster"},
    action{"selftest", "MACHINE", "boot a machine and compare it with its machine file"},
    action{"check", "-- PROGRAM",
           "run a program on the machine that --on names, and count its memory traffic; exit code "
           "1 if --min-local is not reached or --max-imbalance is exceeded (one is required); if "
           "the program fails, nothing is checked, and the exit code is the program's, which may "
           "also be 1"},
    action{"cache", "list|remove [KEY]",
           "list stored kernels and snapshots, or remove the entry KEY of the list; with --all, "
           "every entry"},
};
inline constexpr std::array lab_examples = {
    example{"nodewise lab list", "list the names for --on lab:NAME and --input lab:NAME"},
    example{"nodewise lab describe 4x2 --json", "print the machine file, for editing"},
    example{"nodewise lab shell 4x2", "open a shell on 4 nodes with 2 cores each"},
    example{"nodewise lab selftest 4x2", "test whether the lab works on this host"},
    example{"nodewise lab check --on lab:4x2 --min-local 0.95 -- ./solver",
            "in continuous integration: exit code 1 if less than 95 % of the cache lines are "
            "local"},
    example{"nodewise lab check --on lab:4x2 --min-local 0.99 --object a.c:41 -- ./solver",
            "check only memory allocated on this source line"},
    example{"nodewise lab check --on lab:4x2 --min-local 0.95 -o check.sarif -- ./solver",
            "also write a failed check to a file that GitHub shows at the source line"},
    example{"nodewise lab check --on lab:4x2 --bind close --min-local 0.9 -- ./solver",
            "place the program as `nodewise run` does with the same options"},
    example{"nodewise lab check --on lab:4x2 --max-imbalance 1.5 --phase all -- ./solver",
            "check that the traffic is balanced over the memories"},
};
inline constexpr std::array<verb_flag_text, 5> lab_texts = {
    {{&flags::phase, "with `check`, select traffic: use (after each page was initialised), init "
                     "(while it was initialised), all"},
     {&flags::sarif, "with `check`, print failed checks in SARIF 2.1.0, which GitHub shows at "
                     "source lines; also chosen by a FILE.sarif after -o"},
     {&flags::verbose, "also print times and the console of the virtual machine"},
     {&flags::on, "with `check`, the virtual machine to run in (required): lab:NAME from `nodewise "
                  "lab list`, lab:NODESxCORES[xTHREADS] such as lab:4x2, or lab:./FILE.json"},
     {&flags::on_timeout, flags::on_timeout.help, "600; with `shell`, 0"}}};
inline constexpr auto lab_codes = join(
    std::array<verb_exit, 4>{{{exit_code::check_failed, "a check failed"},
                              {exit_code::bad_input},
                              {exit_code::refused},
                              {exit_code::not_started, "the lab failed, or a selftest failed"}}},
    codes_of_program);

inline constexpr verb lab_verb{
    .name = "lab",
    .summary = "list, describe and use virtual NUMA machines",
    .usage = "[options] ACTION [MACHINE] | check [options] -- PROGRAM",
    .description =
        "A lab machine is a virtual machine under QEMU. It needs neither root nor KVM, has a "
        "real kernel, and runs your programs from your own file system. MACHINE is a name "
        "from the list, the path of a machine file, or NODESxCORES[xTHREADS] such as 4x2. "
        "The options of the groups Checks, Threads and Memory are only for `check`, which places "
        "PROGRAM as nodewise run does.",
    .flags = lab_flags,
    .flag_texts = lab_texts,
    .takes = operands::names_or_program,
    .actions = lab_actions,
    .examples = lab_examples,
    .exit_codes = lab_codes};

} // namespace nodewise::cli
