// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise model` that no other verb has, and the forms of its result.
#pragma once

#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace flags {

inline constexpr flag set{
    .name = "set",
    .value = "NAME[:FROM[:TO]]=VALUE",
    .kind = flag_kind::list,
    .group = group::input,
    .help = "set or replace a figure of the machine: bandwidth (of a memory, or between two "
            "nodes), shared_bandwidth (of a memory that all processors use), core_bandwidth (of "
            "one core), link_bandwidth (of one link), all in GB/s; latency (ns); "
            "shared_efficiency (shared_bandwidth divided by bandwidth); lines_in_flight (cache "
            "lines that one core loads at a time). FROM is the node of the processors, TO that of "
            "the memory (default: each node and its own memory)"};
inline constexpr flag limit{.name = "limit",
                            .value = "WHAT",
                            .choices = "memory|processors",
                            .standard = "memory",
                            .group = group::input,
                            .help = "what limits the machine's bandwidths: memory (the memories "
                                    "and the links), processors (the number of cache lines that a "
                                    "core can have in flight)"};
inline constexpr flag kernel{
    .name = "kernel",
    .value = "NAME",
    .group = group::loop,
    .help = "predict this loop: load, store, update, copy, scale, add, triad, daxpy, multiply-add, "
            "schoenauer; or the use of each array in the loop, as in w,r,r: r (read), w (written), "
            "rw (both), n (written by streaming stores)"};
inline constexpr flag elements{.name = "elements",
                               .value = "N",
                               .standard = "2^26",
                               .group = group::loop,
                               .help = "elements of each array: 1000000, 2^26, 1e9"};
inline constexpr flag element_bytes{.name = "element-bytes",
                                    .value = "N",
                                    .standard = "8",
                                    .group = group::loop,
                                    .help = "size of an element in bytes"};
inline constexpr flag schedule{
    .name = "schedule",
    .value = "HOW[,CHUNK]",
    .standard = "static",
    .group = group::loop,
    .help = "schedule the loop: static, dynamic, guided, tasks (chunks in random order), even (one "
            "block per thread; with --shape triangular, of equal work instead of equal length); "
            "CHUNK is a number of iterations"};
inline constexpr flag loop_shape{
    .name = "shape",
    .value = "SHAPE",
    .choices = "flat|triangular",
    .standard = "flat",
    .group = group::loop,
    .help = "elements per iteration: flat (1), triangular (iteration r has r + 1, "
            "as the rows of a triangular matrix)"};
inline constexpr flag random_access{.name = "random",
                                    .group = group::loop,
                                    .help = "access elements in random order, each in a cache line "
                                            "of its own"};
inline constexpr flag chunk_start{.name = "chunk-start",
                                  .value = "NS",
                                  .standard = "the machine's latency",
                                  .group = group::loop,
                                  .help =
                                      "time in ns that a thread waits at the start of each chunk"};
inline constexpr flag stagger{.name = "stagger",
                              .group = group::memory,
                              .help = "with interleave, cyclic or weighted, shift each array by "
                                      "one page (or piece) against the array before, so that the "
                                      "arrays begin on different nodes"};
inline constexpr flag model_page_size{.name = "page-size",
                                      .value = "SIZE",
                                      .standard = "4KiB",
                                      .group = group::memory,
                                      .help = "size of a page"};
inline constexpr flag free_memory{.name = "free",
                                  .value = "NODE=SIZE,...",
                                  .standard = "all memory of every node",
                                  .group = group::memory,
                                  .help = "memory that is free on each node; what does not fit "
                                          "goes to the nearest node with free memory"};
inline constexpr flag sweep{.name = "sweep",
                            .value = "WHAT=VALUE,...",
                            .group = group::loop,
                            .help = "predict for each of several values: threads=1,2,4 or "
                                    "chunk=4,16,64 or memory=serial,local,interleave"};

} // namespace flags

struct reported_prediction; // in view.hpp
/// `nodewise/prediction/2`.
[[nodiscard]] std::string model_json(const reported_prediction& what);

/// One row for each predicted time: of the question as asked, then of the other placements.
[[nodiscard]] std::string model_csv(const reported_prediction& what);

inline constexpr std::array model_forms = {form<reported_prediction>{&flags::json, model_json},
                                           form<reported_prediction>{&flags::csv, model_csv}};

} // namespace nodewise::cli
