// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plan that is made for a race: by `nodewise profile`, of one run of the program.
#pragma once

#include <string>
#include <vector>

namespace nodewise::cli {

/// Profiles one run, which writes its plan to `file`; an existing file is kept, so that a resumed
/// race goes on with the same plan. `on`: the words of `run` for a virtual machine, or empty.
/// Returns why the plan is not worth a race; usually empty. Throws `error` if there is no plan.
[[nodiscard]] std::string make_profiled_plan(const std::string& file,
                                             const std::vector<std::string>& command,
                                             const std::vector<std::string>& on);

} // namespace nodewise::cli
