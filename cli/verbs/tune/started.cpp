// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/started.hpp"

#include "base/text.hpp"

namespace nodewise::cli {

std::string last_line_of(std::string_view text) {
  constexpr std::string_view hint = "    hint: ";
  std::string_view line;
  do {
    while (!text.empty() && text.back() == '\n') {
      text.remove_suffix(1);
    }
    line = text.substr(text.rfind('\n') + 1);
    text.remove_suffix(line.size());
  } while (line.starts_with(hint) && !text.empty());
  return printable(line);
}

} // namespace nodewise::cli
