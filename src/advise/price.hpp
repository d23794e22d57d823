// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From who used which pages, and where these are or could be, to the time it takes by the model.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "advise/analysis_input.hpp"
#include "advise/finding.hpp"
#include "model/page_map.hpp"
#include "model/price.hpp"
#include "model/traffic.hpp"

namespace nodewise::advise {

/// Bytes between each thread and each memory; the last column is memory that nobody knows.
struct matrix {
  explicit matrix(const analysis_input& of)
      : columns(of.nodes() + 1), read(of.workers().size() * columns, 0),
        written(of.workers().size() * columns, 0) {}

  std::size_t columns;
  std::vector<double> read; ///< row: worker
  std::vector<double> written;

  void add(const matrix& other, double times = 1);
};

/// Adds what is used of the object's part `from`..`to` (0..1), had its pages this map. Pages that
/// nobody knows the node of now stay unknown under every map, so that times compare.
void add_item(const analysis_input& of, const item& what, const model::page_map& map, matrix& into,
              double from = 0, double to = 1);

/// 0..1 of the bytes whose memory is known; 0 where none is.
[[nodiscard]] double remote_share(const analysis_input& of, const matrix& bytes);

/// Where pages are, by item: nullptr: as now; empty: all as now.
using page_maps = std::vector<const model::page_map*>;

/// Traffic as it happens, one after the other: all in one, or what is swept in step in pieces. What
/// the main thread uses alone is a piece of its own, the last one.
using flow_of_time = std::vector<matrix>;

/// Pieces of a sweep: as many as most machines have nodes, which blocks then fill one by one.
inline constexpr std::size_t sweep_pieces = 8;

/// Without traffic, of as many pieces as there are then.
[[nodiscard]] flow_of_time empty_flow(const analysis_input& of, const std::vector<char>& swept);
/// Adds the item at this position, had its pages this map.
void add_in_time(const analysis_input& of, std::size_t at, const model::page_map& map,
                 const std::vector<char>& swept, flow_of_time& into);

/// `swept`, by item: threads move through it together, so that only a part of it is in use at a
/// time. Empty: none is. `homes`: node by worker where threads are to be; empty: as now.
[[nodiscard]] flow_of_time flow_under(const analysis_input& of, const page_maps& where,
                                      const std::vector<char>& swept,
                                      const std::vector<std::size_t>& homes = {});
/// The traffic of the initialisation: first what several threads initialised at a time, then what
/// the main thread did alone.
[[nodiscard]] flow_of_time initialisation_under(const analysis_input& of, const page_maps& where);
/// By worker: the same number for threads of a program and node that move about as much. `homes`:
/// node by worker where threads are to be; empty: as now.
[[nodiscard]] std::vector<std::size_t> peers_in(const analysis_input& of,
                                                const std::vector<std::size_t>& homes);
/// Peers each with the mean of what they move: faster to price, and where anyone may do any work
/// the truth, as who did it was chance.
void average(const std::vector<std::size_t>& peers, flow_of_time& what);
/// Each thread's bytes in its own node's memory.
[[nodiscard]] flow_of_time all_local(const analysis_input& of, const flow_of_time& what);

/// Instructions a second that a core does if memory costs nothing: more than programs reach. A
/// program that computes more slowly gains less from its placement, and loses nothing by it.
inline constexpr double most_instructions_per_s = 4e9;

/// Where each thread runs, and what happens there.
struct course {
  flow_of_time traffic;
  std::vector<std::size_t> homes = {}; ///< node by worker; empty: as now
};

struct told {
  double seconds = 0;
  double remote = 0;                       ///< 0..1 of the traffic whose memory is known
  double bytes = 0;                        ///< of known memory
  std::vector<model::resource_load> loads; ///< of the longest piece; what binds most first
};
[[nodiscard]] told tell(const analysis_input& of, const model::machine_costs& on,
                        const course& what, double instructions_per_s = most_instructions_per_s);

/// "memory of node 0"; empty where nothing was waited for.
[[nodiscard]] std::string binds_in(const analysis_input& of, const told& what);

/// Time now over time after, where what is not known of machine and program is as unlucky as can
/// be.
[[nodiscard]] double least_ratio(const analysis_input& of, const course& before,
                                 const course& after);

/// What it is worth to go from one to the other; `samples` is the evidence's number of them if it
/// is sampled, or 0.
[[nodiscard]] gain worth_of(const analysis_input& of, const course& before, const course& after,
                            double samples = 0);

/// The same for one that changes only where pages are. Where no link's bandwidth is known, far
/// traffic costs the model nothing: then it is unavailable what less of it brings.
[[nodiscard]] gain worth_of_placing(const analysis_input& of, const course& before,
                                    const course& after, double samples);

} // namespace nodewise::advise
