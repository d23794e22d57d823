// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Adds the lab counter's data to what was observed inside the virtual machine.
#pragma once

#include "profile/profile.hpp"
#include "traffic/counts.hpp"

namespace nodewise::attribution {

/// For the phase of use, gives objects their uses by page and thread, the code that used them and
/// their contested lines, and where their pages were. Memory outside all objects becomes one object
/// per mapping. Programs match by process number and order, objects and threads by their own
/// numbers.
void add_counts(profile::profile& into, const traffic::counts& counted);

/// The programs of the count that have the name of `like`, with counted data only: enough to price
/// their traffic, not to give advice.
[[nodiscard]] profile::profile profile_of(const traffic::counts& counted,
                                          const profile::program& like,
                                          std::vector<std::string> command);

} // namespace nodewise::attribution
