// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/style.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/core.h>

namespace nodewise::report {

namespace {

constexpr std::size_t default_width = 80;
constexpr std::size_t least_width = 20;
constexpr std::size_t largest_width = 1000;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// Reads the environment: setlocale would take longer than all other work of the launch path.
bool locale_is_utf8() {
  std::string_view locale;
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    locale = variable(name);
    if (!locale.empty()) {
      break;
    }
  }
  std::string encoding;
  for (const char c : locale.substr(std::min(locale.find('.'), locale.size()))) {
    if (c != '-' && c != '.') {
      encoding += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
  }
  return encoding.starts_with("utf8");
}

std::size_t width_of(int fd, bool terminal) {
  const std::string_view columns = variable("COLUMNS");
  std::size_t width = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (width == 0 && terminal) {
    winsize size{};
    width = ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
  }
  return width == 0 ? default_width : std::clamp(width, least_width, largest_width);
}

bool wants_colour(bool terminal) {
  if (!variable("NO_COLOR").empty()) {
    return false;
  }
  const std::string_view force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") {
    return true;
  }
  const std::string_view term = variable("TERM");
  return terminal && !term.empty() && term != "dumb";
}

/// In the order of `tone`: plain, strong, faint, good, warning, bad, accent.
constexpr std::array<std::string_view, 7> tone_codes = {"", "1", "2", "32", "33", "1;31", "36"};

std::string coloured(std::string_view code, std::string_view text) {
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

/// The end of the escape sequence that begins at `at`: CSI, parameters, one final byte.
std::size_t after_escape(std::string_view text, std::size_t at) {
  ++at;
  if (at < text.size() && text[at] == '[') {
    ++at;
    while (at < text.size() && (text[at] < '@' || text[at] > '~')) {
      ++at;
    }
  }
  return std::min(at + 1, text.size());
}

} // namespace

style style::for_stream(int fd) {
  style how;
  how.terminal = ::isatty(fd) == 1;
  how.colour = wants_colour(how.terminal);
  how.unicode = locale_is_utf8();
  how.width = width_of(fd, how.terminal);
  return how;
}

std::string paint(const style& how, tone what, std::string_view text) {
  const std::string_view code = tone_codes.at(static_cast<std::size_t>(what));
  return how.colour && !code.empty() && !text.empty() ? coloured(code, text) : std::string{text};
}

std::string paint_node(const style& how, int node, std::string_view text) {
  // From the 256-colour palette: readable on black and on white; neighbours differ clearly in
  // colour, and in brightness too.
  static constexpr std::array codes = {"38;5;33",  "38;5;208", "38;5;35", "38;5;169",
                                       "38;5;178", "38;5;99",  "38;5;44", "38;5;160"};
  if (!how.colour || node < 0 || text.empty()) {
    return std::string{text};
  }
  return coloured(codes[static_cast<std::size_t>(node) % codes.size()], text);
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {
      at = after_escape(text, at);
      continue;
    }
    const bool continues = (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    columns += continues ? 0 : 1;
    ++at;
  }
  return columns;
}

std::string format_bytes(unsigned long long bytes) {
  static constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1000) {
    return fmt::format("{} B", bytes);
  }
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string format_percent(double ratio) {
  if (!std::isfinite(ratio)) {
    return "unavailable";
  }
  if (ratio == 0.0 || ratio == 1.0) {
    return ratio == 0.0 ? "0 %" : "100 %";
  }
  double percent = std::round(ratio * 1000) / 10;
  if (ratio > 0 && ratio < 1) {
    percent = std::clamp(percent, 0.1, 99.9);
  }
  return fmt::format("{:.1f} %", percent);
}

std::string format_percent(const std::optional<double>& ratio, std::string_view otherwise) {
  return ratio ? format_percent(*ratio) : std::string(otherwise);
}

} // namespace nodewise::report
