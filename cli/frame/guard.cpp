// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/guard.hpp"

#include <exception>
#include <new>

#include <unistd.h>

#include "cli/frame/exit_codes.hpp"
#include "cli/frame/terminal.hpp"
#include "launch/not_started.hpp"
#include "report/error_text.hpp"

namespace nodewise::cli {

namespace {

int exit_code_for(const error& e, const invocation& given) {
  if (const auto* const stopped = dynamic_cast<const launch::not_started*>(&e)) {
    return stopped->exit_code();
  }
  // With --on the program runs in the virtual machine: here it has not started.
  return given.has(flags::on) && e.kind() == error_kind::system ? exit_code::not_started
                                                                : exit_code_of(e.kind());
}

} // namespace

int guard(const invocation& given, const std::function<int()>& work) {
  const auto print = [&](const error& e) {
    write_error(report::error_text(e, style_of(STDERR_FILENO, given)));
    return exit_code_for(e, given);
  };
  try {
    return work();
  } catch (const error& e) {
    return print(e);
  } catch (const std::bad_alloc&) {
    return print({error_kind::system, "allocating memory", "there is no memory left",
                  "raise the limit (ulimit -v)"});
  } catch (const std::exception& e) {
    (void)print({error_kind::system, "this command", e.what(),
                 "this is a bug in nodewise: please report it with the command line"});
    return exit_code::not_started;
  }
}

} // namespace nodewise::cli
