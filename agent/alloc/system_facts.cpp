// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/system_facts.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>

#include "agent/asked.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// Written before there are other threads.
constinit call_apart* read_apart = [](void (*work)(void*), void* with) noexcept { work(with); };
constinit std::atomic<bool> known{false};
constinit std::atomic<std::size_t> bytes_of_huge_page{0};
constinit std::atomic<std::size_t> limit{0};
constinit std::atomic<std::size_t> extents_in_use{0};

/// A number or a word from /proc or /sys; empty if the file cannot be read.
struct small_text {
  char text[128] = {};

  explicit small_text(const char* path) noexcept {
    const long file = sys::raw::call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file >= 0) {
      const long got = sys::raw::call(SYS_read, file, text, sizeof text - 1);
      text[got > 0 ? got : 0] = '\0';
      sys::raw::call(SYS_close, file);
    }
  }
};

void read_files(void* /*nothing*/) noexcept {
  const int kept = errno;
  const small_text thp("/sys/kernel/mm/transparent_hugepage/enabled");
  if (asked.huge_page_bytes != 0) {
    bytes_of_huge_page = asked.huge_page_bytes;
  } else if (std::strstr(thp.text, "[always]") != nullptr &&
             sys::raw::call(SYS_prctl, PR_GET_THP_DISABLE, 0L, 0L, 0L, 0L) == 0) {
    const small_text size("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    bytes_of_huge_page = std::strtoul(size.text, nullptr, 10);
  }
  const small_text maps("/proc/sys/vm/max_map_count");
  const unsigned long max_map_count = std::strtoul(maps.text, nullptr, 10);
  limit = (max_map_count == 0 ? 65530 : max_map_count) / 2;
  errno = kept;
}

/// Mappings that policies may make. Above vm.max_map_count the program's malloc and mmap fail.
std::size_t extent_limit() noexcept {
  read_system_facts();
  return limit;
}

} // namespace

void read_system_facts() noexcept {
  if (!known.load(std::memory_order_acquire)) {
    read_apart(read_files, nullptr);
    known.store(true, std::memory_order_release);
  }
}

void read_system_facts_by(call_apart* apart) noexcept {
  read_apart = apart;
}

std::size_t huge_page_bytes() noexcept {
  read_system_facts();
  return bytes_of_huge_page;
}

bool try_reserve_extents(std::size_t count) noexcept {
  if (extents_in_use.fetch_add(count) + count <= extent_limit()) {
    return true;
  }
  extents_in_use -= count;
  return false;
}

std::size_t extents_left() noexcept {
  const std::size_t used = extents_in_use;
  const std::size_t most = extent_limit() / 8 * 7;
  return most > used ? most - used : 0;
}

bool policies_are_short() noexcept {
  constexpr std::size_t of_an_object = 64;
  return extents_in_use.load(std::memory_order_relaxed) + of_an_object > extent_limit();
}

void release_extents(std::size_t count) noexcept {
  extents_in_use -= count;
}

void give_back_extents(object& what) noexcept {
  release_extents(what.extents);
  what.extents = 0;
  what.numa_pinned = {};
}

} // namespace nodewise::agent
