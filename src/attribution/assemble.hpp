// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A profile from all that was heard of a program.
#pragma once

#include <cstddef>

#include "attribution/sweep.hpp"
#include "profile/profile.hpp"

namespace nodewise::attribution {

/// Of transparent huge pages, 0 if the kernel has none, for `complete_huge_pages`. Programs that
/// touched nothing and made nothing are left out, such as the shell that started another one. The
/// command, the memory of nodes and what is missing beyond the sources' own words are the caller's
/// to add.
[[nodiscard]] profile::profile assemble(const heard& from, std::size_t huge_bytes);

} // namespace nodewise::attribution
