// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Several profiles of one run as one: each rank of an MPI job writes its own.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::profile {

/// A profile and the file that it comes from, for error messages.
struct kept_profile {
  std::string file;
  profile what;
};

/// Combines the programs of all profiles as if they ran at the same time. The largest program of
/// each is a rank, with its own number, or in order if none has one. Evidence counts as present
/// only if all parts have it; what only some lack is listed with their files. Throws `error`
/// (usage) if base pages differ, two have the same rank, only some have one, or one contains no
/// program.
[[nodiscard]] profile merge(std::vector<kept_profile> parts);

} // namespace nodewise::profile
