// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The help of `drop-cache`: its options, examples and exit codes.
#pragma once

#include "cli/verbs/drop_cache/flags.hpp"
#include "cli/verbs/help_parts.hpp"

namespace nodewise::cli {

inline constexpr auto drop_cache_flags = join(
    std::array<flag_list, 2>{&flags::cache_nodes, &flags::drop_by}, flags_of<drop_cache_forms>(),
    std::array<flag_list, 3>{&flags::output, &flags::strict, &flags::quiet}, on_a_machine,
    every_verb);
inline constexpr std::array<std::string_view, 1> drop_cache_aliases = {"sweep"};
inline constexpr std::array drop_cache_examples = {
    example{"nodewise drop-cache", "empty the page cache of all nodes before a run"},
    example{"nodewise drop-cache --nodes 0",
            "empty the page cache of node 0, filled by files copied for a job"},
    example{"nodewise drop-cache /scratch/mesh.dat /scratch/restart.*",
            "drop only the cached pages of these files"},
};
inline constexpr std::array<verb_flag_text, 1> drop_cache_texts = {
    {{&flags::strict,
      "exit with code 1 if page cache is left, or it is unknown whether any is left"}}};
inline constexpr auto drop_cache_codes = join(
    std::array<verb_exit, 3>{
        {{exit_code::check_failed,
          "with --strict, page cache is left, or it is unknown whether any is"},
         {exit_code::bad_input, "a named file was not dropped, or only a part of it"},
         {exit_code::refused}}},
    codes_of_on);

inline constexpr verb drop_cache_verb{
    .name = "drop-cache",
    .aliases = drop_cache_aliases,
    .summary = "empty the page cache, so that new memory is local",
    .usage = "[options] [FILE...]",
    .description =
        "Files that were read or written stay in memory. If they fill a node, new memory of a "
        "program comes from other nodes. As root, nodewise writes changed pages to disk and "
        "lets the kernel drop the page cache of all nodes. Without root, or if --nodes selects "
        "only some nodes, nodewise allocates memory on these nodes until the kernel has "
        "evicted their page cache. Then it frees this memory. It stops if the kernel begins to "
        "swap. If memory runs out all the same, the kernel kills nodewise before other "
        "programs. If files are named, only their pages are dropped. No data is lost: dropped "
        "pages are read from disk again when needed.",
    .flags = drop_cache_flags,
    .flag_texts = drop_cache_texts,
    .takes = operands::names,
    .examples = drop_cache_examples,
    .exit_codes = drop_cache_codes};

} // namespace nodewise::cli
