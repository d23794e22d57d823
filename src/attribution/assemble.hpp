// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Builds a profile from all that was recorded of a program.
#pragma once

#include <cstddef>

#include "attribution/sweep.hpp"
#include "profile/profile.hpp"

namespace nodewise::attribution {

/// `huge_bytes`: size of transparent huge pages, 0 if the kernel has none, for
/// `complete_huge_pages`. Leaves out programs without touches or objects, such as a shell that
/// started another program. The caller adds the command, the memory of nodes, and missing evidence
/// that the sources do not list.
[[nodiscard]] profile::profile assemble(const heard& from, std::size_t huge_bytes);

} // namespace nodewise::attribution
