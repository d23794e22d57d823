// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which programs of a profile share the machine.
#pragma once

#include <cstddef>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::advise {

/// Positions of programs that are priced together: the ranks of one job, or programs that one
/// parent started more than once and that ran at once. All others are separate. In the order of
/// their start.
[[nodiscard]] std::vector<std::vector<std::size_t>> jobs_of(const profile::profile& of);

/// The job of one program. Throws `error` (usage) if the program does not exist.
[[nodiscard]] std::vector<std::size_t> job_of(const profile::profile& of, std::size_t program);

} // namespace nodewise::advise
