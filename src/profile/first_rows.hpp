// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The first rows of an array of rows. When the agent sees them it cannot know that more will
// follow, so it records each one separately; the group that it makes of later rows has room for
// them in its first pages.
#pragma once

#include <cstdint>

#include "profile/profile.hpp"

namespace nodewise::profile {

/// Puts the first rows into the first pages of their groups, where a plan that names the group has
/// them. First rows are blocks below `largest_row_bytes` that the same call allocated earlier and
/// that live as long. Their pages, uses, touches and lines become the group's. For advice only: a
/// profile file keeps what was observed.
void join_first_rows(program& into, std::uint64_t page_bytes);

} // namespace nodewise::profile
