// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/png.hpp"

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/frame/flags.hpp"
#include "cli/frame/memory_file.hpp"
#include "sys/timed_program.hpp"

namespace nodewise::cli {

namespace {

constexpr const char* converter = "rsvg-convert";

[[noreturn]] void refuse_png(std::string_view file, const std::string& answered, int errno_value) {
  throw error(error_kind::system, fmt::format("--output {}", file), answered,
              "install the package librsvg2-bin, or write a FILE.svg", errno_value);
}

} // namespace

std::string svg_or_png(std::string svg, const invocation& given) {
  const std::string_view file = given.text(flags::output).value_or("");
  if (!file.ends_with(".png")) {
    return svg;
  }
  const sys::descriptor source = memory_file(svg);
  sys::timed_end end = sys::run_timed({.command = {converter},
                                       .environment = sys::own_environment(),
                                       .input = name_of(source),
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
