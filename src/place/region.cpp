// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/region.hpp>

#include <cerrno>
#include <map>
#include <memory>

#include <sys/mman.h>

#include <fmt/core.h>

#include "place/caller.hpp"
#include "place/engine.hpp"
#include "sys/kernel.hpp"

/// Defined by the agent, if it is preloaded: memory with its own distribution gets the name of the
/// place in the program that asked for it.
extern "C" [[gnu::weak, gnu::visibility("default")]] void
nodewise_agent_region_of(void* start, std::size_t bytes, const void* caller) noexcept;
/// The same in an older agent, which takes its caller, this library, for the place.
extern "C" [[gnu::weak, gnu::visibility("default")]] void
nodewise_agent_region(void* start, std::size_t bytes) noexcept;

namespace nodewise::engine {

namespace {

/// Querying a node takes as long as tens of faults, and smaller ranges nearly always fit.
constexpr std::size_t least_bytes_asked_for = std::size_t{16} << 20;

struct room {
  std::uint64_t asked = 0;
  std::uint64_t there = UINT64_MAX; ///< if the kernel does not report it, nothing is refused
};

std::string answer(node_id node, const room& of) {
  return fmt::format("node {} has {} MiB free or in pages of files, and {} MiB of the range would "
                     "go there",
                     node, of.there >> 20, of.asked >> 20);
}

} // namespace

void require_room(sys::kernel& kernel, strictness how, placement& report) {
  const std::size_t page = report.base_page_bytes;
  if (report.method == place_method::migration) {
    return; // the pages are in memory already, and failed moves are reported
  }
  if (how == strictness::prefer && report.pages * page < least_bytes_asked_for) {
    return;
  }
  std::map<node_id, room> rooms;
  std::map<node_id, extent> too_much;
  for (const extent& e : report.asked) {
    const auto [at, fresh] = rooms.try_emplace(e.owner);
    room& own = at->second;
    if (fresh) {
      if (const auto now = sys::read_node_memory(kernel, e.owner)) {
        own.there = now->free_bytes + now->cache_bytes;
      }
    }
    own.asked += e.pages() * page;
    if (own.asked > own.there) {
      too_much.emplace(e.owner, e);
    }
  }
  for (const auto& [node, first] : too_much) {
    if (how == strictness::must) {
      throw error(error_kind::system, fmt::format("memory for {}", describe(first)),
                  answer(node, rooms[node]),
                  "ask for less, free memory on the node, or let it go elsewhere: "
                  "strictness::prefer",
                  ENOMEM);
    }
    report.notes.push_back(
        fmt::format("{}: the rest goes to other nodes", answer(node, rooms[node])));
  }
}

} // namespace nodewise::engine

namespace nodewise::inline v0 {

namespace {

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
std::span<std::byte> map_aligned(sys::kernel& kernel, std::size_t bytes, std::size_t alignment) {
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

/// Maps the pages that `options` asks for. If there are no reserved huge pages, throws with `must`;
/// else takes transparent ones, and changes `options` and adds a note.
std::span<std::byte> map_pages(sys::kernel& kernel, std::size_t bytes, place_options& options,
                               std::vector<std::string>& notes) {
  if (const std::size_t reserved = engine::reserved_page_bytes(options.pages); reserved != 0) {
    const std::size_t whole = round_up(bytes, reserved);
    // The kernel takes the page size's logarithm in the flags' upper bits.
    const int flags = MAP_HUGETLB | (__builtin_ctzll(reserved) << 26);
    const auto got = kernel.map(whole, sys::access::read_write, flags);
    if (got) {
      return {static_cast<std::byte*>(got.value), whole};
    }
    if (options.how == strictness::must) {
      refuse(whole, "mmap of reserved huge pages",
             fmt::format("reserve {0} pages: sysctl vm.nr_hugepages={0}, or take transparent huge "
                         "pages",
                         whole / reserved),
             got.errno_value);
    }
    notes.push_back(fmt::format("no reserved huge pages: mmap failed: {}; took transparent ones",
                                errno_text(got.errno_value)));
    options.pages = page_size::transparent_huge;
  }
  const std::size_t page = kernel.base_page_bytes();
  return map_aligned(kernel, round_up(bytes, page), std::max(page, kernel.thp_bytes()));
}

/// `caller`: of the region's constructor.
void report_to_agent(std::span<std::byte> mapped, const void* caller) noexcept {
  if (nodewise_agent_region_of != nullptr) {
    nodewise_agent_region_of(mapped.data(), mapped.size(), engine::caller_of_library(caller));
  } else if (nodewise_agent_region != nullptr) {
    nodewise_agent_region(mapped.data(), mapped.size());
  }
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
  const std::span<std::byte> mapped = map_pages(kernel, bytes, options, notes);
  start_ = mapped.data();
  mapped_bytes_ = mapped.size();
  report_to_agent(mapped, __builtin_return_address(0));
  try {
    placed_ = engine::place_extents(kernel, mapped, extents, options);
    placed_.notes.insert(placed_.notes.begin(), notes.begin(), notes.end());
    const std::size_t reserved = engine::reserved_page_bytes(options.pages);
    if (reserved == 0) {
      engine::require_room(kernel, options.how, placed_);
    } else {
      // A fault that finds no huge page on its node raises SIGBUS; populating reports an error.
      const int failed = engine::populate(kernel, mapped, reserved);
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
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
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
