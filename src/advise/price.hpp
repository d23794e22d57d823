// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From which threads use which pages, and where pages are or could be, to traffic in time, to the
// model's time, and to what a change of it is worth.
#pragma once

#include "advise/analysis_input.hpp"
#include "advise/finding.hpp"
#include "model/predict.hpp"

namespace nodewise::advise {

/// Bytes between each thread and each memory; the last column is unknown memory.
struct matrix {
  explicit matrix(const analysis_input& of)
      : columns(of.nodes() + 1), read(of.workers.size() * columns, 0),
        written(of.workers.size() * columns, 0) {}

  std::size_t columns;
  std::vector<double> read; ///< row: worker
  std::vector<double> written;

  /// Read and written, by a worker.
  [[nodiscard]] double at(std::size_t worker, std::size_t node) const {
    return read[worker * columns + node] + written[worker * columns + node];
  }
  /// The same with the first `memories`.
  [[nodiscard]] double moved_by(std::size_t worker, std::size_t memories) const;
  void add(const matrix& other, double times = 1);
};

/// Adds the use of the object's part `from`..`to` (0..1) if its pages had this map. Pages whose
/// node is unknown now stay unknown under every map, so that times are comparable.
void add_item(const analysis_input& of, const item& what, const model::page_map& map, matrix& into,
              double from = 0, double to = 1);

/// 0..1 of the bytes whose memory is known; 0 if there are none.
[[nodiscard]] double remote_share(const analysis_input& of, const matrix& bytes);

/// Where pages are, by item; nullptr: as now; empty: all as now.
using page_maps = std::vector<const model::page_map*>;

/// Traffic in order of time: one piece, or several if threads sweep through objects in step. What
/// the main thread uses alone is the last piece.
using flow_of_time = std::vector<matrix>;

/// A flow without traffic, with the right number of pieces.
[[nodiscard]] flow_of_time empty_flow(const analysis_input& of, const std::vector<char>& swept);
/// Adds the item at this position as if its pages had this map.
void add_in_time(const analysis_input& of, std::size_t at, const model::page_map& map,
                 const std::vector<char>& swept, flow_of_time& into);

/// `swept`, by item: threads move through it together, so that only a part of it is in use at a
/// time. Empty: no item is swept. `homes`: node by worker if threads move; empty: as now.
[[nodiscard]] flow_of_time flow_under(const analysis_input& of, const page_maps& where,
                                      const std::vector<char>& swept, const positions& homes = {});
/// The traffic of the initialisation: first what several threads initialised in parallel, then what
/// the main thread initialised alone.
[[nodiscard]] flow_of_time initialisation_under(const analysis_input& of, const page_maps& where);
/// By worker: the same number for threads of a program and node that move about the same bytes.
/// `homes`: node by worker if threads move; empty: as now.
[[nodiscard]] positions peers_in(const analysis_input& of, const positions& homes);
/// Gives all peers their mean traffic. That is faster to price, and right where any thread may do
/// any work, since the distribution was chance.
void average(const positions& peers, flow_of_time& what);
/// The traffic if all of each thread's bytes were in its own node's memory.
[[nodiscard]] flow_of_time all_local(const analysis_input& of, const flow_of_time& what);

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
  return predict(of, of.costs, what);
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
