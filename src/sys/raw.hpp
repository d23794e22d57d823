// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The only access to the kernel: the memory-policy calls, which glibc does not wrap, with the
// kernel's argument order. No C++ runtime and no libnuma, so that the preloaded agent can use them,
// too. Each returns 0 (or a count) or -errno, and leaves the program's errno unchanged.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace nodewise::sys {

/// MPOL_* of linux/mempolicy.h.
enum class policy : int {
  system_default = 0,
  preferred = 1,
  bind = 2,
  interleave = 3,
  local = 4,
  preferred_many = 5,
  weighted_interleave = 6,
  bind_and_balance = 2 | (1 << 13), ///< with MPOL_F_NUMA_BALANCING
};

/// MPOL_PREFERRED with MPOL_F_STATIC_NODES: the launcher sets it for memory that is first touched
/// before the agent runs. The flag distinguishes it from any policy that a program or numactl sets.
inline constexpr policy preferred_at_start = static_cast<policy>(1 | (1 << 15));

inline constexpr unsigned mbind_strict = 1;        ///< MPOL_MF_STRICT
inline constexpr unsigned mbind_move = 2;          ///< MPOL_MF_MOVE
inline constexpr unsigned long get_node = 1;       ///< MPOL_F_NODE
inline constexpr unsigned long get_by_address = 2; ///< MPOL_F_ADDR
inline constexpr int move_own_pages = 2;           ///< MPOL_MF_MOVE for move_pages
inline constexpr int move_shared_too = 4;          ///< MPOL_MF_MOVE_ALL, likewise

