// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/totals.hpp"

namespace nodewise::observe {

std::vector<memory_totals> totals_of(std::span<const numa_line> lines, std::size_t page_bytes) {
  std::vector<memory_totals> all = {{"Huge", {}}, {"Heap", {}}, {"Stack", {}}, {"Private", {}}};
  for (const numa_line& line : lines) {
    memory_totals& into = all[line.huge ? 0U : line.heap ? 1U : line.stack ? 2U : 3U];
    for (const auto& [node, pages] : line.pages) {
      into.bytes[node] += pages * (line.page_bytes != 0 ? line.page_bytes : page_bytes);
    }
  }
  return all;
}

} // namespace nodewise::observe
