// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The public functions: they call the engine with the running kernel.
#include <nodewise/placement.hpp>

#include <cstdint>
#include <string>

#include <fmt/core.h>

#include "place/engine.hpp"

namespace nodewise::inline v0 {

std::string_view to_string(place_method method) noexcept {
  switch (method) {
  case place_method::policy:
    return "policy";
  case place_method::migration:
    return "migration";
  case place_method::none:
    return "none";
  }
  return "unknown";
}

std::string_view to_string(page_size pages) noexcept {
  switch (pages) {
  case page_size::automatic:
    return "automatic";
  case page_size::base:
    return "base";
  case page_size::transparent_huge:
    return "transparent huge";
  case page_size::huge_2m:
    return "2 MiB";
  case page_size::huge_1g:
    return "1 GiB";
  }
  return "unknown";
}

placement place_extents(std::span<std::byte> range, const extent_source& extents,
                        place_options options) {
  if (engine::reserved_page_bytes(options.pages) != 0) {
    throw error(error_kind::usage, "placing existing memory on reserved huge pages",
                "memory gets its page size when it is mapped", "make a nodewise::region instead");
  }
  return engine::place_extents(sys::real_kernel(), range, extents, options);
}

migration migrate_extents(std::span<std::byte> range, std::span<const extent> extents) {
  return engine::migrate_extents(sys::real_kernel(), range, extents);
}

void populate(std::span<std::byte> range) {
  sys::kernel& kernel = sys::real_kernel();
  const std::size_t page_bytes = kernel.base_page_bytes();
  const std::size_t before = reinterpret_cast<std::uintptr_t>(range.data()) % page_bytes;
  const std::size_t bytes = (before + range.size() + page_bytes - 1) / page_bytes * page_bytes;
  const int failed = engine::populate(kernel, {range.data() - before, bytes}, page_bytes);
  if (failed != 0) {
    throw error(error_kind::system, fmt::format("memory for {} bytes", range.size()),
                "populating them", "ask for less, or free memory on the nodes that were asked",
                failed);
  }
}

residency query_residency(std::span<const std::byte> range, std::span<const extent> extents) {
  return engine::query_residency(sys::real_kernel(), range, extents);
}

} // namespace nodewise::inline v0
