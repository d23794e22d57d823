// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/style.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.hpp"

namespace nodewise::report {

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// Reads the environment: setlocale would take longer than all other work of the launch path.
bool locale_is_utf8() {
  std::string_view locale;
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    locale = locale.empty() ? variable(name) : locale;
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
  return width == 0 ? style().width : std::clamp<std::size_t>(width, 20, 1000);
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

void wrap_paragraph(std::string_view text, std::size_t width, std::vector<std::string>& lines) {
  std::string line;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) {
      continue;
    }
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    line.append(line.empty() ? "" : " ").append(word);
  }
  lines.push_back(std::move(line));
}

std::string spaces_up_to(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(width > taken ? width - taken : 0, ' ');
}

/// Makes text printable: messages hold names of files and programs.
std::string shown(std::string_view text) {
  return printable(text, kept_controls::newlines);
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

std::string title_line(std::string_view title, const style& how) {
  return fmt::format("\n{}\n", paint(how, tone::strong, title));
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

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string_view paragraph : split(text, '\n')) {
    wrap_paragraph(paragraph, width, lines);
  }
  return lines;
}

std::string wrap_indented(std::string_view text, std::size_t width, std::size_t indent) {
  return joined(wrap(text, width > indent ? width - indent : 1), "\n" + std::string(indent, ' '));
}

std::string wrap_on_terminal(std::string_view text, const style& how, std::size_t indent) {
  return how.terminal ? wrap_indented(text, how.width, indent) : std::string(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  return std::string(text) + spaces_up_to(text, width);
}

std::string pad_left(std::string_view text, std::size_t width) {
  return spaces_up_to(text, width) + std::string(text);
}

std::string error_text(const error& what, const style& how, std::string_view program) {
  constexpr std::string_view label = "    hint: ";
  const std::string text =
      fmt::format("{} {} {}", paint(how, tone::bad, fmt::format("{}:", program)),
                  paint(how, tone::strong, shown(what.asked()) + ":"), shown(what.answered()));
  const std::string hint =
      what.hint().empty() ? ""
                          : fmt::format("{}{}\n", paint(how, tone::accent, label),
                                        wrap_on_terminal(shown(what.hint()), how, label.size()));
  return fmt::format("{}\n{}", wrap_on_terminal(text, how, label.size()), hint);
}

std::string warning_text(std::string_view what, const style& how, std::string_view program) {
  const std::string label = fmt::format("{}: warning: ", program);
  return wrap_on_terminal(paint(how, tone::warning, label) + shown(what), how, 4) + "\n";
}

} // namespace nodewise::report
