// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/terminal.hpp"

#include <cerrno>
#include <exception>
#include <new>

#include <unistd.h>

#include "base/text.hpp"
#include "launch/executable.hpp"

namespace nodewise::cli {

namespace {

/// On a terminal, escapes control characters.
std::string shown_on(int descriptor, std::string_view text) {
  return ::isatty(descriptor) == 1 ? printable(text, kept_controls::newlines_colours)
                                   : std::string(text);
}

int exit_code_for(const error& e, const invocation& given) {
  if (const auto* const stopped = dynamic_cast<const launch::not_started*>(&e)) {
    return stopped->exit_code();
  }
  // With --on the program runs in the virtual machine: here it has not started.
  return given.has(flags::on) && e.kind() == error_kind::system ? exit_code::not_started
                                                                : exit_code_of(e.kind());
}

} // namespace

int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

report::style style_of(int descriptor, const invocation& given) {
  report::style how = report::style::for_stream(descriptor);
  const std::string_view when = given.text(flags::color).value_or("auto");
  if (when != "auto") {
    how.colour = when == "always";
  }
  return how;
}

void write_out(std::string_view text) {
  write_screen(shown_on(STDOUT_FILENO, text));
}

void write_screen(std::string_view text) {
  if (const int failed = write_all(STDOUT_FILENO, text); failed != 0) {
    throw error(error_kind::system, "writing the result to standard output", "it is incomplete",
                failed == EPIPE ? "the reader ended first; read all of it, or write it to a file"
                                : "check where standard output goes, and the space left there",
                failed);
  }
}

void write_error(std::string_view text) {
  (void)write_all(STDERR_FILENO, shown_on(STDERR_FILENO, text));
}

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