namespace raw {

template <class... Args>
long call(long number, Args... args) noexcept {
  const int kept = errno;
  const long answer = ::syscall(number, args...);
  const long result = answer < 0 ? -static_cast<long>(errno) : answer;
  errno = kept;
  return result;
}

/// The kernel reads maxnode - 1 bits of a mask, so maxnode is one more than the words hold, or it
/// ignores the highest node. With a larger maxnode it reads past the words and returns EINVAL for
/// what it finds there.
constexpr unsigned long maxnode(std::size_t words) noexcept {
  return words == 0 ? 0 : words * sizeof(unsigned long) * 8 + 1;
}

/// `mask` has `words` words.
inline long mbind(void* start, std::size_t bytes, policy mode, const unsigned long* mask,
                  std::size_t words, unsigned flags) noexcept {
  return call(SYS_mbind, start, bytes, static_cast<int>(mode), words == 0 ? nullptr : mask,
              maxnode(words), flags);
}

inline long set_mempolicy(policy mode, const unsigned long* mask, std::size_t words) noexcept {
  return call(SYS_set_mempolicy, static_cast<int>(mode), words == 0 ? nullptr : mask,
              maxnode(words));
}

/// This call needs room for at least the kernel's highest node, and maxnode is the exact number of
/// bits.
inline long get_mempolicy(int* mode, unsigned long* mask, std::size_t words, const void* address,
                          unsigned long flags) noexcept {
  return call(SYS_get_mempolicy, mode, mask, words * sizeof(unsigned long) * 8 + (words != 0),
              address, flags);
}

/// If `nodes` is null, writes the node of each page to `status`. Otherwise moves the pages, of this
/// process only.
inline long move_pages(int pid, std::size_t count, void* const* pages, const int* nodes,
                       int* status, int flags) noexcept {
  return call(SYS_move_pages, pid, count, pages, nodes, status, flags);
}

/// Moves all pages of a process from the nodes of one mask to those of the other. Returns how many
/// could not be moved. Both masks have `words` words.
inline long migrate_pages(int pid, const unsigned long* from, const unsigned long* to,
                          std::size_t words) noexcept {
  return call(SYS_migrate_pages, pid, words * sizeof(unsigned long) * 8 + 1, from, to);
}

// Entries of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).

/// Whether it is a page in memory.
[[nodiscard]] constexpr bool is_present(std::uint64_t pagemap_entry) noexcept {
  return (pagemap_entry >> 63 & 1) != 0;
}

/// Whether it is a page in memory that several mappings share: the zero page, which backs memory
/// that was read but not written, or a page shared with a forked process.
/// For the zero page, get_mempolicy gives the node of the kernel's zeros, not a placement.
[[nodiscard]] constexpr bool is_shared_page(std::uint64_t pagemap_entry) noexcept {
  const bool mapped_only_here = (pagemap_entry >> 56 & 1) != 0;
  return is_present(pagemap_entry) && !mapped_only_here;
}

/// The number of its page frame; 0 without CAP_SYS_ADMIN.
[[nodiscard]] constexpr std::uint64_t frame_of(std::uint64_t pagemap_entry) noexcept {
  return pagemap_entry & ((std::uint64_t{1} << 55) - 1);
}

/// Reads entries of /proc/self/pagemap, one per page, from the page of `start` on. Returns how
/// many.
inline long read_pagemap(const void* start, std::size_t page_bytes, std::uint64_t* entries,
                         std::size_t count) noexcept {
  const long file = call(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) {
    return file;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(start) / page_bytes;
  const long got = call(SYS_pread64, file, entries, count * sizeof *entries,
                        static_cast<long>(first * sizeof *entries));
  call(SYS_close, file);
  return got < 0 ? got : got / static_cast<long>(sizeof *entries);
}

/// Returns how many bytes of the mask the kernel filled in.
inline long sched_getaffinity(int pid, std::size_t bytes, unsigned long* mask) noexcept {
  return call(SYS_sched_getaffinity, pid, bytes, mask);
}

inline long sched_setaffinity(int pid, std::size_t bytes, const unsigned long* mask) noexcept {
  return call(SYS_sched_setaffinity, pid, bytes, mask);
}

/// Private anonymous memory, or nullptr. Bypasses any mmap wrapper of a program or its libraries.
inline void* map(std::size_t bytes, int protection, int extra_flags) noexcept {
  const long answer = call(SYS_mmap, nullptr, bytes, protection,
                           MAP_PRIVATE | MAP_ANONYMOUS | extra_flags, -1L, 0L);
  return answer < 0 ? nullptr : reinterpret_cast<void*>(answer);
}

inline long unmap(void* start, std::size_t bytes) noexcept {
  return call(SYS_munmap, start, bytes);
}

/// Grows, shrinks or moves a range that is one mapping. Returns its new address, or -errno.
inline long remap(void* start, std::size_t bytes, std::size_t new_bytes, int flags) noexcept {
  return call(SYS_mremap, start, bytes, new_bytes, flags, nullptr);
}

inline long protect(void* start, std::size_t bytes, int protection) noexcept {
  return call(SYS_mprotect, start, bytes, protection);
}

inline long madvise(void* start, std::size_t bytes, int advice) noexcept {
  return call(SYS_madvise, start, bytes, advice);
}

/// Lets the kernel read a byte of each page for this process, which maps it. Returns 0, or -errno
/// at the first page that cannot be read: -EFAULT beyond a file's end, where the process itself
/// would get a signal.
inline long touch_each_page(void* start, std::size_t count, std::size_t page_bytes) noexcept {
  constexpr std::size_t at_once = 64;
  const long self = ::getpid();
  for (std::size_t done = 0; done < count; done += at_once) {
    const std::size_t now = count - done < at_once ? count - done : at_once;
    iovec from[at_once];
    for (std::size_t i = 0; i < now; ++i) {
      from[i] = {static_cast<char*>(start) + (done + i) * page_bytes, 1};
    }
    char bytes[at_once];
    const iovec into{bytes, now};
    const long read = call(SYS_process_vm_readv, self, &into, 1L, from, now, 0L);
    if (read != static_cast<long>(now)) {
      return read < 0 ? read : -EFAULT;
    }
  }
  return 0;
}

/// The same in one call where the kernel has one for it.
inline long touch_pages(void* start, std::size_t count, std::size_t page_bytes) noexcept {
  constexpr int populate_for_reading = 22; // MADV_POPULATE_READ, Linux 5.14
  const long answer = madvise(start, count * page_bytes, populate_for_reading);
  return answer == -EINVAL ? touch_each_page(start, count, page_bytes) : answer;
}

} // namespace raw
} // namespace nodewise::sys
