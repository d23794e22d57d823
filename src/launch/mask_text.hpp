// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <nodewise/id_set.hpp>

namespace nodewise::launch {

/// "0x10f": the format of srun for processors and nodes.
template <class Id>
[[nodiscard]] std::string mask_of(const id_set<Id>& ids) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (int first = ids.highest() / 4 * 4; first >= 0; first -= 4) {
    unsigned value = 0;
    for (int bit = 0; bit < 4; ++bit) {
      value |= ids.contains(Id{first + bit}) ? 1U << static_cast<unsigned>(bit) : 0U;
    }
    text += digits[value];
  }
  return "0x" + text;
}

} // namespace nodewise::launch
