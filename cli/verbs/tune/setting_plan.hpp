// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A setting as a plan file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "plan/plan.hpp"
#include "tune/setting.hpp"

namespace nodewise::cli {

/// The options of `run` in two parts.
struct setting_as_plan {
  plans::plan_file plan;
  std::vector<std::string> beside; ///< words that no plan can hold: {"--huge-pages", "on"}

  /// Whether the plan says anything.
  [[nodiscard]] bool has_plan() const {
    return plan.bind != bind_policy::none || !plan.objects.empty();
  }
};

/// `on`: the machine for which the setting was chosen; `program`: the name of its file. Throws
/// `error` as `read_plan` does if the setting has a plan of its own.
[[nodiscard]] setting_as_plan plan_of(const tune::setting& how, const std::string& program,
                                      const topology& on);
/// As a file.
[[nodiscard]] std::string plan_json(const plans::plan_file& what, const topology& on);

} // namespace nodewise::cli
