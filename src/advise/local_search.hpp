// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The search of `decide`: improves one object after the other, from several starting points.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "advise/planner.hpp"
#include "advise/room.hpp"

namespace nodewise::advise {

/// When the search may accept more far traffic.
enum class caution {
  by_time, ///< at the price that the model sets in time
  near,    ///< never more far traffic than now
};

/// The time limit for a placement, if the current one takes `now`. Ratios of memories that are
/// assumed to be alike cannot resolve one percent.
[[nodiscard]] double most_seconds(const model::machine_costs& on, double now);

/// What the model predicts for a placement.
struct speed {
  double seconds = 0;
  double remote = 0; ///< 0..1 of the traffic
};
/// Whether a placement with more far traffic is clearly faster even if far traffic costs more than
/// the model knows.
[[nodiscard]] bool is_worth_being_far(const model::machine_costs& on, const speed& then,
                                      const speed& now);

class local_search {
 public:
  local_search(const analysis& of, const std::vector<std::size_t>& sites, const binding& threads,
               caution how);

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
    std::vector<std::size_t> items;
    std::vector<candidate> choices;
    std::vector<flow_of_time> flows; ///< by choice
    std::size_t chosen = 0;
    double bytes = 0; ///< moved by its objects
  };
  struct score {
    double seconds = 0;
    double remote = 0;
    double misplaced = 0; ///< see `candidate`, as a share of all bytes
  };

  void make_units(const std::vector<std::size_t>& sites);
  static void offer(std::size_t thread, unit& into);
  [[nodiscard]] std::vector<std::size_t> longest_maps(const std::vector<std::size_t>& sites) const;
  [[nodiscard]] unit unit_of(std::size_t site, const std::vector<std::size_t>& items,
                             std::size_t most_runs) const;
  [[nodiscard]] double least_remote(const std::vector<unit>& units) const;
  void add(const std::vector<std::size_t>& items, const candidate& how, flow_of_time& into) const;
  [[nodiscard]] double cost(const score& of) const noexcept;
  [[nodiscard]] course course_now() const;
  [[nodiscard]] score now() const;
  [[nodiscard]] std::vector<std::size_t> chosen() const;
  void set(const std::vector<std::size_t>& to);
  [[nodiscard]] std::vector<std::size_t> all(plans::layout how) const;
  [[nodiscard]] std::vector<std::size_t> nearest() const;
  void improve();
  void simplify(double most_s);
  void keep_near();
  [[nodiscard]] std::vector<double> overflow() const;
  void fit();
  bool relieve(std::size_t node);

  const analysis& of_;
  const binding& threads_;
  double price_of_remote_;
  double most_remote_ = 1;
  std::vector<std::size_t> peers_;
  flow_of_time fixed_; ///< traffic of objects outside all units
  std::vector<unit> units_;
  room room_;
  std::vector<std::string> remarks_;
};

} // namespace nodewise::advise
