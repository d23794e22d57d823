// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::profile {

/// What each object of a program is called, by its position: the symbol of a static array
/// ("grid::field" in C++ and in Fortran), a file's last part, or the line that allocated it. Where
/// one line allocates for several callers, as a wrapper or a template does, it is the caller's line
/// that tells them apart: "solver.cpp:90 (through grid.hpp:12)". Several calls in one line are
/// numbered in the order of their first objects: "solver.c:41 #2".
[[nodiscard]] std::vector<std::string> names_of(const program& of);

} // namespace nodewise::profile
