// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The ladder of methods against a process whose pages are known.
#include "observe/locate.hpp"

#include <cerrno>
#include <map>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

namespace nodewise::observe {

namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t start = 0x7f0000000000;

/// Pages on nodes; frames in blocks of 1024 a node; every call can be refused.
class fake_process : public sys::process {
 public:
  static constexpr std::uint64_t zero_frame = 7;

  std::map<std::uint64_t, int> nodes; ///< page number -> node, or -1 for the page of zeros
  std::set<std::uint64_t> unmapped;   ///< of these, by NUMA balancing
  std::set<std::uint64_t> huge;       ///< first pages of transparent huge pages
  int refuse_query = 0;
  bool has_scan = false;
  bool has_frames = true;
  bool has_pagemap = true;
  int absent_errno = ENOENT; ///< EFAULT before Linux 6.12, where nobody has touched the page
  std::uint64_t asked = 0;   ///< pages asked of move_pages

  [[nodiscard]] int pid() const override { return 4711; }
  int query_pages(std::span<const std::uint64_t> pages, std::span<int> status) override {
    if (refuse_query != 0) {
      return refuse_query;
    }
    const std::lock_guard lock(mutex_);
    asked += pages.size();
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const auto at = nodes.find(pages[i] / page_bytes);
      if (unmapped.contains(pages[i] / page_bytes)) {
        status[i] = -ENOENT;
        continue;
      }
      status[i] = at == nodes.end() ? -absent_errno : at->second < 0 ? -EFAULT : at->second;
    }
    return 0;
  }
  sys::answer<std::size_t> read_pagemap(std::uint64_t first,
                                        std::span<std::uint64_t> entries) override {
    if (!has_pagemap) {
      return {0, EPERM};
    }
    constexpr std::uint64_t present = std::uint64_t{1} << 63;
    constexpr std::uint64_t exclusive = std::uint64_t{1} << 56;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto at = nodes.find(first + i);
      if (at == nodes.end()) {
        entries[i] = 0;
      } else if (at->second < 0) {
        entries[i] = present | (has_frames ? zero_frame : 0);
      } else {
        const std::uint64_t frame = frames_per_node * (static_cast<std::uint64_t>(at->second) + 1) +
                                    (first + i) % frames_per_node;
        entries[i] = present | exclusive | (has_frames ? frame : 0);
      }
    }
    return {entries.size(), 0};
  }
  sys::answer<std::vector<sys::address_range>> scan(sys::page_property what,
                                                    sys::address_range where) override {
    if (!has_scan) {
      return {{}, ENOTTY};
    }
    std::vector<sys::address_range> found;
    const auto add = [&](std::uint64_t first, std::uint64_t pages) {
      const sys::address_range r{first * page_bytes, (first + pages) * page_bytes};
      if (r.first < where.first || r.last > where.last) {
        return;
      }
      if (!found.empty() && found.back().last == r.first) {
        found.back().last = r.last;
      } else {
        found.push_back(r);
      }
    };
    if (what == sys::page_property::huge) {
      for (const std::uint64_t first : huge) {
        add(first, 512);
      }
    } else {
      for (const auto& [page, node] : nodes) {
        add(page, 1);
      }
    }
    return {found, 0};
  }
  sys::answer<std::size_t> read_frame_flags(std::uint64_t,
                                            std::span<std::uint64_t> flags) override {
    flags[0] = 0;
    return {1, 0};
  }
  int read_memory(std::uint64_t, std::span<std::byte>) override { return EPERM; }
  sys::answer<long> migrate(const node_set&, const node_set&) override { return {0, 0}; }
  sys::answer<std::string> read_file(const std::string&) override { return {{}, ENOENT}; }
  sys::answer<std::vector<int>> threads() override { return {}; }
  sys::answer<unsigned> user() override { return {}; }

  static constexpr std::uint64_t frames_per_node = 1U << 20;

 private:
  std::mutex mutex_;
};

