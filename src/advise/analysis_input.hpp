// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What all patterns read: the threads of programs that ran together, their homes, and who used
// which pages in which memory. Nodes are meant by their position in `machine_costs::nodes`.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "model/costs.hpp"
#include "model/page_map.hpp"
#include "profile/profile.hpp"

namespace nodewise::advise {

inline constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// A thread of one of the programs.
struct worker {
  std::size_t program = 0; ///< position in `profile::programs`
  profile::thread_index thread = 0;
  std::size_t ordinal = 0;      ///< 0: the main thread, then in the order of creation
  std::size_t number = nowhere; ///< in plans: see `main_works`; `nowhere`: it has no place in them
  std::size_t home = nowhere;   ///< the node that it was on most
  /// Where it was at work, and for which part of it; empty if nobody saw it.
  struct part {
    std::size_t node = 0;
    double share = 1;
  };
  std::vector<part> parts;
  bool active = false; ///< it was seen to touch or use memory
  /// Nothing keeps it on a node: it was at work on several, touched elsewhere what it used, or
  /// another thread with its number was elsewhere.
  bool roams = false;
  double bytes = 0; ///< that it moved

  [[nodiscard]] bool moved() const noexcept { return parts.size() > 1; }
};

/// An object of one of the programs.
struct item {
  std::size_t program = 0;
  const profile::object* what = nullptr;
  std::size_t first_worker = 0; ///< thread k of the program is worker `first_worker + k`
  std::size_t site = 0;         ///< position in `analysis_input::sites`
  model::page_map now = model::page_map::in_turn({0}); ///< position `size()`: nobody knows
  std::span<const profile::use_run> uses;
  double units = 0;       ///< of use, in all
  double unit_bytes = 1;  ///< what a unit stands for
  double write_share = 0; ///< 0..1
  std::span<const profile::use_run> initialised;
  double initialised_write_share = 0; ///< 0..1
  bool all_known = true;              ///< the node of each of its pages is known
  bool alone = false; ///< the main thread uses it while the others wait: see `mark_alone`

  [[nodiscard]] double bytes() const noexcept { return units * unit_bytes * (1 + write_share); }
};

/// Objects that one place in the code makes, or a single one that nothing makes.
struct site {
  std::size_t program = 0;
  std::string name; ///< as findings have it
  std::vector<std::size_t> items;
  double bytes = 0; ///< that they moved
  bool placeable = false;
  bool places_itself = false; ///< the program does, by the library: nothing from outside can
};

class analysis_input {
 public:
  /// `programs`: positions of those that are priced together. What is told must outlive this.
  analysis_input(const profile::profile& of, const topology& on, std::vector<std::size_t> programs);

  analysis_input(const analysis_input&) = delete;
  analysis_input& operator=(const analysis_input&) = delete;

  [[nodiscard]] const profile::profile& profile() const noexcept { return profile_; }
  [[nodiscard]] const topology& machine() const noexcept { return machine_; }
  [[nodiscard]] const std::vector<std::size_t>& programs() const noexcept { return programs_; }
  [[nodiscard]] const model::machine_costs& costs() const noexcept { return costs_; }
  /// The other reading of what the machine's bandwidths are the limit of, where nothing decides.
  [[nodiscard]] const model::machine_costs& other_costs() const noexcept { return other_costs_; }
  [[nodiscard]] std::size_t nodes() const noexcept { return costs_.size(); }
  /// Where first touch by the node's processors puts pages.
  [[nodiscard]] std::size_t memory_of(std::size_t node) const { return memory_of_[node]; }
  /// The operating system's number.
  [[nodiscard]] int number_of(std::size_t node) const { return to_int(costs_.nodes[node]); }

  [[nodiscard]] const std::vector<worker>& workers() const noexcept { return workers_; }
  [[nodiscard]] const std::vector<item>& items() const noexcept { return items_; }
  [[nodiscard]] const std::vector<site>& sites() const noexcept {
    return sites_;
  } ///< most bytes first
  [[nodiscard]] double bytes() const noexcept { return bytes_; } ///< that all items moved

  /// Who uses memory was not seen: it is assumed that what the main thread touched first is used by
  /// all threads in equal blocks, all else by who touched it.
  [[nodiscard]] bool assumed() const noexcept { return assumed_; }
  /// Uses are samples of the kernel's, not counts.
  [[nodiscard]] bool sampled() const noexcept { return sampled_; }
  /// Traffic and machine are told in bytes and seconds.
  [[nodiscard]] bool absolute() const noexcept { return absolute_; }
  /// Whether the main thread is thread 0 of a plan. In a program whose threads a runtime starts it
  /// always is. Otherwise the threads that the program starts come behind it, or, where it only
  /// waits for them, begin at 0; those that are started when all before were joined begin anew.
  [[nodiscard]] bool main_works(std::size_t program) const { return main_works_[program] != 0; }
  /// Sizes of nested parallel regions, outermost first; empty where teams are flat.
  [[nodiscard]] const std::vector<std::size_t>& teams(std::size_t program) const {
    return teams_[program];
  }
  [[nodiscard]] const profile::program& program(std::size_t at) const {
    return profile_.programs[at];
  }

 private:
  void add_workers(std::size_t program);
  void mark_active(std::size_t program, std::size_t first_worker);
  void number_workers(std::size_t program, std::size_t first_worker);
  void number_team(std::size_t program, std::size_t first_worker);
  void mark_roaming(std::size_t program, std::size_t first_worker);
  void add_items(std::size_t program, std::size_t first_worker);
  void add_sites();
  void leave_single_rows();
  void add_bytes();
  void mark_alone();
  [[nodiscard]] model::page_map map_now(const profile::object& of) const;
  [[nodiscard]] std::span<const profile::use_run> assume_uses(const item& of);

  const profile::profile& profile_;
  const topology& machine_;
  std::vector<std::size_t> programs_;
  model::machine_costs costs_;
  model::machine_costs other_costs_;
  std::vector<std::size_t> memory_of_;
  std::vector<worker> workers_;
  std::vector<char> main_works_;                ///< by program of the profile
  std::vector<std::vector<std::size_t>> teams_; ///< likewise
  std::vector<item> items_;
  std::vector<site> sites_;
  std::deque<std::vector<profile::use_run>> assumed_uses_;
  double bytes_ = 0;
  bool assumed_ = false;
  bool sampled_ = false;
  bool absolute_ = false;
};

/// A page that a touched run does not cover, or whose node the machine has not.
[[nodiscard]] std::size_t position_or_nowhere(const model::machine_costs& on, node_id node);

} // namespace nodewise::advise
