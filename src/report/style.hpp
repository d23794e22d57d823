// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

/// `text` in the colour of a NUMA node: a node has the same colour everywhere.
[[nodiscard]] std::string paint_node(const style& how, int node, std::string_view text);

/// Columns that `text` takes on a terminal: one for each UTF-8 character, none for colour codes.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// "24.0 GiB", "512 KiB", "37 B": binary units, at most three significant digits.
[[nodiscard]] std::string format_bytes(unsigned long long bytes);

/// "99.8 %" of a ratio 0..1; rounds so that only 1 prints as 100 % and only 0 as 0 %.
[[nodiscard]] std::string format_percent(double ratio);

} // namespace nodewise::report