locator::system system_of(bool root, unsigned threads = 1) {
  locator::system on;
  on.page_bytes = page_bytes;
  on.thp_bytes = 2U << 20;
  on.threads = threads;
  if (root) {
    on.zero_frame = fake_process::zero_frame;
    on.frames = frame_map(fake_process::frames_per_node, {});
    for (int node = 0; node < 4; ++node) {
      on.frames.add_block(static_cast<std::uint64_t>(node) + 1, node_id{node});
    }
  }
  return on;
}

range_facts range_of(std::uint64_t pages) {
  return {{start, start + pages * page_bytes}, page_bytes, true, std::nullopt, std::nullopt};
}

/// 0 0 1 . . 3 z, repeated.
void fill(fake_process& process, std::uint64_t pages) {
  constexpr std::array pattern = {0, 0, 1, -2, -2, 3, -1};
  for (std::uint64_t i = 0; i < pages; ++i) {
    const int node = pattern.at(i % pattern.size());
    if (node != -2) {
      process.nodes[start / page_bytes + i] = node;
    }
  }
}

std::vector<node_id> owners(const std::vector<page_run>& runs) {
  std::vector<node_id> all;
  for (const page_run& r : runs) {
    all.insert(all.end(), r.pages, r.node);
  }
  return all;
}

TEST(Locate, every_way_gives_the_same_pages) {
  constexpr std::uint64_t pages = 60000; // several slices
  fake_process process;
  fill(process, pages);
  std::vector<node_id> expected;
  for (std::uint64_t i = 0; i < pages; ++i) {
    constexpr std::array pattern = {node_id{0},  node_id{0}, node_id{1}, absent_page,
                                    absent_page, node_id{3}, zero_page};
    expected.push_back(pattern.at(i % pattern.size()));
  }
  for (const bool root : {false, true}) {
    for (const bool scan : {false, true}) {
      for (const unsigned threads : {1U, 3U}) {
        process.has_scan = scan;
        process.absent_errno = threads == 1 ? ENOENT : EFAULT;
        const locator::system on = system_of(root, threads);
        locator where(process, on);
        EXPECT_EQ(where.used(), root ? method::pagemap : method::move_pages);
        EXPECT_EQ(owners(where.locate(range_of(pages))), expected) << root << scan << threads;
      }
    }
  }
}

TEST(Locate, refused_move_pages_leaves_every_page_unknown_and_never_on_node_0) {
  fake_process process;
  fill(process, 700);
  for (const int refusal : {EPERM, ENOSYS, EACCES}) {
    process.refuse_query = refusal;
    const locator::system on = system_of(false);
    locator where(process, on);
    EXPECT_EQ(where.used(), method::numa_maps);
    EXPECT_EQ(where.refused_errno(), refusal);
    process.has_pagemap = true;
    std::uint64_t unknown = 0;
    for (const node_id node : owners(where.locate(range_of(700)))) {
      EXPECT_TRUE(node == unknown_node || node == absent_page);
      unknown += node == unknown_node ? 1U : 0U;
    }
    EXPECT_EQ(unknown, 500U);
    process.has_pagemap = false;
    for (const node_id node : owners(where.locate(range_of(700)))) {
      EXPECT_EQ(node, unknown_node);
    }
  }
}

TEST(Locate, frames_of_no_known_node_are_asked_the_slower_way) {
  fake_process process;
  for (std::uint64_t i = 0; i < 100; ++i) {
    process.nodes[start / page_bytes + i] = i < 60 ? 1 : 5; // node 5 has no memory block
  }
  const locator::system on = system_of(true);
  locator where(process, on);
  EXPECT_EQ(where.locate(range_of(100)),
            (std::vector<page_run>{{60, node_id{1}, false}, {40, node_id{5}, false}}));
  EXPECT_EQ(process.asked, 40U);
}

