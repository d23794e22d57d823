// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include <nodewise/id_set.hpp>

namespace nodewise::sys {

/// The numbers in a mask of the kernel. Visits only set bits: this is fast, since loops read the
/// mask before they bind.
template <class Id>
[[nodiscard]] id_set<Id> set_of(std::span<const unsigned long> mask) {
  id_set<Id> ids;
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (unsigned long rest = mask[word]; rest != 0; rest &= rest - 1) {
      ids.insert(Id{static_cast<int>(word * id_set<Id>::word_bits) + std::countr_zero(rest)});
    }
  }
  return ids;
}

} // namespace nodewise::sys
