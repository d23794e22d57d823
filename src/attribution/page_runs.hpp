// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Converts single pages, sampled or counted, to runs.
#pragma once

#include "attribution/life.hpp"
#include "traffic/counts.hpp"

namespace nodewise::attribution {

/// Adds pages to the last run if they follow it on the same node, else as a run of their own.
void append(std::vector<profile::resident_run>& runs, const profile::resident_run& next);
/// The same for pages that only one thread uses, the same as the last run.
void append(std::vector<profile::use_run>& runs, profile::use_run next);

/// Where its pages were at its end: as runs, or as precise as the agent's strip of 64 cells.
[[nodiscard]] std::vector<profile::resident_run> where_of(const launch::object_report& report);

/// Where the pages were when they were touched, as far as samples report it: for an object that was
/// not queried at its end.
[[nodiscard]] std::vector<profile::resident_run> where_touched(const observed_object& object,
                                                               std::uint64_t pages);
/// Gives pages that came with a huge page that page's first toucher: for an aligned block of the
/// huge page's size, all in memory, with only one page touched. Returns the number of huge pages.
std::uint64_t complete_huge_pages(observed_object& object, std::uint64_t pages,
                                  const std::vector<profile::resident_run>& where,
                                  std::size_t page_bytes, std::size_t huge_bytes);

[[nodiscard]] std::vector<profile::touched_run> touched_of(const observed_object& object,
                                                           std::uint64_t pages);
/// How many pages these runs have.
[[nodiscard]] std::uint64_t pages_in(const auto& runs) {
  std::uint64_t sum = 0;
  for (const auto& run : runs) {
    sum += run.count;
  }
  return sum;
}
/// Resident pages whose first touch was not seen.
[[nodiscard]] std::uint64_t unseen_touches_of(const observed_object& object,
                                              const std::vector<profile::resident_run>& where);
/// Pages that ended on another node than that of the processor that touched them first.
[[nodiscard]] std::uint64_t elsewhere_of(const std::vector<profile::touched_run>& touched,
                                         const std::vector<profile::resident_run>& where);
/// Accesses by page and thread. Sorts `object`'s accesses.
[[nodiscard]] std::vector<profile::use_run> uses_of(observed_object& object, std::uint64_t pages);

/// Which threads used each page how much, and the node where it was last.
struct page_uses {
  std::map<std::uint64_t, std::map<profile::thread_index, double>> by_page;
  std::map<std::uint64_t, node_id> where;
  std::uint64_t moved = 0;

  /// `first`: the run's first page in the object. `threads`: as for `initialisation`.
  void add(const traffic::user_run& run, std::uint64_t first,
           const std::vector<profile::thread_index>& threads);
  /// Joins neighbours if each thread used both equally, or if the same single thread used both.
  [[nodiscard]] std::vector<profile::use_run> runs() const;
  /// The nodes that the count has; `known` for the other pages.
  [[nodiscard]] std::vector<profile::resident_run>
  residence(const std::vector<profile::resident_run>& known) const;
};

/// The lines that a program's threads fetched while they initialised pages. In that phase a page
/// belongs to one thread, the one that touched it first (docs/lab.md has the rule).
class initialisation {
 public:
  /// `threads`: the profile's thread by the counter's number.
  initialisation(const traffic::counts& from, traffic::process_key program,
                 const std::vector<profile::thread_index>& threads);

  /// For an object, by its pages. Without one, the pages from `first` on, numbered from there;
  /// `first` is the address of the first page divided by the page size. Ascending; at most `pages`
  /// pages.
  [[nodiscard]] std::vector<profile::use_run> of(std::optional<traffic::object_id> object,
                                                 std::uint64_t first, std::uint64_t pages) const;

 private:
  struct page {
    std::optional<profile::thread_index> by; ///< who touched it first
    double lines = 0;
  };
  std::map<std::optional<traffic::object_id>, std::map<std::uint64_t, page>> pages_;
};

} // namespace nodewise::attribution
