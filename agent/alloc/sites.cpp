// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/sites.hpp"

#include "agent/asked.hpp"

namespace nodewise::agent {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::uint32_t most_alone = 256; ///< of a site: records and allocations are few
constexpr std::size_t site_count = 4096;
constexpr std::size_t site_tries = 16; ///< places that a site may have in the table
constinit site sites[site_count] = {};

} // namespace

site* site_of(const void* caller) noexcept {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(caller));
  const std::uint64_t first = (address * 0x9e3779b97f4a7c15U) >> 52;
  for (std::size_t k = 0; k < site_tries; ++k) {
    site& each = sites[(first + k) % site_count];
    const void* known = each.caller.load(relaxed);
    if (known == caller ||
        (known == nullptr && each.caller.compare_exchange_strong(known, caller, relaxed)) ||
        known == caller) {
      return &each;
    }
  }
  return nullptr;
}

bool may_stand_alone(std::size_t bytes, const void* caller) noexcept {
  if (bytes < least_alone_bytes || !asked.observe || !asked.trace) {
    return false;
  }
  site* const from = site_of(caller);
  return from != nullptr && from->alone.load(relaxed) < most_alone &&
         from->alone.fetch_add(1, relaxed) < most_alone;
}

} // namespace nodewise::agent
