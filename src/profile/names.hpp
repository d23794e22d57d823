// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::profile {

/// The name of each object of a program, by its position: the symbol of a static array
/// ("grid::field" in C++ and in Fortran), a file's last part, or the line that allocated it. If one
/// line allocates for several callers, as a wrapper or a template does, the caller's line
/// distinguishes the objects: "solver.cpp:90 (through grid.hpp:12)". Several calls in one line are
/// numbered in the order of their first objects: "solver.c:41 #2".
[[nodiscard]] std::vector<std::string> names_of(const program& of);

} // namespace nodewise::profile
