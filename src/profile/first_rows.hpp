// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The first rows of an array of rows: nobody knows yet that more will follow, so the agent gives
// each a place of its own, and the group that it makes of the others begins behind them.
#pragma once

#include <cstdint>

#include "profile/profile.hpp"

namespace nodewise::profile {

/// Puts the first rows in front of their groups, as they are where a plan names the group: blocks
/// below `largest_row_bytes` that the same call has asked for before, and that live as long. Their
/// pages, uses, touches and lines become the group's; the group's address stays that of its own
/// first page. For advice: a profile on file has what was seen.
void join_first_rows(program& into, std::uint64_t page_bytes);

} // namespace nodewise::profile
