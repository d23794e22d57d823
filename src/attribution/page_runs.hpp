// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Converts single pages to runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attribution/observed_object.hpp"
#include "profile/profile.hpp"

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
/// Resident pages whose first touch was not seen.
[[nodiscard]] std::uint64_t unseen_touches_of(const observed_object& object,
                                              const std::vector<profile::resident_run>& where);
/// Pages that ended on another node than that of the processor that touched them first.
[[nodiscard]] std::uint64_t elsewhere_of(const std::vector<profile::touched_run>& touched,
                                         const std::vector<profile::resident_run>& where);
/// Accesses by page and thread. Sorts `object`'s accesses.
[[nodiscard]] std::vector<profile::use_run> uses_of(observed_object& object, std::uint64_t pages);

} // namespace nodewise::attribution
