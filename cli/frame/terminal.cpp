// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/terminal.hpp"

#include <cerrno>

#include <unistd.h>

#include "base/printable.hpp"

namespace nodewise::cli {

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

namespace {

/// On a terminal, escapes control characters.
std::string shown_on(int descriptor, std::string_view text) {
  return ::isatty(descriptor) == 1 ? printable(text, kept_controls::newlines_colours)
                                   : std::string(text);
}

} // namespace

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

} // namespace nodewise::cli
