// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Two profiles side by side: what moved, and what is better.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/invocation.hpp"
#include "cli/profile_result.hpp"
#include "cli/profile_sites.hpp"

namespace nodewise::cli {

/// Objects of one name in one program.
struct compared_site {
  std::string program;
  std::string name; ///< "solver.c:41", a symbol
  std::optional<profile_site> before;
  std::optional<profile_site> after;
};

/// Largest first; objects of a program are matched by where they were made.
[[nodiscard]] std::vector<compared_site> compare_sites(const profile::profile& before,
                                                       const profile::profile& after);

/// Tells it on standard output.
void compare_profiles(const profile_result& before, const profile_result& after,
                      const invocation& given);

} // namespace nodewise::cli
