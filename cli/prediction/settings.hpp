// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Predicts from the counted traffic of one run, of the program as it is, how long the program would
// take under settings of `nodewise run`.
//
// The model knows the time of memory traffic only (docs/model.md). The prediction assumes:
//
// - The sums of bytes read and written stay the same: caches are not modelled, although fewer cores
//   have less of them.
// - The program is limited by memory. If it is not, its time stays the same on as many cores, and
//   no setting of memory matters. If the number of cores changes, the range covers a program that
//   is limited by its cores: `high` is at least counted cores / cores on fewer cores, and `low` at
//   most that on more. A program that is limited by memory in a part of its time is in between.
// - The program has as many threads as `--threads`, `--bind` or OMP_NUM_THREADS request. With as
//   many as counted, each has the traffic of the counted one (processors in order); otherwise all
//   have equal parts. On more threads, `high` also covers a program that ignores the request.
// - A thread that is not bound runs where it was counted, if it may. Otherwise the threads are
//   spread over the cores that they may use. A thread whose place has several cores runs on that
//   with the fewest threads.
// - `--memory` decides about all traffic, also that of arrays below `--threshold`.
//
// | memory | low | likely | high |
// |---|---|---|---|
// | interleave, weighted | by the nodes' shares | the same | the same |
// | bind or prefer, one node | all there | the same | the same |
// | first touch | all local | see below | pages stay where they were counted |
// | bind or prefer, several nodes | as first touch, among these nodes | | |
// | blocked | all local | half local, half as high | the counted share of remote traffic remains |
// | cyclic | all local | evenly over its nodes | the same |
//
// First touch places pages on the node of the first thread if one processor initialised the data,
// and on their users' nodes if all did. `likely` is a mix of the two, by how much of the counted
// traffic of the initialisation a single processor moved; half of each if none was counted. Where
// all initialised, the counted share of remote traffic remains, since it comes from sharing. `low`
// and `high` are the extremes of all three.
//
// Each range is wider by `prediction_error`, except that of the counted setting, which is 1. For
// six settings of four kernels of the examples, the likely ratio was within 8 % of that between the
// model's times of both counts, on lab:2x4.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <nodewise/topology.hpp>

#include "base/environment.hpp"
#include "launch/run_options.hpp"
#include "traffic/counts.hpp"

namespace nodewise::cli {

/// A time divided by that of the counted run.
struct predicted_ratio {
  double low = 1; ///< under the most favourable assumptions
  double likely = 1;
  double high = 1;
};

/// By how much the figures of the machine and the traffic may be off, as in the ranges of advice.
/// With half as many threads, kernels of the examples moved from 8 % fewer to 5 % more bytes on
/// lab:2x4.
inline constexpr double prediction_error = 0.1;
/// If the program's data is not twice as large as the caches. What then reaches the memories changes
/// with the placement: STREAM with 24 MB on lab:westmere-2x6 moved up to twice as much.
inline constexpr double prediction_error_in_caches = 1.5;

/// One for each setting, in order. nullopt for a setting with a plan, rules, --ranks-per, the
/// kernel's weights (-w) or --balancing; for one that is invalid on this machine; and if the
/// counted pages do not fit into the nodes that it names. `get` reads OMP_NUM_THREADS (default: of
/// this process). Throws `error` (input) as `price_of_counts` and `model::costs_of`.
[[nodiscard]] std::vector<std::optional<predicted_ratio>>
predict_settings(const traffic::counts& as_it_is, traffic::phase judged, const topology& on,
                 std::span<const launch::run_options> settings, environment get = nullptr);

} // namespace nodewise::cli
