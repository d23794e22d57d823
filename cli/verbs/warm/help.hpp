// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `warm`: its options, examples and exit codes.
#pragma once

#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/warm/flags.hpp"

namespace nodewise::cli {

inline constexpr auto warm_flags = join(
    std::array<flag_list, 4>{&flags::warm_to, &flags::readers, &flags::by_tensor,
                             &flags::only_look},
    flags_of<warm_forms>(), std::array<flag_list, 3>{&flags::output, &flags::strict, &flags::quiet},
    on_a_machine, every_verb);
inline constexpr std::array warm_examples = {
    example{"nodewise warm model.gguf", "the first part on node 0, the next on node 1, and so on"},
    example{"nodewise warm --to interleave model.gguf",
            "all nodes' memory serves all readers, as for a model that every thread reads"},
    example{"nodewise warm --to node:1 /data/index/*", "for a server that runs on node 1"},
    example{"nodewise warm --look --to interleave model.gguf",
            "is it there already? Changes nothing"},
};
inline constexpr std::array<verb_flag_text, 1> warm_texts = {
    {{&flags::strict, "exit with code 1 if pages are not where they were asked for, or it is "
                      "unknown where they are"}}};
inline constexpr auto warm_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed, "with --strict, pages are not where they were asked for"},
         {exit_code::bad_input, "a named file was not read, or only a part of it"},
         {exit_code::refused}}},
    codes_of_on);

inline constexpr verb warm_verb{
    .name = "warm",
    .summary = "bring files into memory, on the nodes of their readers",
    .usage = "[options] FILE...",
    .description =
        "A file that was read stays in memory (page cache), on the node of the processor that read "
        "it first. All later readers find it there, also in other processes. warm reads what is "
        "not in memory yet, so that it gets memory of the right nodes, and moves what is cached "
        "elsewhere, without reading it again. You need no privileges. Pages that several processes "
        "have mapped can only be moved with CAP_SYS_NICE. Nothing else is evicted: what does not "
        "fit into free memory is not read. The kernel may evict the file later, as any other.",
    .flags = warm_flags,
    .flag_texts = warm_texts,
    .takes = operands::names,
    .examples = warm_examples,
    .exit_codes = warm_codes};

} // namespace nodewise::cli
