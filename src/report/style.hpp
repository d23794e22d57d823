// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Text for one stream: its colours, width and wrapping, figures, and messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/error.hpp>

namespace nodewise::report {

/// The role of a piece of text, not its colour.
enum class tone { plain, strong, faint, good, warning, bad, accent };

/// How to write to one stream: decided once, from the stream and the environment, then passed on.
struct style {
  bool colour = false;  ///< a terminal, NO_COLOR unset, TERM not "dumb"
  bool unicode = false; ///< the locale's encoding is UTF-8; otherwise ASCII is used
  bool terminal = false;
  std::size_t width = 80; ///< columns

  /// For a file descriptor: honours NO_COLOR, CLICOLOR_FORCE, TERM, COLUMNS and the locale.
  [[nodiscard]] static style for_stream(int fd);
};

/// `text` in the colour of its tone, or unchanged if the style has no colour.
[[nodiscard]] std::string paint(const style& how, tone what, std::string_view text);

/// An empty line, then a line with the title of what follows.
[[nodiscard]] std::string title_line(std::string_view title, const style& how);

/// `text` in the colour of a NUMA node: a node has the same colour everywhere.
[[nodiscard]] std::string paint_node(const style& how, int node, std::string_view text);

/// Columns that `text` takes on a terminal: one for each UTF-8 character, none for colour codes.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The width of the widest text, or `least`. `text` takes it from a value: a function or a member.
template <class Values, class Text = std::identity>
[[nodiscard]] std::size_t widest(const Values& values, std::size_t least = 0, Text text = {}) {
  for (const auto& each : values) {
    least = std::max(least, display_width(std::invoke(text, each)));
  }
  return least;
}

/// "24.0 GiB", "512 KiB", "37 B": binary units, at most three significant digits.
[[nodiscard]] std::string format_bytes(unsigned long long bytes);

/// "99.8 %" of a ratio 0..1; rounds so that only 1 prints as 100 % and only 0 as 0 %.
[[nodiscard]] std::string format_percent(double ratio);
/// The same, or this text if the ratio is unknown.
[[nodiscard]] std::string format_percent(const std::optional<double>& ratio,
                                         std::string_view otherwise);

/// `text` in lines of at most `width` columns, broken at spaces; a longer word gets a line of its
/// own. Keeps line breaks in `text`. Returns at least one line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// The same as one text: `indent` spaces before every line but the first.
[[nodiscard]] std::string wrap_indented(std::string_view text, std::size_t width,
                                        std::size_t indent);

/// The same at the terminal's width; in a pipe or a file, lines stay whole.
[[nodiscard]] std::string wrap_on_terminal(std::string_view text, const style& how,
                                           std::size_t indent);

/// `text` followed by spaces up to `width` columns.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);
/// `text` after spaces up to `width` columns.
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

/// What was attempted and why it failed, on one line that can be searched for; the hint below:
///
///     nodewise: --membind 9: this machine has no node 9
///         hint: use one of 0-3; `nodewise topo` draws them
///
/// Ends with a newline.
[[nodiscard]] std::string error_text(const error& what, const style& how,
                                     std::string_view program = "nodewise");

/// A line in the same format for something that is not an `error`: "nodewise: warning: ...".
[[nodiscard]] std::string warning_text(std::string_view what, const style& how,
                                       std::string_view program = "nodewise");

} // namespace nodewise::report
