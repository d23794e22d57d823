// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Compares two profiles: what moved, and what is better.
#pragma once

#include "cli/frame/invocation.hpp"
#include "cli/verbs/profile/result.hpp"

namespace nodewise::cli {

/// Prints the comparison on standard output.
void compare_profiles(const profile_result& before, const profile_result& after,
                      const invocation& given);

} // namespace nodewise::cli
