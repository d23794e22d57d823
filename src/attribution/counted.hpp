// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the lab's counter knows, added to what was seen inside the virtual machine.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"
#include "traffic/counts.hpp"

namespace nodewise::attribution {

/// Gives objects their uses by page and thread, the code that used them and their contested lines,
/// in the phase of use; where pages were while they were used; and memory that no object covers as
/// an object a mapping. Programs are told by process number and order, objects by their own
/// numbers, threads by theirs.
void add_counts(profile::profile& into, const traffic::counts& counted);

/// The programs of the count that have the name of `like`, with what was counted alone: enough to
/// price their traffic, not to advise on it.
[[nodiscard]] profile::profile profile_of(const traffic::counts& counted,
                                          const profile::program& like,
                                          std::vector<std::string> command);

} // namespace nodewise::attribution
