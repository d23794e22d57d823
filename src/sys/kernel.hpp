// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The system as the layers above see it. Every call returns 0 (or a value) or an errno; nothing
// here throws, prints or decides. Tests replace it by a fake. A kernel refuses what it does not
// override: ENOSYS, or 0 for a size.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>

#include "sys/raw.hpp"

namespace nodewise::sys {

/// A value, or the errno that the kernel returned instead.
template <class T>
struct answer {
  T value{};
  int errno_value = 0;

  [[nodiscard]] explicit operator bool() const noexcept { return errno_value == 0; }
};

/// The errno of a call in raw.hpp; 0 if it did not fail.
[[nodiscard]] constexpr int to_errno(long raw_result) noexcept {
  return raw_result < 0 ? static_cast<int>(-raw_result) : 0;
}

/// Page protection of a mapping that is only reserved or already usable.
enum class access { none, read_write };

class kernel {
 public:
  virtual ~kernel() = default;

  // Memory. Return 0 or errno.
  [[nodiscard]] virtual answer<void*> map(std::size_t /*bytes*/, access /*how*/,
                                          int /*extra_flags*/) {
    return {nullptr, ENOSYS};
  }
  virtual int unmap(void* /*start*/, std::size_t /*bytes*/) { return ENOSYS; }
  virtual int madvise(void* /*start*/, std::size_t /*bytes*/, int /*advice*/) { return ENOSYS; }
  virtual int mbind(void* /*start*/, std::size_t /*bytes*/, policy /*mode*/,
                    const node_set& /*nodes*/, unsigned /*flags*/) {
    return ENOSYS;
  }
  /// Which pages of a range are in memory: one byte per base page, bit 0; bit 1 if the page is
  /// shared, as the zero page is, which backs memory that was never written.
  virtual int mincore(void* /*start*/, std::size_t /*bytes*/,
                      std::span<unsigned char> /*resident*/) {
    return ENOSYS;
  }

  /// Where the pages of this process are: a node, or -errno for each (-ENOENT: not in memory;
  /// -EBUSY: in memory, and unmapped for a moment by NUMA balancing).
  virtual int query_pages(std::span<void* const> /*pages*/, std::span<int> /*status*/) {
    return ENOSYS;
  }
  /// Moves each page to the node at the same index; `status` as above.
  virtual int move_pages(std::span<void* const> /*pages*/, std::span<const int> /*nodes*/,
                         std::span<int> /*status*/) {
    return ENOSYS;
  }
  /// The same, also for pages that other processes have mapped: EPERM without CAP_SYS_NICE. No
  /// pages: whether it is permitted.
  virtual int move_shared_pages(std::span<void* const> /*pages*/, std::span<const int> /*nodes*/,
                                std::span<int> /*status*/) {
    return ENOSYS;
  }
  /// The node of one page, which is brought into memory if necessary.
  [[nodiscard]] virtual answer<node_id> node_of_page(void* /*page*/) {
    return {unknown_node, ENOSYS};
  }

  // The calling thread.
  virtual int set_mempolicy(policy /*mode*/, const node_set& /*nodes*/) { return ENOSYS; }
  [[nodiscard]] virtual answer<policy> get_mempolicy() { return {{}, ENOSYS}; }
  [[nodiscard]] virtual answer<cpu_set> get_affinity(int /*tid*/) { return {{}, ENOSYS}; }
  virtual int set_affinity(int /*tid*/, const cpu_set& /*cpus*/) { return ENOSYS; }
  /// Whether the kernel gives this process and the programs that it starts no transparent huge
  /// pages.
  virtual int disable_huge_pages(bool /*disabled*/) { return ENOSYS; }
  [[nodiscard]] virtual answer<cpu_id> current_cpu() { return {{}, ENOSYS}; }

  // Facts about this system.
  [[nodiscard]] virtual std::size_t base_page_bytes() { return 0; }
  /// The size of a transparent huge page; 0 if the kernel has none.
  [[nodiscard]] virtual std::size_t thp_bytes() { return 0; }
  /// A text file of /proc or /sys, whole, without the final newline.
  [[nodiscard]] virtual answer<std::string> read_file(const char* path) = 0;
  /// Writes a setting of /proc or /sys by one write, as the kernel requires; creates no file.
  /// Returns 0 or errno.
  virtual int write_file(const char* /*path*/, std::string_view /*text*/) { return ENOSYS; }
};

/// The running kernel.
[[nodiscard]] kernel& real_kernel();

/// To which memory the kernel gives transparent huge pages.
enum class huge_page_mode {
  unavailable, ///< the kernel has none, or does not report it
  never,
  madvise, ///< to ranges for which the program asks by MADV_HUGEPAGE
  always,
};
[[nodiscard]] huge_page_mode read_huge_page_mode(kernel& from);

/// The memory policy of the calling thread.
struct task_policy {
  policy mode = policy::system_default;
  node_set nodes;                ///< as the kernel stores them: those that the cpuset allows
  node_id next_node = node_id{}; ///< where an interleaving policy puts the next page; 0 for others
};
[[nodiscard]] answer<task_policy> read_task_policy();

/// A node's memory as the kernel counts it now.
struct node_memory {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t cache_bytes = 0; ///< pages of files, including memory file systems
  /// Of these, pages that the kernel can drop when it needs memory, dirty ones after writing them;
  /// nullopt if it does not report this.
  std::optional<std::uint64_t> evictable_bytes;
};

/// A figure of /proc/meminfo in bytes: "SwapTotal", "SwapFree", "MemAvailable" (of all nodes,
/// without swapping, as the kernel estimates it); nullopt if that cannot be read.
[[nodiscard]] std::optional<std::uint64_t> read_meminfo(kernel& from, std::string_view name);

/// By /sys/devices/system/node/nodeN/meminfo; nullopt if that cannot be read or lacks a value.
[[nodiscard]] std::optional<node_memory> read_node_memory(kernel& from, node_id node);

} // namespace nodewise::sys
