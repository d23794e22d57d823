// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Compares two profiles: what moved, and what is better.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/invocation.hpp"
#include "cli/profile_result.hpp"
#include "cli/profile_sites.hpp"

namespace nodewise::cli {

/// The objects with one name in one program.
struct compared_site {
  std::string program;
  std::string name; ///< "solver.c:41", a symbol
  std::optional<profile_site> before;
  std::optional<profile_site> after;
};

/// Largest first; the objects of a program are matched by allocation site or symbol.
[[nodiscard]] std::vector<compared_site> compare_sites(const profile::profile& before,
                                                       const profile::profile& after);

/// Prints the comparison on standard output.
void compare_profiles(const profile_result& before, const profile_result& after,
                      const invocation& given);

} // namespace nodewise::cli
