// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/measure/weights.hpp"

#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/core.h>

#include "cli/frame/terminal.hpp"
#include "cli/verbs/measure/flags.hpp"
#include "cli/verbs/measure/keep.hpp"
#include "place/kernel_weights.hpp"
#include "report/error_text.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli {

namespace {

using measure::experiment;

/// Uses the measured bandwidths only: the firmware may have published others.
std::vector<kernel_weights::weight> weights_of(const measure::measurement& what, machine of) {
  std::erase_if(of.parameters, [](const parameter& each) { return each.name == "bandwidth"; });
  return kernel_weights::by_bandwidth(
      measure::with_parameters(std::move(of), measure::parameters_of(what)));
}

} // namespace

std::string why_no_weights(const measure::measurement& what, const machine& of,
                           const machine& here) {
  if (!what.is_complete()) {
    return "the measurement was stopped";
  }
  for (const measure::record& each : what.records) {
    if (each.found.wrong) {
      return fmt::format("{} {} gave a wrong result: {}", to_string(each.of), each.label,
                         each.found.unavailable);
    }
    if (each.of == experiment::bandwidth && !each.is_known()) {
      return fmt::format("bandwidth {} is unavailable: {}", each.label, each.found.unavailable);
    }
  }
  return nodewise::measured::why_another(here, of);
}

std::string weight_lines(const measure::measurement& what, const topology& on,
                         const std::string& file, const invocation& given) {
  const bool applies = given.text(flags::weights) == "apply";
  const bool measured_now = file.empty();
  const std::string option = option_name(flags::weights) + (applies ? "=apply" : "");
  const std::string asked = measured_now ? option : fmt::format("{} of {}", option, file);
  std::string why = why_no_weights(what, on.machine(),
                                   measured_now ? on.machine() : topology::system().machine());
  bool refused = applies || measured_now;
  if (why.empty() && measured_now) {
    why = why_in_part(on);
    refused = applies;
  }
  if (!why.empty() && refused) {
    throw error(error_kind::input, asked, why,
                fmt::format("measure the whole machine to the end: nodewise measure {}; nodewise "
                            "doctor reports what the system refuses",
                            option));
  }
  if (!why.empty()) {
    write_error(
        report::warning_text(fmt::format("{}: {}", asked, why), style_of(STDERR_FILENO, given)));
  }
  const auto weights = weights_of(what, on.machine());
  if (applies) {
    kernel_weights::apply_weights(sys::real_kernel(), weights);
  }
  return kernel_weights::shell_lines(weights);
}

} // namespace nodewise::cli
