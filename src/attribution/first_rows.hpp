// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The first row of an array of rows: nobody knows yet that more will follow, so the agent gives it
// a place of its own, and the group that it makes of the others begins with the second.
#pragma once

#include <cstdint>

#include "profile/profile.hpp"

namespace nodewise::attribution {

/// Puts the first pages of each group in front of the others, as they are where a plan names the
/// group: the block that the same call asked for last before it, if both are used after
/// initialisation. Its pages, uses, touches and lines become the group's; the group's address stays
/// that of its own first page.
void join_first_rows(profile::program& into, std::uint64_t page_bytes);

} // namespace nodewise::attribution
