// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace nodewise {

namespace {

/// A UTF-8 character; its length is 0 if the bytes are not valid UTF-8.
struct decoded {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// Rejects what Unicode forbids: overlong forms, surrogates, and codes above U+10FFFF.
decoded decode(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) {
    return {first, 1};
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) {
    return {};
  }
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80) {
      return {};
    }
    code = code << 6U | (byte_at(text, i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least[length] || surrogate || code > 0x10FFFF ? decoded{} : decoded{code, length};
}

bool is_control(std::uint32_t code) {
  const bool c0_or_c1 = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool direction = code == 0x061C || code == 0x200E || code == 0x200F ||
                         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  const bool line_end = code == 0x2028 || code == 0x2029;
  return c0_or_c1 || direction || line_end;
}

/// The length of the colour code that `text` begins with, or 0: ESC [ digits and semicolons m.
std::size_t colour_code(std::string_view text) {
  if (!text.starts_with("\x1b[")) {
    return 0;
  }
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

std::size_t length_to_keep(std::string_view text, kept_controls kept) {
  if (text.front() == '\n') {
    return kept == kept_controls::none ? 0 : 1;
  }
  if (kept != kept_controls::newlines_colours) {
    return 0;
  }
  return text.front() == '\t' ? 1 : colour_code(text);
}

std::string escape_of(unsigned byte) {
  switch (byte) {
  case '\n':
    return "\\n";
  case '\r':
    return "\\r";
  case '\t':
    return "\\t";
  default:
    return fmt::format("\\x{:02x}", byte);
  }
}

} // namespace

std::string printable(std::string_view text, kept_controls kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const decoded next = decode(text);
    std::size_t length = std::max<std::size_t>(next.length, 1);
    const bool harmless = next.length != 0 && !is_control(next.code);
    const std::size_t keep = harmless ? length : length_to_keep(text, kept);
    if (keep != 0) {
      out.append(text.substr(0, keep));
      length = keep;
    } else {
      for (std::size_t i = 0; i < length; ++i) {
        out += escape_of(byte_at(text, i));
      }
    }
    text.remove_prefix(length);
  }
  return out;
}

} // namespace nodewise
