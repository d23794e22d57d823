// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From traffic in time to the model's time, and what a change of it is worth.
#pragma once

#include <string>
#include <vector>

#include "advise/finding.hpp"
#include "advise/flow.hpp"
#include "model/prediction.hpp"

namespace nodewise::advise {

/// Instructions per second of a core if memory costs nothing: more than programs reach. A program
/// that computes more slowly gains less from its placement, but loses nothing by it.
inline constexpr double most_instructions_per_s = 4e9;

/// The traffic, and the node where each thread runs.
struct course {
  flow_of_time traffic;
  positions homes = {}; ///< node by worker; empty: as now
};

/// What the model predicts for a placement.
struct speed {
  double seconds = 0;
  double remote = 0; ///< 0..1 of the traffic whose memory is known
};
struct prediction : speed {
  double bytes = 0;                        ///< of known memory
  std::vector<model::resource_load> loads; ///< of the longest piece; the limiting resource first
};
[[nodiscard]] prediction predict(const analysis_input& of, const model::machine_costs& on,
                                 const course& what,
                                 double instructions_per_s = most_instructions_per_s);

/// On the machine that the programs ran on.
[[nodiscard]] inline prediction predict(const analysis_input& of, const course& what) {
  return predict(of, of.costs(), what);
}

/// What limits a program that does not wait for memory.
inline constexpr const char* own_work = "the program's own work";
/// "memory of node 0"; empty if nothing limits the time.
[[nodiscard]] std::string binds_in(const analysis_input& of, const prediction& what);

/// Time now over time after, in the worst case of what is not known of machine and program.
[[nodiscard]] double least_ratio(const analysis_input& of, const course& before,
                                 const course& after);

/// Number of samples behind the data on these sites; 0 if it was counted.
[[nodiscard]] double samples_of(const analysis_input& of, const positions& sites);

/// The gain of going from one to the other. `samples` is the number of samples in the evidence, or
/// 0 if it is not sampled.
[[nodiscard]] gain worth_of(const analysis_input& of, const course& before, const course& after,
                            double samples = 0);

/// The same for a change of page locations only. If no link's bandwidth is known, far traffic is
/// free in the model: the gain of reducing it is then unavailable.
[[nodiscard]] gain worth_of_placing(const analysis_input& of, const course& before,
                                    const course& after, double samples);

} // namespace nodewise::advise
