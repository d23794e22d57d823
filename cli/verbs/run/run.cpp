// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/frame/exit_codes.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/start/flags.hpp"
#include "cli/start/sites.hpp"
#include "cli/start/start_run.hpp"
#include "cli/verbs/run/result.hpp"
#include "launch/executable.hpp"
#include "launch/supervise.hpp"
#include "report/envelope.hpp"

namespace nodewise::cli::verbs {

namespace {

/// Reports where the pages were, and returns whether that is as requested.
bool report_run(const run_result& result, const invocation& given) {
  warn(result.found.warnings, given);
  if (asks_for_json(given)) {
    const nlohmann::ordered_json json = run_json(result);
    try {
      write_result(json, given);
    } catch (const error&) { // the program has run: its result must not be lost
      write_error(report::json_text(json));
      throw;
    }
  }
  if (given.has(flags::verify) && !given.has(flags::quiet)) {
    write_error(run_text(result, style_of(STDERR_FILENO, given)));
  }
  return result.is_as_asked();
}

[[noreturn]] void run_supervised(const launch::plan& what, const topology& here,
                                 const invocation& given) {
  check_output(given);
  const launch::outcome found = launch::supervise(what, sys::real_kernel());
  if (found.started) {
    const std::string file = launch::find_executable(what.command.front(), std::getenv("PATH"));
    const bool as_asked = report_run({what, found, here, make_site_namer(file)}, given);
    if (!as_asked && given.has(flags::strict) && found.wait_status == 0) {
      ::_exit(exit_code::check_failed);
    }
  }
  launch::end_as(found);
}

} // namespace

int run(const invocation& given) {
  return start_run(given,
                   {.complete = complete, .machine = machine_for, .supervise = run_supervised});
}

} // namespace nodewise::cli::verbs
