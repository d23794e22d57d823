// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// nodewise-tool: every verb except the plain `run`, which the small executable `nodewise` does.
#include <cerrno>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

#include <nodewise/version.hpp>

#include "cli/frame/help.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "sys/signals.hpp"

namespace nodewise::cli {

namespace {

struct dispatch_row {
  std::string_view verb;
  int (*does)(const invocation&);
};
constexpr std::array dispatch = {
    dispatch_row{"topo", verbs::topo},         dispatch_row{"run", verbs::run},
    dispatch_row{"doctor", verbs::doctor},     dispatch_row{"lab", verbs::lab},
    dispatch_row{"pages", verbs::pages},       dispatch_row{"model", verbs::model},
    dispatch_row{"profile", verbs::profile},   dispatch_row{"tune", verbs::tune},
    dispatch_row{"survey", verbs::survey},     dispatch_row{"measure", verbs::measure},
    dispatch_row{"report", verbs::report},     dispatch_row{"drop-cache", verbs::drop_cache},
    dispatch_row{"warm", verbs::warm},         dispatch_row{"help", verbs::help},
    dispatch_row{"internal", verbs::internal},
};

int dispatch_verb(const invocation& given) {
  if (given.has(flags::help)) {
    const report::style how = style_of(STDOUT_FILENO, given);
    write_out(given.verb != nullptr ? verb_help(*given.verb, how) : command_help(how));
    return exit_code::ok;
  }
  if (given.has(flags::version)) {
    write_out("nodewise " NODEWISE_VERSION "\n");
    return exit_code::ok;
  }
  if (given.has(flags::on) && given.verb->name != "lab" &&
      given.verb->name != "tune") { // which runs each setting there
    return verbs::on_lab(given);
  }
  for (const dispatch_row& row : dispatch) {
    if (row.verb == given.verb->name) {
      return row.does(given);
    }
  }
  throw std::logic_error("a verb without a function");
}

/// If a standard descriptor is closed, the next opened file would get its number, and results would
/// be written into that file. A placeholder that refuses writes prevents this.
void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
      (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

int run_command(std::span<const char* const> arguments) {
  invocation given;
  if (arguments.empty()) {
    write_error(short_help(style_of(STDERR_FILENO, given)));
    return exit_code::usage;
  }
  return guard(given, [&] {
    given = parse(arguments);
    return dispatch_verb(given);
  });
}

} // namespace

} // namespace nodewise::cli

int main(int argc, char** argv) {
  nodewise::cli::occupy_standard_descriptors();
  nodewise::sys::ignore_broken_pipes();
  const auto words = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
  return nodewise::cli::run_command({argv + (argc > 0 ? 1 : 0), words});
}
