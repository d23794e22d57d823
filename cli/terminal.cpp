// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <cerrno>

#include <unistd.h>

#include "base/printable.hpp"

namespace nodewise::cli {

namespace {

/// 0 or errno.
int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
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
  write_screen(::isatty(STDOUT_FILENO) == 1 ? printable(text, kept_controls::newlines_colours)
                                            : std::string(text));
}

void write_screen(std::string_view text) {
  if (const int failed = write_all(STDOUT_FILENO, text); failed != 0) {
    throw error(error_kind::system, "the result on standard output", "it was not written in full",
                failed == EPIPE ? "the reader ended first; read all of it, or write it to a file"
                                : "check where standard output leads, and the space left there",
                failed);
  }
}

void write_error(std::string_view text) {
  (void)write_all(STDERR_FILENO, ::isatty(STDERR_FILENO) == 1
                                     ? printable(text, kept_controls::newlines_colours)
                                     : std::string(text));
}

} // namespace nodewise::cli
