// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Rings and records made by hand, byte by byte as perf_event_open(2) describes them.
#include "sys/perf_record.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <linux/perf_event.h>

#include <gtest/gtest.h>

#include "sys/perf_registers.hpp"

namespace nodewise::sys {

namespace {

using bytes = std::vector<std::byte>;

class record {
 public:
  explicit record(std::uint32_t type, std::uint16_t misc = 0) {
    add(type).add(misc).add(std::uint16_t{0});
  }

  template <class T>
  record& add(T value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    data_.insert(data_.end(), from, from + sizeof value);
    return *this;
  }
  record& add_text(std::string text) {
    text.resize((text.size() / 8 + 1) * 8);
    const auto* const from = reinterpret_cast<const std::byte*>(text.data());
    data_.insert(data_.end(), from, from + text.size());
    return *this;
  }
  [[nodiscard]] bytes done() const {
    bytes all = data_;
    const auto size = static_cast<std::uint16_t>(all.size());
    std::memcpy(all.data() + 6, &size, sizeof size);
    return all;
  }

 private:
  bytes data_;
};

record sample(std::uint64_t ip, int pid, int tid, std::uint64_t time, std::uint64_t address) {
  record r(PERF_RECORD_SAMPLE);
  r.add(ip).add(pid).add(tid).add(time).add(address);
  return r;
}

record& append_identity(record& r, std::uint64_t time) {
  return r.add(7).add(8).add(time);
}

record mapping(std::uint16_t misc, const std::array<std::uint64_t, 3>& file) {
  record r(PERF_RECORD_MMAP2, misc);
  r.add(10)
      .add(11)
      .add(std::uint64_t{0x1000})
      .add(std::uint64_t{0x2000})
      .add(std::uint64_t{0x3000});
  r.add(file[0]).add(file[1]).add(file[2]).add(std::uint32_t{5}).add(std::uint32_t{2});
  r.add_text("/usr/lib/libc.so.6");
  append_identity(r, 99);
  return r;
}

/// The records of a ring, by their types.
std::vector<std::uint32_t> types_in(ring_walk& walk) {
  std::vector<std::uint32_t> types;
  for (auto each = walk.next(); !each.empty(); each = walk.next()) {
    std::uint32_t type = 0;
    std::memcpy(&type, each.data(), sizeof type);
    types.push_back(type);
  }
  return types;
}

/// A ring of 64 bytes with records written from a position on.
bytes ring_with(std::uint64_t from, const bytes& records) {
  bytes ring(64);
  for (std::size_t i = 0; i < records.size(); ++i) {
    ring[(from + i) % ring.size()] = records[i];
  }
  return ring;
}

} // namespace

TEST(PerfRecord, ASampleOfAnAddress) {
  const auto decoded = decode_record(sample(0x401000, 5, 6, 1234, 0x7f00).done(), {});
  const auto& got = std::get<perf_sample>(decoded);
  EXPECT_EQ(got.ip, 0x401000U);
  EXPECT_EQ(got.pid, 5);
  EXPECT_EQ(got.tid, 6);
  EXPECT_EQ(got.time_ns, 1234U);
  EXPECT_EQ(got.address, 0x7f00U);
  EXPECT_EQ(got.page_bytes, 0U);
  EXPECT_TRUE(got.stack.empty());
}

TEST(PerfRecord, ThePhysicalAddressStandsBeforeTheSizeOfThePage) {
  record r = sample(1, 2, 3, 4, 5);
  r.add(std::uint64_t{0x123456000}).add(std::uint64_t{4096});
  const bytes whole = r.done();
  const auto decoded = decode_record(whole, {.page_size = true, .stack = false, .physical = true});
  EXPECT_EQ(std::get<perf_sample>(decoded).physical, 0x123456000U);
  EXPECT_EQ(std::get<perf_sample>(decoded).page_bytes, 4096U);
  const auto without = decode_record(sample(1, 2, 3, 4, 5).done(), {.physical = true});
  EXPECT_TRUE(std::holds_alternative<perf_damaged>(without));
}

TEST(PerfRecord, TheStackIsAsLongAsWhatWasCopied) {
  record r = sample(1, 2, 3, 4, 5);
  r.add(std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  for (std::size_t i = 0; i < perf_registers.size(); ++i) {
    r.add(std::uint64_t{100 + i});
  }
  r.add(std::uint64_t{16}).add(std::uint64_t{0x1111}).add(std::uint64_t{0}).add(std::uint64_t{8});
  r.add(std::uint64_t{2 << 20});
  const bytes whole = r.done();
  const auto decoded = decode_record(whole, {.page_size = true, .stack = true});
  const auto& got = std::get<perf_sample>(decoded);
  ASSERT_EQ(got.stack.size(), 8U);
  EXPECT_EQ(got.stack[0], std::byte{0x11});
  EXPECT_EQ(got.page_bytes, 2U << 20);
#if defined(__x86_64__)
  // DWARF has rdx as 1, rbx as 3; the kernel gives ax, bx, cx, dx, si, di, bp, sp, ip, r8, ...
  EXPECT_EQ(got.registers.count, 17U);
  EXPECT_EQ(got.registers.by_dwarf[1], 103U);
  EXPECT_EQ(got.registers.by_dwarf[3], 101U);
  EXPECT_EQ(got.registers.sp, 107U);
  EXPECT_EQ(got.registers.pc, 108U);
  EXPECT_EQ(got.registers.by_dwarf[15], 116U);
#endif
}

TEST(PerfRecord, AThreadWithoutUserRegistersHasNoStack) {
  record r = sample(1, 2, 3, 4, 5);
  r.add(std::uint64_t{PERF_SAMPLE_REGS_ABI_NONE}).add(std::uint64_t{0});
  const auto decoded = decode_record(r.done(), {.page_size = false, .stack = true});
  EXPECT_EQ(std::get<perf_sample>(decoded).registers.count, 0U);
}

TEST(PerfRecord, MappingsByInodeAndByBuildId) {
  const bytes inode = mapping(0, {1, 2, 3}).done();
  const auto plain = decode_record(inode, {});
  const auto& by_inode = std::get<perf_mapping>(plain);
  EXPECT_EQ(by_inode.pid, 10);
  EXPECT_EQ(by_inode.start, 0x1000U);
  EXPECT_EQ(by_inode.bytes, 0x2000U);
  EXPECT_EQ(by_inode.file_offset, 0x3000U);
  EXPECT_EQ(by_inode.time_ns, 99U);
  EXPECT_TRUE(by_inode.executable);
  EXPECT_EQ(by_inode.path, "/usr/lib/libc.so.6");
  EXPECT_TRUE(by_inode.build_id.empty());

  const bytes record = mapping(PERF_RECORD_MISC_MMAP_BUILD_ID, {0xAABB00000014, 0, 0}).done();
  const auto named = decode_record(record, {});
  const auto& id = std::get<perf_mapping>(named).build_id;
  ASSERT_EQ(id.size(), 20U);
  EXPECT_EQ(id[0], std::byte{0xBB});

  const bytes nonsense = mapping(PERF_RECORD_MISC_MMAP_BUILD_ID, {0xFF, 0, 0}).done();
  const auto longer = decode_record(nonsense, {});
  EXPECT_EQ(std::get<perf_mapping>(longer).build_id.size(), 20U);
}

TEST(PerfRecord, TasksNamesAndLosses) {
  record fork(PERF_RECORD_FORK);
  fork.add(20).add(10).add(21).add(11).add(std::uint64_t{55});
  append_identity(fork, 55);
  const auto forked = std::get<perf_task>(decode_record(fork.done(), {}));
  EXPECT_EQ(forked.pid, 20);
  EXPECT_EQ(forked.parent_pid, 10);
  EXPECT_EQ(forked.tid, 21);
  EXPECT_EQ(forked.parent_tid, 11);
  EXPECT_EQ(forked.time_ns, 55U);
  EXPECT_FALSE(forked.ended);

  record name(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
  name.add(20).add(20).add_text("solver");
  append_identity(name, 66);
  const bytes name_bytes = name.done();
  const auto named = std::get<perf_name>(decode_record(name_bytes, {}));
  EXPECT_TRUE(named.by_exec);
  EXPECT_EQ(named.name, "solver");
  EXPECT_EQ(named.time_ns, 66U);

  record lost(PERF_RECORD_LOST);
  lost.add(std::uint64_t{1}).add(std::uint64_t{500});
  EXPECT_EQ(std::get<perf_lost>(decode_record(lost.done(), {})).count, 500U);
  record lost_samples(PERF_RECORD_LOST_SAMPLES);
  lost_samples.add(std::uint64_t{3});
  EXPECT_EQ(std::get<perf_lost>(decode_record(lost_samples.done(), {})).count, 3U);
  EXPECT_TRUE(std::holds_alternative<perf_other>(decode_record(record(4711).done(), {})));
}

TEST(PerfRecord, EveryRecordCutShortIsDamaged) {
  record with_stack = sample(1, 2, 3, 4, 5);
  with_stack.add(std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  for (std::size_t i = 0; i < perf_registers.size(); ++i) {
    with_stack.add(std::uint64_t{i});
  }
  with_stack.add(std::uint64_t{8}).add(std::uint64_t{0}).add(std::uint64_t{8});
  const bytes whole = with_stack.done();
  const perf_layout layout{.page_size = false, .stack = true};
  ASSERT_TRUE(std::holds_alternative<perf_sample>(decode_record(whole, layout)));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(std::holds_alternative<perf_damaged>(decode_record(cut, layout))) << size;
    if (size >= ring_walk::header_bytes) {
      const auto said = static_cast<std::uint16_t>(size);
      std::memcpy(cut.data() + 6, &said, sizeof said);
      EXPECT_TRUE(std::holds_alternative<perf_damaged>(decode_record(cut, layout))) << size;
    }
  }
}

TEST(PerfRecord, AStackLongerThanTheRecordIsDamaged) {
  record r = sample(1, 2, 3, 4, 5);
  r.add(std::uint64_t{PERF_SAMPLE_REGS_ABI_NONE}).add(~std::uint64_t{0}).add(std::uint64_t{0});
  const auto decoded = decode_record(r.done(), {.page_size = false, .stack = true});
  EXPECT_TRUE(std::holds_alternative<perf_damaged>(decoded));
}

TEST(PerfRecord, NoBytesCrashIt) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 200000; ++turn) {
    bytes any(random() % 160);
    std::ranges::generate(any, [&] { return static_cast<std::byte>(random()); });
    if (any.size() >= ring_walk::header_bytes) {
      const std::uint32_t type = random() % 16;
      const auto size = static_cast<std::uint16_t>(any.size());
      std::memcpy(any.data(), &type, sizeof type);
      std::memcpy(any.data() + 6, &size, sizeof size);
    }
    const auto decoded = decode_record(any, {random() % 2 == 0, random() % 2 == 0});
    if (const auto* const got = std::get_if<perf_sample>(&decoded)) {
      EXPECT_LE(got->stack.size(), any.size());
    }
  }
}

TEST(RingWalk, PutsTogetherWhatLiesAcrossTheEnd) {
  bytes records = sample(1, 2, 3, 44, 5).done();
  const bytes second = record(PERF_RECORD_LOST_SAMPLES).add(std::uint64_t{9}).done();
  records.insert(records.end(), second.begin(), second.end());
  // From every position, of a ring that has gone round often.
  for (std::uint64_t from = 6400; from < 6464; from += 8) {
    const bytes ring = ring_with(from, records);
    ring_walk walk(ring, from, from + records.size());
    const auto first = decode_record(walk.next(), {});
    ASSERT_TRUE(std::holds_alternative<perf_sample>(first)) << from;
    EXPECT_EQ(std::get<perf_sample>(first).time_ns, 44U);
    EXPECT_EQ(std::get<perf_lost>(decode_record(walk.next(), {})).count, 9U);
    EXPECT_TRUE(walk.next().empty());
    EXPECT_EQ(walk.damaged(), 0U);
  }
}

TEST(RingWalk, AFullRingAndAnEmptyOne) {
  bytes records;
  for (int i = 0; i < 4; ++i) {
    const bytes one = record(PERF_RECORD_LOST_SAMPLES).add(std::uint64_t{1}).done();
    records.insert(records.end(), one.begin(), one.end());
  }
  ASSERT_EQ(records.size(), 64U);
  ring_walk full(records, 128, 192);
  EXPECT_EQ(types_in(full).size(), 4U);
  ring_walk empty(records, 192, 192);
  EXPECT_TRUE(empty.next().empty());
  EXPECT_EQ(empty.damaged(), 0U);
}

TEST(RingWalk, NonsenseEndsIt) {
  const bytes good = record(PERF_RECORD_LOST_SAMPLES).add(std::uint64_t{1}).done();
  for (const std::uint16_t size : std::array<std::uint16_t, 5>{0, 7, 17, 4096, 65535}) {
    bytes ring = ring_with(0, good);
    std::memcpy(ring.data() + 6, &size, sizeof size);
    ring_walk walk(ring, 0, 16);
    EXPECT_TRUE(types_in(walk).empty()) << size;
    EXPECT_EQ(walk.damaged(), 1U) << size;
  }
  const bytes ring = ring_with(0, good);
  ring_walk too_much(ring, 0, 65);
  EXPECT_TRUE(types_in(too_much).empty());
  EXPECT_EQ(too_much.damaged(), 1U);
  ring_walk backwards(ring, 16, 8);
  EXPECT_TRUE(types_in(backwards).empty());
  EXPECT_EQ(backwards.damaged(), 1U);
  ring_walk half_a_header(ring, 0, 4);
  EXPECT_TRUE(types_in(half_a_header).empty());
  ring_walk no_ring({}, 0, 8);
  EXPECT_TRUE(types_in(no_ring).empty());
}

} // namespace nodewise::sys
