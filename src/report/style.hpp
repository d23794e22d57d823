// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nodewise::report {

/// What a piece of text is, not which colour it gets.
enum class tone { plain, strong, faint, good, warning, bad, accent };

/// How to write for one stream: decided once, from the stream and the environment, then passed.
struct style {
  bool colour = false;  ///< a terminal, NO_COLOR unset, TERM not "dumb"
  bool unicode = false; ///< the locale's encoding is UTF-8; otherwise ASCII stands in
  bool terminal = false;
  std::size_t width = 80; ///< columns

  /// For a file descriptor: honours NO_COLOR, CLICOLOR_FORCE, TERM, COLUMNS and the locale.
  [[nodiscard]] static style for_stream(int fd);
};

/// `text` in the colour of its tone, or unchanged where the style has no colour.
[[nodiscard]] std::string paint(const style& how, tone what, std::string_view text);

/// `text` in the colour that stands for a NUMA node: the same node has the same colour everywhere.
[[nodiscard]] std::string paint_node(const style& how, int node, std::string_view text);

/// Columns that `text` takes on a terminal: UTF-8 characters counted once, colour codes not at all.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// "24.0 GiB", "512 KiB", "37 B": binary units, three significant digits at most.
[[nodiscard]] std::string format_bytes(unsigned long long bytes);

/// "99.8 %" of a ratio 0..1; rounds so that only 1 prints as 100 % and only 0 as 0 %.
[[nodiscard]] std::string format_percent(double ratio);

} // namespace nodewise::report
