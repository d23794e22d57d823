// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel of so many NUMA nodes for unit tests: pages are addresses in a map, policies are
// followed by a touch, and any call can be told to refuse. Nothing of the real memory is looked at.
#pragma once

#include <cerrno>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>

#include "sys/kernel.hpp"

namespace nodewise::test {

class fake_kernel : public sys::kernel {
 public:
  explicit fake_kernel(node_set nodes, std::size_t page_bytes = 4096, std::size_t thp = 0)
      : nodes_(std::move(nodes)), page_bytes_(page_bytes), thp_(thp) {}

  // What the test sets and reads.
  std::map<std::string, int> refuse;         ///< call name -> errno; "write PATH" for a file
  std::map<std::string, std::string> files;  ///< path -> text
  std::vector<std::string> writes;           ///< "path=text", in their order
  std::map<std::uintptr_t, int> page_nodes;  ///< pages in memory
  std::map<std::uintptr_t, int> page_policy; ///< what mbind left behind
  std::set<std::uintptr_t> stuck;            ///< pages that cannot be moved: EBUSY
  std::set<std::uintptr_t> zeros;            ///< pages that stand for memory nobody has written
  std::set<std::uintptr_t> called_busy;      ///< pages that move, while EBUSY is answered
  std::size_t mapped_page_bytes = 4096;      ///< of all mappings: larger for reserved huge pages
  std::vector<std::pair<std::uintptr_t, std::size_t>> unmapped; ///< start and bytes
  std::size_t mbind_calls = 0;
  std::size_t largest_batch = 0;

  /// A thread on `node` touches the range: policy beats touch.
  void touch(void* start, std::size_t bytes, int node) {
    for_each_page(start, bytes, [&](std::uintptr_t page) {
      if (!page_nodes.contains(page)) {
        page_nodes[page] = page_policy.contains(page) ? page_policy[page] : node;
      }
    });
  }

  sys::answer<void*> map(std::size_t, sys::access, int) override { return {nullptr, ENOMEM}; }
  int unmap(void* start, std::size_t bytes) override {
    if (refuses("munmap")) {
      return refuse["munmap"];
    }
    if (bytes % mapped_page_bytes != 0) {
      return EINVAL; // a reserved huge page would be cut
    }
    unmapped.emplace_back(reinterpret_cast<std::uintptr_t>(start), bytes);
    return 0;
  }
  int madvise(void* start, std::size_t bytes, int advice) override {
    if (advice == MADV_DONTNEED) {
      for_each_page(start, bytes, [&](std::uintptr_t page) { page_nodes.erase(page); });
    }
    if (refuses("madvise")) {
      return refuse["madvise"];
    }
    if (advice == MADV_POPULATE_WRITE) {
      touch(start, bytes, to_int(nodes_.first()));
    }
    return 0;
  }
  int mbind(void* start, std::size_t bytes, sys::policy mode, const node_set& nodes,
            unsigned flags) override {
    ++mbind_calls;
    if (refuses("mbind")) {
      return refuse["mbind"];
    }
    if (!nodes_.includes(nodes)) {
      return EINVAL;
    }
    bool all_moved = true;
    for_each_page(start, bytes, [&](std::uintptr_t page) {
      if (mode == sys::policy::system_default) {
        page_policy.erase(page);
        return;
      }
      page_policy[page] = to_int(nodes.first());
      if ((flags & sys::mbind_move) != 0 && page_nodes.contains(page)) {
        all_moved = all_moved && !stuck.contains(page);
        page_nodes[page] = stuck.contains(page) ? page_nodes[page] : to_int(nodes.first());
      }
    });
    return all_moved || (flags & sys::mbind_strict) == 0 ? 0 : EIO;
  }
  int mincore(void* start, std::size_t bytes, std::span<unsigned char> resident) override {
    std::size_t i = 0;
    for_each_page(start, bytes, [&](std::uintptr_t page) {
      const bool present = page_nodes.contains(page);
      resident[i++] = present ? (zeros.contains(page) ? 3 : 1) : 0;
    });
    return refuses("mincore") ? refuse["mincore"] : 0;
  }
  int query_pages(std::span<void* const> pages, std::span<int> status) override {
    largest_batch = std::max(largest_batch, pages.size());
    if (refuses("move_pages")) {
      return refuse["move_pages"];
    }
    for (std::size_t i = 0; i < pages.size(); ++i) {
      status[i] = node_of(pages[i]).value_or(-ENOENT);
    }
    return 0;
  }
  int move_pages(std::span<void* const> pages, std::span<const int> nodes,
                 std::span<int> status) override {
    if (refuses("move_pages")) {
      return refuse["move_pages"];
    }
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const auto page = reinterpret_cast<std::uintptr_t>(pages[i]);
      if (!page_nodes.contains(page)) {
        status[i] = -ENOENT;
      } else if (stuck.contains(page)) {
        status[i] = -EBUSY;
      } else {
        page_nodes[page] = nodes[i];
        status[i] = called_busy.contains(page) ? -EBUSY : nodes[i];
      }
    }
    return 0;
  }
  sys::answer<node_id> node_of_page(void* page) override {
    if (refuses("get_mempolicy")) {
      return {unknown_node, refuse["get_mempolicy"]};
    }
    touch(page, 1, to_int(nodes_.first()));
    return {node_id{*node_of(page)}, 0};
  }
  int set_mempolicy(sys::policy, const node_set&) override { return 0; }
  sys::answer<sys::policy> get_mempolicy() override { return {}; }
  sys::answer<cpu_set> get_affinity(int) override { return {}; }
  int set_affinity(int, const cpu_set&) override { return 0; }
  sys::answer<cpu_id> current_cpu() override { return {}; }
  std::size_t base_page_bytes() override { return page_bytes_; }
  std::size_t thp_bytes() override { return thp_; }
  sys::answer<std::string> read_file(const char* path) override {
    const auto it = files.find(path);
    return it == files.end() ? sys::answer<std::string>{{}, ENOENT}
                             : sys::answer<std::string>{it->second, 0};
  }
  int write_file(const char* path, std::string_view text) override {
    const std::string call = std::string("write ") + path;
    if (refuses(call)) {
      return refuse[call];
    }
    if (!files.contains(path)) {
      return ENOENT;
    }
    writes.push_back(std::string(path) + "=" + std::string(text));
    files[path] = text;
    return 0;
  }

 private:
  [[nodiscard]] bool refuses(const std::string& call) const { return refuse.contains(call); }
  [[nodiscard]] std::optional<int> node_of(void* page) const {
    const auto it = page_nodes.find(reinterpret_cast<std::uintptr_t>(page));
    return it == page_nodes.end() ? std::nullopt : std::optional(it->second);
  }
  template <class F>
  void for_each_page(void* start, std::size_t bytes, F&& f) const {
    const auto first = reinterpret_cast<std::uintptr_t>(start);
    for (std::uintptr_t page = first; page < first + bytes; page += page_bytes_) {
      f(page);
    }
  }

  node_set nodes_;
  std::size_t page_bytes_;
  std::size_t thp_;
};

/// Addresses that look like memory and are never touched: a fake kernel's range.
inline std::span<std::byte> fake_range(std::size_t bytes, std::uintptr_t start = 0x4000'0000'0000) {
  return {reinterpret_cast<std::byte*>(start), bytes};
}

} // namespace nodewise::test
