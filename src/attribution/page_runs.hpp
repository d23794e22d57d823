// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From page by page to runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attribution/observed_object.hpp"
#include "profile/profile.hpp"

namespace nodewise::attribution {

/// Where its pages were at its end: in runs, or as far as the agent's strip of 64 cells tells.
[[nodiscard]] std::vector<profile::resident_run> where_of(const launch::object_report& report);

/// Where they were when they were touched, as far as the samples have told: of an object that
/// nobody asked about at its end.
[[nodiscard]] std::vector<profile::resident_run> where_touched(const observed_object& object,
                                                               std::uint64_t pages);
/// Pages that a huge page brought with it get its toucher: an aligned block of the huge page's
/// size, all of it in memory, of which one page alone was touched. Returns how many huge pages.
std::uint64_t complete_huge_pages(observed_object& object, std::uint64_t pages,
                                  const std::vector<profile::resident_run>& where,
                                  std::size_t page_bytes, std::size_t huge_bytes);

[[nodiscard]] std::vector<profile::touched_run> touched_of(const observed_object& object,
                                                           std::uint64_t pages);
/// Resident pages that nobody was seen to touch.
[[nodiscard]] std::uint64_t unseen_touches_of(const observed_object& object,
                                              const std::vector<profile::resident_run>& where);
/// Pages that were at last on another node than the processor's that touched them first.
[[nodiscard]] std::uint64_t elsewhere_of(const std::vector<profile::touched_run>& touched,
                                         const std::vector<profile::resident_run>& where);
/// Accesses by page and thread; sorts them.
[[nodiscard]] std::vector<profile::use_run> uses_of(observed_object& object, std::uint64_t pages);

} // namespace nodewise::attribution
