// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Runs of pages as text, so that a profile of a million pages stays a readable file:
//
//     where    "0+128@0 128+128@1"      128 pages from page 0 on node 0, ...
//     touched  "0+256@3/1"              by thread 3 on a processor of node 1; "-" if unknown
//     used     "0+128 0:512,2:7.5"      512 units by thread 0, 7.5 by thread 2; a line per run
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::profile {

[[nodiscard]] std::string text_of(const std::vector<resident_run>& runs);
[[nodiscard]] std::string text_of(const std::vector<touched_run>& runs);
[[nodiscard]] std::string text_of(const use_run& run);

/// What a text must fit: ascending runs that do not overlap, in an object of `pages` pages and a
/// program with `threads` threads.
struct run_bounds {
  std::uint64_t pages = 0;
  std::size_t threads = 0;
};

/// Each returns false for a text that does not fit; `into` may then be partly filled.
[[nodiscard]] bool read(std::string_view text, const run_bounds& in,
                        std::vector<resident_run>& into);
[[nodiscard]] bool read(std::string_view text, const run_bounds& in,
                        std::vector<touched_run>& into);
[[nodiscard]] bool read(std::string_view text, const run_bounds& in, use_run& into);

} // namespace nodewise::profile
