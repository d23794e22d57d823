// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Runs in a virtual machine, and their figure: the model's time of the counted traffic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/frame/invocation.hpp"
#include "cli/prediction/counted.hpp"
#include "cli/verbs/tune/temporary_file.hpp"
#include "model/costs.hpp"

namespace nodewise::cli {

/// The words of `run` that start a virtual machine as --on, --on-thp, ... ask.
[[nodiscard]] std::vector<std::string> words_of_on(const invocation& given);

/// The file of counts that each run replaces, and the time that the model predicts from it.
class lab_figure {
 public:
  /// `part`: "use", "init", "all" or the name of a marked region. Throws `error`: (system) if the
  /// file cannot be made, (input) if the machine's figures are invalid.
  lab_figure(const machine& on, std::string part);

  [[nodiscard]] const std::string& file() const noexcept { return file_.name(); }
  /// Of the run that has just ended; relative if the machine has no bandwidths. Throws `error`
  /// (input) if it moved no line in this part, and (usage) for an unknown region.
  [[nodiscard]] double read() const;
  /// What the run that has just ended moved. Throws `error` (input).
  [[nodiscard]] traffic_file counted() const;

 private:
  model::machine_costs costs_;
  std::string part_;
  temporary_file file_;
};

} // namespace nodewise::cli
