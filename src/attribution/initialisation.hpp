// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "profile/profile.hpp"
#include "traffic/counts.hpp"

namespace nodewise::attribution {

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
    profile::thread_index by = 0;
    double lines = 0;
  };
  std::map<std::optional<traffic::object_id>, std::map<std::uint64_t, page>> pages_;
};

} // namespace nodewise::attribution
