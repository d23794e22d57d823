// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/region.hpp>

#include <cerrno>
#include <cstdint>
#include <string>

#include <sys/mman.h>

#include <fmt/core.h>

#include "place/engine.hpp"

/// Defined by the agent, if it is preloaded: memory with its own distribution gets a name in
/// profiles.
extern "C" [[gnu::weak, gnu::visibility("default")]] void
nodewise_agent_region(void* start, std::size_t bytes) noexcept;

namespace nodewise::inline v0 {

namespace {

struct mapping {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
};

int hugetlb_flags(std::size_t page_bytes) {
  // The kernel takes the page size's logarithm in the flags' upper bits.
  return MAP_HUGETLB | (__builtin_ctzll(page_bytes) << 26);
}

[[noreturn]] void refuse(std::size_t bytes, const std::string& answered, std::string hint,
                         int code) {
  throw error(error_kind::system, fmt::format("a region of {} bytes", bytes), answered,
              std::move(hint), code);
}

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  if (bytes > (SIZE_MAX / 2) - unit) {
    throw error(error_kind::usage, fmt::format("a region of {} bytes", bytes),
                "more than the address space holds", "ask for less");
  }
  return (bytes + unit - 1) / unit * unit;
}

/// Fresh memory that starts at a multiple of `alignment`, so that a huge page can start there.
mapping map_aligned(sys::kernel& kernel, std::size_t bytes, std::size_t alignment) {
  const auto reserved = kernel.map(bytes + alignment, sys::access::read_write, MAP_NORESERVE);
  if (!reserved) {
    refuse(bytes, "mmap", "ask for less, or raise the limits (ulimit -v, vm.overcommit_memory)",
           reserved.errno_value);
  }
  auto* const start = static_cast<std::byte*>(reserved.value);
  const std::size_t before =
      (alignment - reinterpret_cast<std::uintptr_t>(start) % alignment) % alignment;
  int failed = before == 0 ? 0 : kernel.unmap(start, before);
  if (failed == 0 && alignment != before) {
    failed = kernel.unmap(start + before + bytes, alignment - before);
  }
  if (failed != 0) {
    (void)engine::give_back(kernel, start,
                            bytes + alignment); // the first failure is the one to report
    refuse(bytes, "munmap of what alignment left over", "raise vm.max_map_count", failed);
  }
  return {start + before, bytes};
}

/// Maps reserved huge pages. If there are none, returns nothing with `prefer` and throws with
/// `must`.
mapping map_reserved(sys::kernel& kernel, std::size_t bytes, std::size_t page_bytes, strictness how,
                     int& failed) {
  const auto got = kernel.map(bytes, sys::access::read_write, hugetlb_flags(page_bytes));
  failed = got.errno_value;
  if (!got && how == strictness::must) {
    refuse(bytes, "mmap of reserved huge pages",
           fmt::format("reserve {0} pages: sysctl vm.nr_hugepages={0}, or take transparent huge "
                       "pages",
                       bytes / page_bytes),
           got.errno_value);
  }
  return {static_cast<std::byte*>(got.value), bytes};
}

} // namespace

region::region(std::size_t bytes, const extent_source& extents, place_options options)
    : bytes_(bytes) {
  if (bytes == 0) {
    throw error(error_kind::usage, "a region of 0 bytes", "a region needs at least one byte",
                "ask for memory that holds something");
  }
  sys::kernel& kernel = sys::real_kernel();
  std::vector<std::string> notes;
  mapping mapped;
  if (const std::size_t reserved = engine::reserved_page_bytes(options.pages); reserved != 0) {
    int failed = 0;
    mapped = map_reserved(kernel, round_up(bytes, reserved), reserved, options.how, failed);
    if (mapped.start == nullptr) {
      notes.push_back(fmt::format("no reserved huge pages: mmap failed: {}; took transparent ones",
                                  errno_text(failed)));
      options.pages = page_size::transparent_huge;
    }
  }
  if (mapped.start == nullptr) {
    const std::size_t page = kernel.base_page_bytes();
    mapped = map_aligned(kernel, round_up(bytes, page), std::max(page, kernel.thp_bytes()));
  }
  start_ = mapped.start;
  mapped_bytes_ = mapped.bytes;
  if (nodewise_agent_region != nullptr) {
    nodewise_agent_region(start_, mapped_bytes_);
  }
  try {
    placed_ = engine::place_extents(kernel, {start_, mapped_bytes_}, extents, options);
    placed_.notes.insert(placed_.notes.begin(), notes.begin(), notes.end());
    const std::size_t reserved = engine::reserved_page_bytes(options.pages);
    if (reserved == 0) {
      engine::require_room(kernel, options.how, placed_);
    } else {
      // A fault that finds no huge page on its node raises SIGBUS; populating reports an error.
      const int failed = engine::populate(kernel, {start_, mapped_bytes_}, reserved);
      if (failed != 0) {
        refuse(bytes, "populating reserved huge pages",
               "reserve huge pages on each node: /sys/devices/system/node/node*/hugepages", failed);
      }
    }
  } catch (...) {
    release();
    throw;
  }
  number_ = engine::next_placement_number();
}

region::region(region&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      number_(std::exchange(other.number_, 0)), placed_(std::move(other.placed_)) {}

region& region::operator=(region&& other) noexcept {
  if (this != &other) {
    release();
    start_ = std::exchange(other.start_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
    number_ = std::exchange(other.number_, 0);
    placed_ = std::move(other.placed_);
  }
  return *this;
}

region::~region() {
  release();
}

void region::release() noexcept {
  if (start_ != nullptr) {
    (void)engine::give_back(sys::real_kernel(), start_, mapped_bytes_); // cannot report failure
    start_ = nullptr;
  }
}

int unmap_region(void* start, std::size_t bytes) noexcept {
  return engine::give_back(sys::real_kernel(), start, bytes);
}

nodewise::residency region::residency() const {
  return query_residency({start_, mapped_bytes_}, placed_.asked);
}

migration region::migrate_to(std::vector<extent> extents) {
  migration result = migrate_extents({start_, mapped_bytes_}, extents);
  placed_.asked = std::move(extents);
  placed_.refused = result.refused;
  number_ = engine::next_placement_number();
  return result;
}

} // namespace nodewise::inline v0
