// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The search of `decide`: improves one object after the other, from several starting points.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "advise/candidates.hpp"
#include "advise/price.hpp"
#include "advise/room.hpp"
#include "advise/shape.hpp"

namespace nodewise::advise {

/// When the search may accept more far traffic.
enum class caution {
  by_time, ///< at the price that the model sets in time
  near,    ///< never more far traffic than now
};

/// The time limit for a placement, if the current one takes `now`. Ratios of memories that are
/// assumed to be alike cannot resolve one percent.
[[nodiscard]] double most_seconds(const model::machine_costs& on, double now);

/// Whether a placement with more far traffic is clearly faster even if far traffic costs more than
/// the model knows.
[[nodiscard]] bool is_worth_being_far(const model::machine_costs& on, const speed& then,
                                      const speed& now);

class local_search {
 public:
  /// `homes`: node by worker; empty: as now.
  local_search(const analysis& of, const positions& sites, const positions& homes, caution how);

  /// Keeps the best result that is not slower than `most_s`, is simple, and has room for its pages.
  void run(double most_s);

  [[nodiscard]] std::vector<assignment> result() const;
  [[nodiscard]] flow_of_time flow() const;
  /// What was placed differently for lack of room; a sentence each.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  /// Objects that share one candidate, with the traffic that results from each candidate.
  struct unit {
    std::size_t site = 0;
    positions items;
    std::vector<candidate> choices;
    std::vector<flow_of_time> flows; ///< by choice
    std::size_t chosen = 0;
    double bytes = 0; ///< moved by its objects
  };
  struct score : speed {
    double misplaced = 0; ///< see `candidate`, as a share of all bytes
  };

  void make_units(const positions& sites);
  static void offer(std::size_t thread, unit& into);
  [[nodiscard]] positions longest_maps(const positions& sites) const;
  [[nodiscard]] unit unit_of(std::size_t site, const positions& items, std::size_t most_runs) const;
  [[nodiscard]] double least_remote(const std::vector<unit>& units) const;
  void add(const positions& items, const candidate& how, flow_of_time& into) const;
  [[nodiscard]] double cost(const score& of) const noexcept;
  [[nodiscard]] score now() const;
  [[nodiscard]] positions chosen() const;
  void set(const positions& to);
  [[nodiscard]] positions all(placements::kind how) const;
  [[nodiscard]] positions nearest() const;
  void improve();
  void simplify(double most_s);
  void keep_near();
  void complete_sites();
  [[nodiscard]] std::vector<double> overflow() const;
  void fit();
  bool relieve(std::size_t node);

  const analysis& of_;
  const positions& homes_;
  double price_of_remote_;
  double most_remote_ = 1;
  positions peers_;
  flow_of_time fixed_; ///< traffic of objects outside all units
  std::vector<unit> units_;
  room room_;
  std::vector<std::string> remarks_;
};

} // namespace nodewise::advise
