// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Predicts the time of a described loop, and how certain the prediction is.
#pragma once

#include <cstdint>
#include <functional>

#include "model/loop.hpp"
#include "model/price.hpp"

namespace nodewise::model {

/// How threads run relative to one another. Which of these applies is not known in advance.
enum class reading {
  mixed,    ///< each thread's traffic is mixed evenly over its time
  in_step,  ///< threads run alike, page by page
  drifting, ///< threads have drifted apart
};
[[nodiscard]] std::string_view to_string(reading of) noexcept;

struct loop_prediction {
  prediction result; ///< under the reading `by`
  reading by = reading::mixed;
  double mixed_s = 0;
  /// Empty if the loop was not replayed: random access, more than `most_players` threads.
  std::optional<double> in_step_s = {};
  std::optional<double> drifting_s =
      {};                  ///< also empty if threads have too few pieces to drift apart
  double useful_bytes = 0; ///< by STREAM's convention
};

/// More threads than this are not replayed event by event; pooled schedules then use
/// `closed_network_rate` in parts of the loop.
inline constexpr std::size_t most_players = 128;

/// Uses `mixed` for whole blocks and random access. Uses `in_step` for chunks in turn that are
/// shorter than a page, because all threads then begin in one page, and for fewer than 16 chunks
/// per thread. Uses `drifting` for all others. Throws as `price` and `check_loop`.
[[nodiscard]] loop_prediction predict(const machine_costs& on, const loop& what);

/// The time under one reading; a replay has about `pieces` pieces. Throws as `predict`.
[[nodiscard]] double seconds_by(const machine_costs& on, const loop& what, reading by,
                                std::size_t pieces);

enum class pace {
  in_step,  ///< all threads run alike: the model does not distinguish them
  drifting, ///< each piece of work takes an exponentially distributed time with the same mean
};

/// Enough that another seed changes the time by less than a percent.
inline constexpr std::size_t usual_pieces = 40'000;

/// Replays a loop event by event: each thread goes from page to page of its chunks, and between
/// events all threads share the machine max-min fairly. Predicts the whole loop from a replay of
/// about `pieces` pieces (`sample_of`); a piece is on one page in every array. In step: the time
/// until the last thread has ended. Drifting: from the rate of all threads until the first runs out
/// of work; not for threads with unequal work, and not if `drifts` is false. Not for random access.
/// Throws `error` (usage) as `check_loop`, (input) for arrays on nodes without memory.
[[nodiscard]] prediction replay(const machine_costs& on, const loop& what, pace how,
                                std::size_t pieces = usual_pieces, std::uint64_t seed = 1);

/// Whether threads have enough pieces of work to drift apart.
[[nodiscard]] bool drifts(const loop& what) noexcept;

/// The bandwidth of threads that each use one memory at a time and cannot choose which: the
/// expectation for dynamic schedules and for threads that have drifted apart. Assumes an infinite
/// network. Each thread is at memory m with probability `shares[m]`; a memory with any threads
/// gives `rates[m]`. The mean over all configurations, weighted by how long each lasts: crowded
/// ones last longer. Uses mean value analysis of a closed network of processor-sharing stations
/// (Reiser and Lavenberg 1980). Exact if a thread can saturate a memory; if `thread_rate` is below
/// a memory's, uses Seidmann's approximation for several servers. n * n / (2n - 1) for n equal
/// memories and n threads, in units of one memory. Shares and rates have the same length; shares
/// add up to 1.
[[nodiscard]] double closed_network_rate(const std::vector<double>& shares,
                                         const std::vector<double>& rates, std::size_t threads,
                                         double thread_rate = unlimited);

/// The same traffic, placed differently.
struct alternative {
  std::string name; ///< "on the node of its thread"
  double seconds = 0;
};
/// The predicted time divided by that of the fastest alternative; nullopt if there is none.
[[nodiscard]] std::optional<double> ratio_to_best(const prediction& of,
                                                  const std::vector<alternative>& others) noexcept;
/// On each thread's own node; in turn over all memories; over all memories by their bandwidth.
/// Fastest first. Each is priced as a mix, for threads that keep their work.
[[nodiscard]] std::vector<alternative> alternatives(const machine_costs& on, const traffic& what);
/// The same loop with its arrays placed differently, under the same reading: where a loop with this
/// schedule touches them first, or a block per thread if it is pooled; in turn over all memories;
/// over all memories by their bandwidth. Fastest first.
[[nodiscard]] std::vector<alternative> alternatives(const machine_costs& on, const loop& what,
                                                    reading by);

/// A term of the model that may be wrong.
enum class input {
  memory,
  shared_efficiency,
  core,
  latency,
  links,
  local_latency,
  lines_in_flight
};
[[nodiscard]] std::string_view to_string(input what) noexcept;

struct sensitivity {
  input what = input::memory;
  origin from = origin::assumed; ///< of the figure that matters most
  std::string source;            ///< of that figure
  double less = 0;               ///< relative change of the time if the input is smaller
  double more = 0;               ///< the same if it is larger
};

/// Changes each input that the machine has by `part` and computes the time again. For each input,
/// reports the figure that binds most in `loads`, or else the least reliable one. Leaves out inputs
/// that are unknown and taken as no limit; `machine_costs::remarks` lists them.
[[nodiscard]] std::vector<sensitivity>
sensitivities(const machine_costs& on, const std::vector<resource_load>& loads,
              const std::function<double(const machine_costs&)>& seconds, double part = 0.1);

} // namespace nodewise::model
