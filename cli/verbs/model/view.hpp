// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Answers of the model, and how they are shown as text. All numbers of an answer are predicted.
#pragma once

#include <memory>

#include <nlohmann/json_fwd.hpp>

#include "cli/prediction/predicted.hpp"
#include "cli/verbs/model/answer.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// The question, as text and as JSON.
struct model_question {
  std::string title;                                  ///< "triad: a[i] = b[i] + s * c[i]"
  std::vector<std::string> lines;                     ///< details, one sentence each
  std::shared_ptr<const nlohmann::ordered_json> json; ///< the same, for the JSON result
};

struct answered_point {
  std::string value; ///< of what is swept
  model_answer answer;
};

/// What the other forms (flags.hpp) are written from.
struct reported_prediction {
  model_question asked;
  const machine& of;
  const model::machine_costs& on;
  model::hypothesis limit;
  std::string swept;                  ///< an option; empty if there is one answer
  std::vector<answered_point> points; ///< for each value of what is swept; else one
};

/// Leaves out the `swept` option: each answer has its own value of it.
[[nodiscard]] model_question question_of(const loop_description& asked, const machine& on,
                                         const placed_loop& loop, std::string_view swept = {});
/// `file` is the name as typed.
[[nodiscard]] model_question question_of(std::string_view file, const traffic_choice& which,
                                         const machine& on, const priced_traffic& what,
                                         model::work how);

/// The answer as text: about one screen.
[[nodiscard]] std::string model_text(const model_question& asked, const model_answer& answer,
                                     const model::machine_costs& on, const report::style& how);
/// One row for each value, with a bar.
[[nodiscard]] std::string model_sweep_text(const model_question& asked, std::string_view what,
                                           const std::vector<answered_point>& points,
                                           const model::machine_costs& on,
                                           const report::style& how);

} // namespace nodewise::cli
