// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the terminal answers about itself.
#pragma once

#include <optional>
#include <string_view>

namespace nodewise::cli {

struct terminal_answers {
  bool kitty = false; ///< draws images of Kitty's graphics protocol
  bool sixel = false;
  std::optional<bool> dark; ///< its background; nullopt if it does not report its colours
};

/// Reads what a terminal sent. Anything else in `text`, such as typed keys, is skipped.
[[nodiscard]] terminal_answers read_answers(std::string_view text);

/// Asks the terminal of this process, and waits at most two seconds. Without an answer, or if this
/// process is in the background, nothing is known. `about_kitty`: old terminals print this
/// question.
[[nodiscard]] terminal_answers ask_terminal(bool about_kitty);

} // namespace nodewise::cli
