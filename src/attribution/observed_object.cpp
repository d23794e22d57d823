// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/observed_object.hpp"

namespace nodewise::attribution {

void observed_object::touch(std::uint64_t page, const touching_code& by, std::int16_t memory) {
  if (page >= pages.size()) {
    pages.resize(page + 1);
  }
  const auto [found, is_new] =
      code_number.try_emplace(by, static_cast<std::uint32_t>(codes.size()));
  if (is_new) {
    codes.push_back(by);
  }
  pages[page] = {by.by, by.node, found->second, memory};
}

std::uint64_t observed_object::page_count(std::size_t page_bytes) const noexcept {
  return report != nullptr ? report->pages : (bytes + page_bytes - 1) / page_bytes;
}

} // namespace nodewise::attribution
