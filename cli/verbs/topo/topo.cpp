// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/machine/drawing.hpp"
#include "cli/machine/svg_picture.hpp"
#include "cli/verbs/topo/flags.hpp"
#include "cli/verbs/topo/view.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace verbs {

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
    write_result(xml_text(given), given);
    return exit_code::ok;
  }
  const shown_machine shown{find_machine(given), !given.has(flags::input)};
  show_result(given, topo_forms, shown, [&](const report::style& how) {
    return draw(shown.found.what, how, shown.found.remarks);
  });
  return exit_code::ok;
}

} // namespace verbs

std::string shown_machine_svg(const shown_machine& what) {
  return drawing::file_of(machine_picture(what.found.what, what.found.remarks));
}

std::string shown_machine_json(const shown_machine& what) {
  nlohmann::ordered_json result = topology_json(what.found.what);
  if (what.is_here) {
    result["settings"] = settings_json(sys::real_kernel());
  }
  return report::json_text(result);
}

} // namespace nodewise::cli
