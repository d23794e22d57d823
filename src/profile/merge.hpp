// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Several profiles of one run as one: each rank of an MPI job writes its own.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::profile {

/// A profile and the file that it is from, for complaints.
struct kept_profile {
  std::string file;
  profile what;
};

/// The programs of all of them, as having run at the same time. The largest program of each is a
/// rank: by its own number, or where none has one by their order. Evidence that some of them lack
/// is lacking, and told with the ranks that it is of. Throws `error` (usage): base pages differ,
/// two have the same rank, only some have one, or one saw no program.
[[nodiscard]] profile merge(std::vector<kept_profile> parts);

} // namespace nodewise::profile
