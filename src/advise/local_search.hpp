// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The search of `decide`: improves one object after the other, from several starting points.
#pragma once

#include "advise/candidates.hpp"
#include "advise/price.hpp"

namespace nodewise::advise {

/// Whether memories have room for what is placed in them, given what lives at the same time.
class room {
 public:
  explicit room(const analysis_input& of);

  /// Bytes of a memory available to the program; infinite if unknown.
  [[nodiscard]] double free_on(std::size_t node) const { return free_[node]; }
  /// By memory, the bytes that are missing at the worst time if each item had this candidate. 0 if
  /// all fits, or if it holds no more than without any candidate.
  [[nodiscard]] std::vector<double> missing(const std::vector<candidate>& by_item,
                                            const positions& homes) const;

 private:
  /// An item is allocated or freed.
  struct event {
    double at_s = 0;
    bool comes = false;
    std::size_t item = 0;
  };
  [[nodiscard]] std::vector<double> most_at_once(const std::vector<candidate>& by_item,
                                                 const positions& homes) const;

  const analysis_input& of_;
  std::vector<double> free_;
  std::vector<event> events_; ///< in order of time
  std::vector<double> now_;   ///< the most bytes at once in the observed run
};

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
