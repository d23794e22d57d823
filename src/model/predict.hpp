// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is told of a described loop, and how sure that is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/costs.hpp"
#include "model/loop.hpp"
#include "model/price.hpp"

namespace nodewise::model {

/// How threads stand to one another while they run; which of these holds nobody knows beforehand.
enum class reading {
  mixed,    ///< each thread's traffic is mixed evenly over its time
  in_step,  ///< threads run alike, page by page
  drifting, ///< threads have drifted apart
};
[[nodiscard]] std::string_view to_string(reading of) noexcept;

struct loop_prediction {
  prediction told; ///< by `by`
  reading by = reading::mixed;
  double mixed_s = 0;
  /// Nothing where the loop was not played: random access, more than `most_players` threads.
  std::optional<double> in_step_s;
  std::optional<double> drifting_s; ///< nor where threads have too few pieces to drift apart
  double useful_bytes = 0;          ///< by STREAM's convention
};

/// More threads than this are not played event by event; pooled schedules are then told by
/// `closed_network_rate` in parts of the loop.
inline constexpr std::size_t most_players = 128;

/// Told is: for whole blocks and random access `mixed`; for chunks in turn that are shorter than a
/// page, as all threads then begin in one page, and for fewer than 16 chunks a thread `in_step`;
/// for all others `drifting`. Throws as `price` and `check_loop`.
[[nodiscard]] loop_prediction predict(const machine_costs& on, const loop& what);

/// The time by one reading; what is played has about so many pieces. Throws as `predict`.
[[nodiscard]] double seconds_by(const machine_costs& on, const loop& what, reading by,
                                std::size_t pieces);

/// The same traffic, elsewhere.
struct alternative {
  std::string name; ///< "each byte on the node of its thread"
  double seconds = 0;
};
/// On each thread's own node; in turn over all memories; the same by their bandwidth; fastest
/// first. Each is priced as a mix, for threads that keep the work they have.
[[nodiscard]] std::vector<alternative> alternatives(const machine_costs& on, const traffic& what);
/// The same loop with its arrays elsewhere, by the same reading: where a loop with this schedule
/// touches them first, or, of a pooled one, a block for each thread; in turn over all memories; the
/// same by their bandwidth. Fastest first.
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
  std::string source;            ///< of that one
  double less = 0;               ///< change of the time, in parts of it, if the input is less
  double more = 0;               ///< if it is more
};

/// Changes each input that the machine has by `part` and asks again. Of the figures of an input the
/// one that binds most in `loads` is told, or else the weakest. Inputs that are unknown and taken
/// as no limit are left out; `costs.remarks` has them.
[[nodiscard]] std::vector<sensitivity>
sensitivities(const machine_costs& on, const std::vector<resource_load>& loads,
              const std::function<double(const machine_costs&)>& seconds, double part = 0.1);

} // namespace nodewise::model
