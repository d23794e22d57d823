// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/exit_codes.hpp"
#include "cli/machine_source.hpp"
#include "cli/result.hpp"
#include "cli/terminal.hpp"
#include "cli/topology_drawing.hpp"
#include "cli/verbs.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli::verbs {

int topo(const invocation& given) {
  const auto input = given.text(flags::input);
  if (given.has(flags::xml)) {
    write_result_text(input ? for_option(flags::input, [&] { return machine_xml(input); })
                            : machine_xml({}),
                      given);
    return exit_code::ok;
  }
  const topology found =
      input
          ? for_option(flags::input, [&] { return read_machine(*input, paths::of_this_process()); })
          : topology::system();
  if (given.has(flags::json) || given.has(flags::output)) {
    // The settings of this system say nothing about another machine.
    write_result(topology_json(found, input ? nlohmann::ordered_json::object()
                                            : settings_json(sys::real_kernel())),
                 given);
  }
  if (!given.has(flags::json)) {
    write_out(draw(found, style_of(STDOUT_FILENO, given)));
  }
  return exit_code::ok;
}

} // namespace nodewise::cli::verbs
