// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// `--picture`: a picture in the terminal, between lines of text.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/frame/invocation.hpp"
#include "cli/frame/terminal_query.hpp"

namespace nodewise::cli {

enum class image_protocol { kitty, iterm2, sixel };

using variable_lookup = std::function<const char*(const char* name)>;

/// The protocol of the terminal that the environment names; nullopt if it names none, or a
/// multiplexer (tmux, screen), which hands most images on to no terminal.
[[nodiscard]] std::optional<image_protocol> protocol_by_name(const variable_lookup& get);

/// Whether a terminal that does not know Kitty's question is silent about it.
[[nodiscard]] bool may_ask_about_kitty(const variable_lookup& get);

/// By the terminal's own answer, else by COLORFGBG; light if nothing is known.
[[nodiscard]] bool is_dark(const terminal_answers& answers, const variable_lookup& get);

/// Call before computing a result. Throws `error` unless standard output is a terminal that draws
/// pictures, as far as is known: (usage) if it is not a terminal, (system) if it is another one.
void check_picture_terminal(const invocation& given);

/// Draws an SVG of `drawing::file_of`, at most as wide as the window. Throws `error`, also (system)
/// if a converter is missing or fails.
void draw_picture(std::string svg, const invocation& given);

} // namespace nodewise::cli
