// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Runs of pages as words, so that a profile of a million pages stays a file that can be read:
//
//     where    "0+128@0 128+128@1"      from page 0 on 128 pages on node 0, ...
//     touched  "0+256@3/1"              by thread 3 on a processor of node 1; "-" for nobody knows
//     used     "0+128 0:512,2:7.5"      by thread 0 512 units, by thread 2 7.5; a line a run
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::profile {

[[nodiscard]] std::string text_of(const std::vector<resident_run>& runs);
[[nodiscard]] std::string text_of(const std::vector<touched_run>& runs);
[[nodiscard]] std::string text_of(const use_run& run);

/// What a text has to fit: runs that ascend and do not overlap, in an object of so many pages and a
/// program with so many threads.
struct run_bounds {
  std::uint64_t pages = 0;
  std::size_t threads = 0;
};

/// Each returns false, and leaves `into` as it may be, for a text that does not fit.
[[nodiscard]] bool read(std::string_view text, const run_bounds& in,
                        std::vector<resident_run>& into);
[[nodiscard]] bool read(std::string_view text, const run_bounds& in,
                        std::vector<touched_run>& into);
[[nodiscard]] bool read(std::string_view text, const run_bounds& in, use_run& into);

} // namespace nodewise::profile
