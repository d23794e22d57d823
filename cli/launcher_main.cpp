// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// nodewise: a static executable that does `run` itself, since a launcher's start is waited for
// every time, and leaves everything else to nodewise-tool.
#include <exception>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

#include <nodewise/error.hpp>

#include "cli/execute.hpp"
#include "cli/exit_codes.hpp"
#include "cli/paths.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "report/error_text.hpp"

namespace nodewise::cli {

namespace {

int hand_over_to_tool(std::span<const char* const> arguments) {
  const std::string tool = paths::of_this_process().tool();
  std::vector<std::string> command = {tool};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const int failed = execute(command);
  throw error(error_kind::system, tool, "it was not started", "install nodewise completely",
              failed);
}

bool is_plain_run(const invocation& given) {
  return given.verb != nullptr && given.verb->name == "run" && !given.has(flags::help) &&
         !given.has(flags::version) && !given.has(flags::on);
}

int run_command(std::span<const char* const> arguments) {
  invocation given;
  const auto complain = [&](const error& e) {
    write_error(report::error_text(e, style_of(STDERR_FILENO, given)));
  };
  try {
    if (arguments.empty()) {
      return hand_over_to_tool(arguments);
    }
    given = parse(arguments);
    return is_plain_run(given) ? verbs::run(given) : hand_over_to_tool(arguments);
  } catch (const error& e) {
    complain(e);
    return exit_code_of(e.kind());
  } catch (const std::exception& e) {
    complain({error_kind::system, "starting a program", e.what(),
              "raise the limits of this process (ulimit -a)"});
    return exit_code::not_started;
  }
}

} // namespace

} // namespace nodewise::cli

int main(int argc, char** argv) {
  const auto words = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
  return nodewise::cli::run_command({argv + (argc > 0 ? 1 : 0), words});
}
