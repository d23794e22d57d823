// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Finds the node of each page of a range in another process, by the best method permitted.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nodewise/id.hpp>

#include "observe/proc_text.hpp"
#include "sys/kernel.hpp"
#include "sys/process.hpp"

namespace nodewise::observe {

/// Maps page frames to nodes by each node's memory blocks in sysfs. For a block that several nodes
/// share, or without blocks, it falls back to the zones of /proc/zoneinfo.
class frame_map {
 public:
  /// `root` may be a recorded tree. The map is empty if neither can be read.
  [[nodiscard]] static frame_map read(const std::string& root = "/");

  frame_map(std::uint64_t frames_per_block, std::vector<zone_span> zones)
      : block_shift_(std::has_single_bit(frames_per_block) ? std::countr_zero(frames_per_block)
                                                           : no_blocks),
        zones_(std::move(zones)) {}
  void add_block(std::uint64_t block, node_id node);

  /// `unknown_node` if sysfs does not report it or nodes overlap.
  [[nodiscard]] node_id node_of(std::uint64_t frame) const noexcept {
    if (block_shift_ != no_blocks) {
      const std::uint64_t block = frame >> block_shift_;
      if (block < blocks_.size() && to_int(blocks_[block]) >= 0) {
        return blocks_[block];
      }
    }
    return node_by_zone(frame);
  }
  [[nodiscard]] bool empty() const noexcept { return blocks_.empty() && zones_.empty(); }

 private:
  static constexpr node_id shared_block{-3};
  [[nodiscard]] node_id node_by_zone(std::uint64_t frame) const noexcept;

  static constexpr int no_blocks = -1;
  int block_shift_; ///< log2 of the frames of a block
  std::vector<node_id> blocks_;
  std::vector<zone_span> zones_;
};

/// Owners of pages beside nodes and `unknown_node`: not in memory; and the kernel's zero page,
/// which backs memory that was read and never written, and counts for no node.
inline constexpr node_id absent_page{-2};
inline constexpr node_id zero_page{-4};

/// Consecutive pages on one node. `pages` are base pages, for any page size of the kernel.
struct page_run {
  std::uint64_t pages = 0;
  node_id node = unknown_node;
  bool huge = false; ///< in transparent huge pages
  friend bool operator==(const page_run&, const page_run&) = default;
};
/// Appends, merging with an equal run at the end.
void append(std::vector<page_run>& runs, const page_run& next);

/// How the kernel was queried.
enum class method {
  pagemap,    ///< frame numbers of /proc/PID/pagemap (CAP_SYS_ADMIN)
  move_pages, ///< the query form of move_pages(2)
  numa_maps,  ///< fallback: totals of whole mappings only; each page in memory is `unknown`
};
[[nodiscard]] std::string_view to_string(method how) noexcept;

/// What is known of a mapping before its pages are queried.
struct range_facts {
  sys::address_range where;
  std::uint64_t page_bytes = 0;                ///< hugetlb pages are larger than the base page
  bool private_memory = true;                  ///< only private memory can contain the zero page
  std::optional<std::uint64_t> resident_pages; ///< base pages, by numa_maps
  /// Set if numa_maps has pages on one node only: then only their presence has to be queried.
  std::optional<node_id> sole_node;
};

/// For one observation of one process; make a new one for the next.
class locator {
 public:
  /// Facts about the system; read once, kept by the caller.
  struct system {
    std::size_t page_bytes = 4096;
    std::size_t thp_bytes = 0; ///< 0 if transparent huge pages are switched off
    frame_map frames{0, {}};
    std::optional<std::uint64_t> zero_frame; ///< of the zero page
    unsigned threads = 1;                    ///< that may query at the same time
    [[nodiscard]] static system read(sys::kernel& from);
  };
  /// `limit` excludes the methods above it.
  locator(sys::process& of, const system& on, method limit = method::pagemap);

  /// Base pages of the range in ascending order. Throws `error` (system) if the process has ended.
  [[nodiscard]] std::vector<page_run> locate(const range_facts& what);

  [[nodiscard]] method used() const noexcept { return method_; }
  /// Why no better method was used: the errno of move_pages, or 0.
  [[nodiscard]] int refused_errno() const noexcept { return refused_errno_; }
  /// Ranges whose pages were not queried, since numa_maps has them all on one node.
  [[nodiscard]] std::size_t counted() const noexcept { return counted_; }
  /// Whether runs distinguish transparent huge pages from others.
  [[nodiscard]] bool knows_huge() const noexcept {
    return method_ == method::pagemap ? frame_flags_ : can_scan_ && method_ == method::move_pages;
  }

 private:
  /// A part of a range that one thread queries; pages count from the range's first.
  struct piece {
    std::uint64_t first = 0;
    std::uint64_t pages = 0;
    std::uint64_t step = 1; ///< base pages in one kernel page
    bool is_absent = false; ///< nothing to query
    bool huge = false;      ///< transparent huge pages, as the kernel reports
    std::vector<page_run> runs;
  };
  /// A part of a range whose pages are alike, as the kernel reports.
  struct stretch {
    sys::address_range where;
    bool is_absent = false;
    bool is_huge = false;
  };
  /// The whole range, ascending. `present`: the parts with pages in memory.
  [[nodiscard]] std::vector<stretch> parts_of(const range_facts& what,
                                              std::span<const sys::address_range> present);
  [[nodiscard]] std::vector<piece> pieces_of(const range_facts& what);
  [[nodiscard]] std::vector<sys::address_range> present_parts(const range_facts& what);
  [[nodiscard]] std::optional<std::vector<sys::address_range>>
  present_ranges(const range_facts& what);
  [[nodiscard]] std::vector<sys::address_range> huge_ranges(const range_facts& what);
  [[nodiscard]] std::optional<std::vector<page_run>> of_sole_node(const range_facts& what);
  void ask(const range_facts& what, piece& p);
  void ask_pagemap(const range_facts& what, piece& p);
  void ask_move_pages(const range_facts& what, piece& p);
  void ask_again(const range_facts& what, piece& p);
  /// Returns as many as could be read.
  [[nodiscard]] std::vector<std::uint64_t> pagemap_bits(std::uint64_t first_page,
                                                        std::uint64_t pages);
  void present_bits(const range_facts& what, piece& p);
  /// By /proc/kpageflags; nullopt if that cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> flags_of(std::uint64_t frame);
  [[nodiscard]] bool has_flag(std::uint64_t frame, std::uint64_t flag) {
    return frame_flags_ && (flags_of(frame).value_or(0) & flag) != 0;
  }

  sys::process& process_;
  const system& system_;
  method method_;
  int refused_errno_ = 0;
  bool can_scan_;
  bool frame_flags_;
  std::size_t counted_ = 0;
};

} // namespace nodewise::observe