TEST(Locate, large_pages_are_asked_once) {
  fake_process process;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    process.nodes[start / page_bytes + i] = i < 1024 ? 2 : 3;
  }
  const locator::system on = system_of(false);
  {
    locator where(process, on);
    range_facts hugetlb = range_of(4096);
    hugetlb.page_bytes = 2U << 20;
    const std::uint64_t before = process.asked;
    EXPECT_EQ(owners(where.locate(hugetlb)), owners(where.locate(range_of(4096))));
    EXPECT_EQ(process.asked - before, 8U + 4096U);
  }
  process.has_scan = true;
  process.huge = {start / page_bytes + 512, start / page_bytes + 1024};
  locator where(process, on);
  const std::uint64_t before = process.asked;
  const auto runs = where.locate(range_of(4096));
  EXPECT_EQ(process.asked - before, 4096U - 1024U + 2U);
  EXPECT_EQ(runs, (std::vector<page_run>{{512, node_id{2}, false},
                                         {512, node_id{2}, true},
                                         {512, node_id{3}, true},
                                         {2560, node_id{3}, false}}));
}

TEST(Locate, memory_that_is_mostly_absent_is_not_asked_about) {
  fake_process process;
  process.has_scan = true;
  process.nodes[start / page_bytes + 100000] = 1;
  const locator::system on = system_of(false);
  locator where(process, on);
  range_facts facts = range_of(1U << 20);
  facts.resident_pages = 1;
  const std::uint64_t before = process.asked;
  const auto runs = where.locate(facts);
  EXPECT_EQ(process.asked - before, 1U);
  EXPECT_EQ(runs, (std::vector<page_run>{{100000, absent_page, false},
                                         {1, node_id{1}, false},
                                         {(1U << 20) - 100001, absent_page, false}}));
}

TEST(Locate, what_is_on_one_node_is_counted_and_not_asked) {
  for (const bool scan : {false, true}) {
    fake_process process;
    process.has_scan = scan;
    for (std::uint64_t i = 0; i < 20000; ++i) {
      if (i % 1000 < 700) {
        process.nodes[start / page_bytes + i] = 2;
      }
    }
    const locator::system on = system_of(false);
    range_facts facts = range_of(20000);
    const auto expected = owners(locator(process, on).locate(facts));
    facts.sole_node = node_id{2};
    facts.resident_pages = 14000;
    locator where(process, on);
    const std::uint64_t before = process.asked;
    EXPECT_EQ(owners(where.locate(facts)), expected);
    EXPECT_EQ(process.asked, before);
    EXPECT_EQ(where.counted(), 1U);
    // The process went on after it was counted: one page more, on another node.
    process.nodes[start / page_bytes + 999] = 3;
    const auto now = owners(where.locate(facts));
    EXPECT_EQ(now[999], node_id{3});
    EXPECT_EQ(where.counted(), 1U);
    // A page of zeros is present and was not counted.
    process.nodes[start / page_bytes + 999] = -1;
    EXPECT_EQ(owners(where.locate(facts))[999], zero_page);
  }
}

TEST(Locate, a_page_that_balancing_has_unmapped_is_not_absent) {
  fake_process process;
  process.has_frames = false;
  process.nodes[start / page_bytes] = 2;
  process.nodes[start / page_bytes + 1] = 2;
  process.unmapped = {start / page_bytes + 1};
  const locator::system on = system_of(false);
  locator where(process, on);
  for (const bool is_private : {true, false}) {
    range_facts facts = range_of(3);
    facts.private_memory = is_private;
    EXPECT_EQ(where.locate(facts),
              (std::vector<page_run>{
                  {1, node_id{2}, false}, {1, unknown_node, false}, {1, absent_page, false}}));
  }
}

TEST(Locate, a_process_that_has_ended_is_an_error) {
  fake_process process;
  process.refuse_query = ESRCH;
  const locator::system on = system_of(false);
  EXPECT_THROW(locator(process, on), error);
}

TEST(Locate, shared_memory_has_no_page_of_zeros) {
  fake_process process;
  process.nodes[start / page_bytes] = -1;
  const locator::system on = system_of(false);
  locator where(process, on);
  range_facts facts = range_of(1);
  EXPECT_EQ(where.locate(facts)[0].node, zero_page);
  facts.private_memory = false;
  EXPECT_EQ(where.locate(facts)[0].node, unknown_node);
}

} // namespace

} // namespace nodewise::observe
