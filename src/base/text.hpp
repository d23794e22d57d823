// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Small pieces of text, for messages and files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace nodewise {

/// "1 node", "2 nodes", "0 nodes": for words whose plural ends in s.
[[nodiscard]] inline std::string counted(std::size_t many, std::string_view of_one) {
  return fmt::format("{} {}{}", many, of_one, many == 1 ? "" : "s");
}

/// "0x1f3": an address or an offset. Files hold it as text, too, because not every reader's numbers
/// have 64 bits.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}

/// At most `longest` bytes from the beginning, without a part of a character of UTF-8 at the end.
[[nodiscard]] inline std::string_view cut(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) {
    return text;
  }
  while (longest != 0 && (static_cast<unsigned char>(text[longest]) & 0xc0U) == 0x80U) {
    --longest;
  }
  return text.substr(0, longest);
}

/// User input as error messages quote it, shortened to 60 characters.
[[nodiscard]] inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  return fmt::format("'{}{}'", text.substr(0, longest), text.size() > longest ? "..." : "");
}

/// "a, b, c": the values with a separator between them. `text` makes the text of a value: a
/// function or a member.
template <class Values, class Text = std::identity>
[[nodiscard]] std::string joined(const Values& values, std::string_view separator, Text text = {}) {
  std::string all;
  bool first = true;
  for (const auto& each : values) {
    all += fmt::format("{}{}", first ? "" : separator, std::invoke(text, each));
    first = false;
  }
  return all;
}

/// The parts between the separators, including empty ones; at least one.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

/// `word` as a single word for a shell: in quotes if necessary.
[[nodiscard]] inline std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(word);
  }
  return fmt::format("'{}'", joined(split(word, '\''), "'\\''"));
}

// Names of files, programs, functions and arrays may hold any byte. A terminal obeys control
// characters, so none of them is printed as it is.

/// Which control characters `printable` leaves as they are.
enum class kept_controls {
  none,             ///< for a name, which is part of a line
  newlines,         ///< for a message, which may have several lines
  newlines_colours, ///< for a finished page: newlines, tabs and colour codes (ESC [ numbers m)
};

/// `text` with escapes ("\n", "\x1b") in place of control characters, of characters that change the
/// direction of text, and of bytes that are not UTF-8. All else is unchanged.
[[nodiscard]] std::string printable(std::string_view text,
                                    kept_controls kept = kept_controls::none);

} // namespace nodewise
