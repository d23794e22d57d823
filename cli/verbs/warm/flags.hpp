// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Options that only warm has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag warm_to{
    .name = "to",
    .value = "PLACEMENT",
    .standard = "blocked",
    .group = group::memory,
    .help = "where pages shall be: blocked (the first part of the file on the node of its first "
            "reader, and so on), interleave[:NODES] (pages in turn), cyclic:SIZE[:NODES], "
            "weighted:NODE=WEIGHT,... or weighted:auto, node:N"};
inline constexpr flag readers{
    .name = "readers",
    .value = "N",
    .standard = "one for each node",
    .group = group::memory,
    .help = "blocked for N readers: threads that `nodewise run --bind close --threads N` binds"};
inline constexpr flag by_tensor{
    .name = "by-tensor",
    .group = group::memory,
    .help = "place each tensor of a GGUF or safetensors file by itself: with blocked, the first "
            "part of each tensor is on the node of the first reader, and so on"};
inline constexpr flag only_look{.name = "look",
                                .group = group::memory,
                                .help = "read and move nothing: only show where the cached pages "
                                        "are, and how many are where --to would put them"};

} // namespace flags

struct warmed_files; // in view.hpp
/// `nodewise/warm/1`.
[[nodiscard]] std::string warm_json(const warmed_files& what);

inline constexpr std::array warm_forms = {form<warmed_files>{&flags::json, warm_json}};

} // namespace nodewise::cli
