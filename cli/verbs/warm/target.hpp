// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// `--to` of `nodewise warm`: on which node each page of a file shall be.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "page_cache/tensors.hpp"
#include "placement/placement.hpp"
#include "sys/kernel.hpp"

namespace nodewise::cli {

class page_target {
 public:
  /// `text`: "blocked", "interleave[:NODES]", "cyclic:SIZE[:NODES]", "weighted:...", "node:N".
  /// `readers`: the node of each reader, for blocks. Throws `error` (usage) for other placements.
  page_target(std::string_view text, const topology& where, std::vector<node_id> readers,
              std::size_t page_bytes);

  /// The node of each page of a file. `tensors`: ascending; each is placed by itself. A page
  /// belongs to the tensor that its first byte is in, or to the one before.
  [[nodiscard]] std::function<node_id(std::size_t page)>
  owners(std::uint64_t bytes, const std::vector<page_cache::tensor>& tensors = {}) const;
  /// "blocked, for 8 readers on nodes 0-3".
  [[nodiscard]] std::string text() const;
  /// "blocked", for JSON.
  [[nodiscard]] const std::string& word() const noexcept { return word_; }

 private:
  /// The same for `pages` pages from 0 on.
  [[nodiscard]] node_id owner_of(std::size_t page, std::size_t pages) const;

  std::string word_;
  std::vector<node_id> owners_;
  std::size_t turn_pages_ = 0; ///< of each owner in turn; 0: one block for each
  std::size_t page_bytes_;
};

/// `here` with all processors that readers of a file may run on: those of the cpuset, also if this
/// process is bound to some of them.
[[nodiscard]] topology with_cpus_of_readers(sys::kernel& kernel, const topology& here);

/// The nodes of the readers of a file: of `count` threads, close together as `run --bind close`
/// puts them; without a count one for each node with processors and memory.
[[nodiscard]] std::vector<node_id> reader_nodes(const topology& where,
                                                std::optional<std::size_t> count);

} // namespace nodewise::cli
