// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// nodewise: a static executable. It starts programs itself, because users wait for a launcher every
// time, and leaves everything else to nodewise-tool.
#include "cli/frame/paths.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/start/flags.hpp"
#include "cli/start/start_run.hpp"
#include "launch/counted.hpp"
#include "sys/programs.hpp"

namespace nodewise::cli {

namespace {

int hand_over_to_tool(std::span<const char* const> arguments) {
  const std::string tool = paths::of_this_process().tool();
  std::vector<std::string> command = {tool};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const int failed = sys::execute(command);
  throw error(error_kind::system, tool, "it was not started", "install nodewise completely",
              failed);
}

/// Only a plain run must start within a millisecond. Runs that are supervised, or that need line
/// tables, hwloc or a machine file, are left to nodewise-tool.
bool is_plain_run(const invocation& given) {
  if (given.verb == nullptr || given.verb->name != "run" || given.selected_form() != nullptr) {
    return false;
  }
  for (const flag* const other : {&flags::help, &flags::version, &flags::on, &flags::verify,
                                  &flags::output, &flags::rule, &flags::plan, &flags::plan_optional,
                                  &flags::strict, &flags::numa_balancing, &flags::for_launcher}) {
    if (given.has(*other)) {
      return false;
    }
  }
  // Measured weights are read from a file.
  if (given.text(flags::memory).value_or("").starts_with("weighted:auto")) {
    return false;
  }
  // "numa[hbm]" needs hwloc's knowledge of the machine.
  return std::ranges::none_of(given.options, [](const invocation::option& each) {
    return each.value.find('[') != std::string::npos;
  });
}

int run_command(std::span<const char* const> arguments) {
  invocation given;
  return guard(given, [&] {
    if (arguments.empty()) {
      return hand_over_to_tool(arguments);
    }
    launch::stand_aside();
    given = parse(arguments);
    return is_plain_run(given) ? start_run(given) : hand_over_to_tool(arguments);
  });
}

} // namespace

} // namespace nodewise::cli

int main(int argc, char** argv) {
  const auto words = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
  return nodewise::cli::run_command({argv + (argc > 0 ? 1 : 0), words});
}
