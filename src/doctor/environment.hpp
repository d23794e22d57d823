// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Variables that say where threads and memory go, held against each other (bind/conflicts) and
// against what this process is allowed.
#pragma once

#include <vector>

#include "bind/conflicts.hpp"
#include "doctor/finding.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// Those of the names that `examine_environment` asks for that are set.
[[nodiscard]] bind::settings read_variables(environment get);

/// Each contradiction with who wins and its cure; one good finding where there is none.
[[nodiscard]] std::vector<finding> examine_environment(sys::kernel& from,
                                                       const bind::settings& said);

} // namespace nodewise::doctor
