// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/png.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/frame/flags.hpp"
#include "cli/frame/memory_file.hpp"
#include "sys/timed_program.hpp"

namespace nodewise::cli {

namespace {

/// A program that converts its standard input.
struct converter {
  std::vector<std::string> command;
  std::string_view package;
};

std::string converted(std::string_view picture, const converter& by, std::string_view asked) {
  const auto refuse = [&](const std::string& answered, int errno_value) {
    throw error(error_kind::system, std::string(asked), answered,
                fmt::format("install the package {}, or write a FILE.svg by -o", by.package),
                errno_value);
  };
  const sys::descriptor source = memory_file(picture);
  sys::timed_end end = sys::run_timed({.command = by.command,
                                       .environment = sys::own_environment(),
                                       .input = name_of(source),
                                       .keep_output = true});
  if (end.how != sys::timed_end::cause::ended) {
    refuse(fmt::format("{} cannot be run", by.command.front()), end.errno_value);
  }
  if (end.wait_status != 0 || end.output.empty()) {
    refuse(fmt::format("{} failed: {}", by.command.front(), printable(end.errors)), 0);
  }
  return std::move(end.output);
}

/// Of the header: after the signature, the length and the name of the first chunk, in big-endian
/// order.
std::size_t width_of_png(std::string_view png) {
  constexpr std::size_t at = 16;
  std::size_t width = 0;
  for (const char each : png.substr(std::min(at, png.size()), 4)) {
    width = width << 8 | static_cast<unsigned char>(each);
  }
  return width;
}

} // namespace

std::string png_of(std::string_view svg, std::string_view asked, std::size_t most_width) {
  const converter as_drawn{{"rsvg-convert"}, "librsvg2-bin"};
  std::string png = converted(svg, as_drawn, asked);
  if (most_width == 0 || width_of_png(png) <= most_width) {
    return png;
  }
  const converter smaller{
      {"rsvg-convert", "--keep-aspect-ratio", fmt::format("--width={}", most_width)},
      as_drawn.package};
  return converted(svg, smaller, asked);
}

std::string sixel_of(std::string_view png, std::string_view asked) {
  return converted(png, {{"img2sixel"}, "libsixel-bin"}, asked);
}

std::string svg_or_png(std::string svg, const invocation& given) {
  const std::string_view file = given.text(flags::output).value_or("");
  return file.ends_with(".png") ? png_of(svg, fmt::format("--output {}", file)) : svg;
}

} // namespace nodewise::cli
