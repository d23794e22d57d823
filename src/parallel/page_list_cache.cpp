// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/detail/page_list_cache.hpp>

namespace nodewise::inline v0::detail {

std::shared_ptr<const page_lists> page_list_cache::of(std::uint64_t number,
                                                      std::span<const extent> pages,
                                                      const thread_map& threads) {
  for (const entry& each : entries_) {
    if (number != 0 && each.number == number) {
      return each.lists;
    }
  }
  auto lists = std::make_shared<const page_lists>(pages, threads);
  if (number != 0) {
    entries_[oldest_] = {number, lists};
    oldest_ = (oldest_ + 1) % kept;
  }
  return lists;
}

} // namespace nodewise::inline v0::detail
