// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nodewise/id.hpp>

#include "observe/proc_text.hpp"

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

} // namespace nodewise::observe
