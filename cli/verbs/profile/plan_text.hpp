// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "advise/advise.hpp"
#include "cli/verbs/profile/proof.hpp"
#include "profile/profile.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// As text: what a plan does, what the model predicts for it and what was counted with it.
[[nodiscard]] std::string plan_text(const profile::profile& of, const advise::proposal& what,
                                    const std::optional<proof>& proven, bool verbose,
                                    const report::style& how);

/// The command that applies the plan in this file. `options`: of `run`, such as "--on lab:4x2".
[[nodiscard]] std::string plan_command_text(const profile::profile& of, std::string_view file,
                                            std::string_view options);

} // namespace nodewise::cli
