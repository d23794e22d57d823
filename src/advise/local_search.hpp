// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The search of `decide`: objects one after the other, from several beginnings.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "advise/planner.hpp"
#include "advise/room.hpp"

namespace nodewise::advise {

/// How much the search may give up near traffic for.
enum class caution {
  by_time, ///< by the price that the model has for the time
  near,    ///< never for more far traffic than now
};

/// What a placement may take, for one that takes so long now. Ratios of memories that are taken to
/// be all alike do not tell a percent.
[[nodiscard]] double most_seconds(const model::machine_costs& on, double now);

/// What the model says of a placement.
struct speed {
  double seconds = 0;
  double remote = 0; ///< 0..1 of the traffic
};
/// Whether one with more far traffic is clearly faster all the same, with what far traffic may cost
/// beyond what the model knows.
[[nodiscard]] bool is_worth_being_far(const model::machine_costs& on, const speed& then,
                                      const speed& now);

class local_search {
 public:
  local_search(const analysis& of, const std::vector<std::size_t>& sites, const binding& threads,
               caution how);

  /// The best end that is not slower than `most_s`, simple, and with room for what it places.
  void run(double most_s);

  [[nodiscard]] std::vector<assignment> result() const;
  [[nodiscard]] flow_of_time flow() const;
  /// What was placed otherwise for want of room; a sentence each.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  /// Objects that get one candidate, with what each candidate makes of their traffic.
  struct unit {
    std::size_t site = 0;
    std::vector<std::size_t> items;
    std::vector<candidate> choices;
    std::vector<flow_of_time> flows; ///< by choice
    std::size_t chosen = 0;
    double bytes = 0; ///< that its objects moved
  };
  struct score {
    double seconds = 0;
    double remote = 0;
    double misplaced = 0; ///< see `candidate`, in parts of all bytes
  };

  void make_units(const std::vector<std::size_t>& sites);
  static void offer(std::size_t thread, unit& into);
  [[nodiscard]] std::size_t longest_map(std::size_t site,
                                        const std::vector<std::size_t>& worthy) const;
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
  flow_of_time fixed_; ///< of what no unit has
  std::vector<unit> units_;
  room room_;
  std::vector<std::string> remarks_;
};

} // namespace nodewise::advise
