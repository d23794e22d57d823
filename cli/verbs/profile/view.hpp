// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Shows and writes a profile and its advice.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/machine.hpp>

#include "advise/advise.hpp"
#include "cli/verbs/profile/proof.hpp"
#include "profile/profile.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// As text: what is wrong, what fixes it and what the fix gains. `verbose` adds the evidence, all
/// arrays, rejected candidates, what was not examined, and the cost of profiling.
[[nodiscard]] std::string advice_text(const profile::profile& what, const advise::advice& found,
                                      const machine& on, bool verbose, const report::style& how);
/// `nodewise/advice/1`.
[[nodiscard]] nlohmann::ordered_json
advice_json(const profile::profile& what, const advise::advice& found,
            const std::optional<proof>& proven, const machine& on, nlohmann::ordered_json settings);
/// `nodewise/profile/1`.
[[nodiscard]] nlohmann::ordered_json profile_json(const profile::profile& what, const machine& on,
                                                  nlohmann::ordered_json settings);

} // namespace nodewise::cli
