// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise model` that no other verb has.
#pragma once

#include "cli/flags.hpp"

namespace nodewise::cli::flags {

inline constexpr flag set{
    .name = "set",
    .kind = flag_kind::list,
    .value = "NAME[:FROM[:TO]]=VALUE",
    .group = group::input,
    .help = "a figure of the machine in place of its file's: bandwidth, shared_bandwidth, "
            "core_bandwidth, "
            "link_bandwidth (GB/s), latency (ns), shared_efficiency (0..1), lines_in_flight; FROM "
            "and TO are nodes, without them it is for every node and its own memory"};
inline constexpr flag limit{
    .name = "limit",
    .kind = flag_kind::value,
    .value = "WHAT",
    .choices = "memory|processors",
    .standard = "memory",
    .group = group::input,
    .help = "what the machine's bandwidths are the limit of: memory and links, or the lines that "
            "processors have in flight"};
inline constexpr flag kernel{
    .name = "kernel",
    .kind = flag_kind::value,
    .value = "NAME",
    .group = group::loop,
    .help = "load, store, update, copy, scale, add, triad, daxpy, multiply-add, schoenauer; or a "
            "letter for each array: r (read), w (written), rw, n (written past the caches): w,r,r"};
inline constexpr flag elements{.name = "elements",
                               .kind = flag_kind::value,
                               .value = "N",
                               .standard = "2^26",
                               .group = group::loop,
                               .help = "of each array: 1000000, 2^26, 1e9"};
inline constexpr flag element_bytes{.name = "element-bytes",
                                    .kind = flag_kind::value,
                                    .value = "N",
                                    .standard = "8",
                                    .group = group::loop,
                                    .help = "size of an element"};
inline constexpr flag schedule{
    .name = "schedule",
    .kind = flag_kind::value,
    .value = "HOW[,CHUNK]",
    .standard = "static",
    .group = group::loop,
    .help = "static, dynamic, guided, tasks (stolen in no order), even (blocks of equal work)"};
inline constexpr flag loop_shape{
    .name = "shape",
    .kind = flag_kind::value,
    .value = "SHAPE",
    .choices = "flat|triangular",
    .standard = "flat",
    .group = group::loop,
    .help = "flat: an element an iteration; triangular: iteration r has r + 1"};
inline constexpr flag random_access{
    .name = "random", .group = group::loop, .help = "elements in no order, a cache line each"};
inline constexpr flag chunk_start{.name = "chunk-start",
                                  .kind = flag_kind::value,
                                  .value = "NS",
                                  .standard = "the machine's latency",
                                  .group = group::loop,
                                  .help = "how long a thread waits at the beginning of each chunk"};
inline constexpr flag stagger{
    .name = "stagger",
    .group = group::memory,
    .help = "placed in turn, each array begins a page (or granule) later than the one before"};
inline constexpr flag model_page_size{.name = "page-size",
                                      .kind = flag_kind::value,
                                      .value = "SIZE",
                                      .standard = "4KiB",
                                      .group = group::memory,
                                      .help = "of the pages that are placed"};
inline constexpr flag free_memory{
    .name = "free",
    .kind = flag_kind::value,
    .value = "NODE=SIZE,...",
    .standard = "all memory of every node",
    .group = group::memory,
    .help = "how much the nodes have room for; what is more goes to the nearest with room"};
inline constexpr flag sweep{
    .name = "sweep",
    .kind = flag_kind::value,
    .value = "WHAT=VALUE,...",
    .group = group::loop,
    .help = "an answer for each: threads=1,2,4, chunk=4,16,64, memory=serial,local,interleave"};
inline constexpr flag region{.name = "region",
                             .kind = flag_kind::value,
                             .value = "NAME",
                             .group = group::traffic,
                             .help = "only what moved between the program's marks of this name"};

} // namespace nodewise::cli::flags
