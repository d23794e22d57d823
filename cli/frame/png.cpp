// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/png.hpp"

#include <cerrno>

#include <sys/mman.h>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/frame/flags.hpp"
#include "cli/frame/terminal.hpp"
#include "sys/descriptor.hpp"
#include "sys/timed_program.hpp"

namespace nodewise::cli {

namespace {

constexpr const char* converter = "rsvg-convert";

[[noreturn]] void refuse_png(std::string_view file, const std::string& answered, int errno_value) {
  throw error(error_kind::system, fmt::format("--output {}", file), answered,
              "install the package librsvg2-bin, or write a FILE.svg", errno_value);
}

/// A file without a name that holds the text.
sys::descriptor file_with(std::string_view text, std::string_view for_file) {
  sys::descriptor made(::memfd_create("picture.svg", MFD_CLOEXEC));
  if (!made) {
    refuse_png(for_file, "no temporary file can be made", errno);
  }
  if (const int failed = write_all(made.number(), text); failed != 0) {
    refuse_png(for_file, "the temporary file cannot be written", failed);
  }
  return made;
}

} // namespace

std::string svg_or_png(std::string svg, const invocation& given) {
  const std::string_view file = given.text(flags::output).value_or("");
  if (!file.ends_with(".png")) {
    return svg;
  }
  const sys::descriptor source = file_with(svg, file);
  sys::timed_end end = sys::run_timed({.command = {converter},
                                       .environment = sys::own_environment(),
                                       .input = fmt::format("/proc/self/fd/{}", source.number()),
                                       .keep_output = true});
  if (end.how != sys::timed_end::cause::ended) {
    refuse_png(file, fmt::format("{} cannot be run", converter), end.errno_value);
  }
  if (end.wait_status != 0 || end.output.empty()) {
    refuse_png(file, fmt::format("{} failed: {}", converter, printable(end.errors)), 0);
  }
  return std::move(end.output);
}

} // namespace nodewise::cli
