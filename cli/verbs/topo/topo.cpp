// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/machine/drawing.hpp"
#include "cli/machine/source.hpp"
#include "cli/verbs/topo/flags.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli::verbs {

namespace {

/// Measured costs are optional: if they cannot be read, the machine is drawn without them.
measured_machine this_machine_to_draw(const invocation& given) {
  try {
    return this_machine_with_costs();
  } catch (const error& e) {
    if (e.kind() != error_kind::input) {
      throw;
    }
    write_error(report::warning_text(fmt::format("{}: {}; {}", e.asked(), e.answered(), e.hint()),
                                     style_of(STDERR_FILENO, given)));
    return {topology::system(), std::nullopt, {}};
  }
}

/// The requested machine, with its known costs.
measured_machine find_machine(const invocation& given) {
  const auto input = given.text(flags::input);
  const auto costs = given.text(flags::costs);
  if (!input && !costs) {
    return this_machine_to_draw(given);
  }
  const topology what =
      input
          ? for_option(flags::input, [&] { return read_machine(*input, paths::of_this_process()); })
          : topology::system();
  return costs ? machine_with_costs(what, *costs) : measured_machine{what, std::nullopt, {}};
}

std::string xml_text(const invocation& given) {
  const auto input = given.text(flags::input);
  const bool as_recorded = input && !given.has(flags::costs);
  const auto measured = as_recorded ? std::nullopt : find_machine(given).measured;
  return input ? for_option(flags::input, [&] { return machine_xml(input, measured); })
               : machine_xml({}, measured);
}

} // namespace

int topo(const invocation& given) {
  if (given.has(flags::xml)) {
    write_result_text(xml_text(given), given);
    return exit_code::ok;
  }
  const measured_machine found = find_machine(given);
  const auto as_json = [&] {
    nlohmann::ordered_json result = topology_json(found.what);
    if (!given.has(flags::input)) { // this system's settings do not describe another machine
      result["settings"] = settings_json(sys::real_kernel());
    }
    return result;
  };
  show_result(given, as_json,
              [&](const report::style& how) { return draw(found.what, how, found.remarks); });
  return exit_code::ok;
}

} // namespace nodewise::cli::verbs
