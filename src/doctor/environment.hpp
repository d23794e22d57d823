// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Compares the variables that place threads and memory with each other (bind/conflicts) and with
// what this process may use.
#pragma once

#include <vector>

#include "bind/conflicts.hpp"
#include "doctor/finding.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// The variables that `examine_environment` needs and that are set.
[[nodiscard]] bind::settings read_variables(environment get);

/// One finding a contradiction, with the variable that wins and the cure; one good finding if there
/// is none.
[[nodiscard]] std::vector<finding> examine_environment(sys::kernel& from,
                                                       const bind::settings& variables);

} // namespace nodewise::doctor
