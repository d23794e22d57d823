// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/thread_state.hpp"

#include <iterator>
#include <utility>

#include "base/path.hpp"

namespace nodewise::symbols {

void code_map::add(code_mapping mapping) {
  if (mapping.start >= mapping.end) {
    return;
  }
  auto next = by_start_.upper_bound(mapping.start);
  if (next != by_start_.begin() && std::prev(next)->second.end > mapping.start) {
    --next;
  }
  while (next != by_start_.end() && next->second.start < mapping.end) {
    code_mapping old = std::move(next->second);
    next = by_start_.erase(next);
    if (old.end > mapping.end) {
      code_mapping rest = old;
      rest.start = mapping.end;
      rest.file_offset += mapping.end - old.start;
      next = by_start_.insert_or_assign(mapping.end, std::move(rest)).first;
    }
    if (old.start < mapping.start) {
      old.end = mapping.start;
      by_start_.insert_or_assign(old.start, std::move(old));
    }
  }
  by_start_.insert_or_assign(mapping.start, std::move(mapping));
}

const code_mapping* code_map::at(std::uint64_t address) const noexcept {
  const auto after = by_start_.upper_bound(address);
  if (after == by_start_.begin() || address >= std::prev(after)->second.end) {
    return nullptr;
  }
  return &std::prev(after)->second;
}

std::string code_map::file_named(std::string_view name) const {
  for (const auto& [start, each] : by_start_) {
    if (last_part(each.file) == name) {
      return each.file;
    }
  }
  return {};
}

} // namespace nodewise::symbols
