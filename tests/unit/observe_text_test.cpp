// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Texts of /proc as kernels have written them.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "observe/locate.hpp"
#include "observe/proc_text.hpp"

namespace nodewise::observe {

namespace {

TEST(Maps, lines_with_every_kind_of_name) {
  const auto all = parse_maps(
      "55c3f8039000-55c3f803b000 rw-p 0000b000 fe:00 247278                     /usr/bin/my prog\n"
      "55c430f1e000-55c430f3f000 rw-p 00000000 00:00 0                          [heap]\n"
      "7fc36b750000-7fc36b753000 ---p 00000000 00:00 0 \n"
      "7fc36b800000-7fc36ba00000 rw-s 00001000 00:01 4096                       /memfd:x "
      "(deleted)\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
      "not a line\n");
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].where, (sys::address_range{0x55c3f8039000, 0x55c3f803b000}));
  EXPECT_EQ(all[0].path, "/usr/bin/my prog");
  EXPECT_EQ(all[0].device, "fe:00");
  EXPECT_EQ(all[0].inode, 247278U);
  EXPECT_EQ(all[0].file_offset, 0xb000U);
  EXPECT_TRUE(all[0].readable && all[0].writable && !all[0].executable && !all[0].shared);
  EXPECT_EQ(all[1].path, "[heap]");
  EXPECT_EQ(all[2].path, "");
  EXPECT_FALSE(all[2].readable || all[2].writable);
  EXPECT_EQ(all[3].path, "/memfd:x");
  EXPECT_TRUE(all[3].deleted && all[3].shared);
  EXPECT_EQ(all[4].where.last, 0xffffffffff601000U);
}

TEST(NumaMaps, policies_pages_and_page_sizes) {
  const auto all = parse_numa_maps(
      "55f050ecb000 default file=/usr/bin/head anon=1 dirty=1 active=0 N0=1 kernelpagesize_kB=4\n"
      "7f0000000000 interleave:0-3 anon=1024 dirty=1024 N0=256 N1=256 N2=256 N3=256 "
      "kernelpagesize_kB=4\n"
      "7f0010000000 bind=static:1 heap anon=4 N1=4 kernelpagesize_kB=4\n"
      "7f0020000000 prefer (many):0-1 stack anon=4 N1=4 kernelpagesize_kB=4\n"
      "7f0030000000 weighted interleave:0-1 file=/anon_hugepage\\040(deleted) huge anon=3 dirty=3 "
      "N255=3 kernelpagesize_kB=2048\n"
      "7f0040000000 prefer:2\n");
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].policy, "default");
  EXPECT_EQ(all[0].page_bytes, 4096U);
  EXPECT_EQ(all[0].pages, (std::map<int, std::uint64_t>{{0, 1}}));
  EXPECT_EQ(all[1].policy, "interleave:0-3");
  EXPECT_EQ(all[1].pages.size(), 4U);
  EXPECT_EQ(all[2].policy, "bind=static:1");
  EXPECT_TRUE(all[2].heap);
  EXPECT_EQ(all[3].policy, "prefer (many):0-1");
  EXPECT_TRUE(all[3].stack);
  EXPECT_EQ(all[4].policy, "weighted interleave:0-1");
  EXPECT_TRUE(all[4].huge);
  EXPECT_EQ(all[4].page_bytes, 2048U << 10);
  EXPECT_EQ(all[4].pages, (std::map<int, std::uint64_t>{{255, 3}}));
  EXPECT_EQ(all[5].policy, "prefer:2");
  EXPECT_EQ(all[5].page_bytes, 0U);
}

TEST(NumaMaps, totals_are_in_numastat_s_categories) {
  const auto totals =
      totals_of(parse_numa_maps("1000 default heap anon=2 N0=2 kernelpagesize_kB=4\n"
                                "2000 default stack N1=1 kernelpagesize_kB=4\n"
                                "3000 default huge N1=2 kernelpagesize_kB=2048\n"
                                "4000 default file=/dev/shm/x N0=3 N1=1\n"),
                4096);
  ASSERT_EQ(totals.size(), 4U);
  EXPECT_EQ(totals[0].bytes.at(1), 4U << 20);
  EXPECT_EQ(totals[1].bytes.at(0), 8192U);
  EXPECT_EQ(totals[2].bytes.at(1), 4096U);
  EXPECT_EQ(totals[3].bytes.at(0), 3 * 4096U);
}

TEST(Smaps, transparent_huge_pages_of_each_mapping) {
  const auto bytes = parse_smaps_huge_bytes(
      "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 \n"
      "Size:               8192 kB\nAnonHugePages:      4096 kB\nShmemPmdMapped:        0 kB\n"
      "7f0010000000-7f0010800000 rw-s 00000000 00:01 7 /dev/shm/x\n"
      "AnonHugePages:         0 kB\nShmemPmdMapped:     2048 kB\nFilePmdMapped:         0 kB\n"
      "VmFlags: rd wr\n");
  EXPECT_EQ(bytes.at(0x7f0000000000), 4096U << 10);
  EXPECT_EQ(bytes.at(0x7f0010000000), 2048U << 10);
}

TEST(TaskStat, a_name_may_hold_anything) {
  const auto task = parse_task_stat(
      "4711 (a) b (c) R 1 4711 4711 0 -1 4194304 100 0 0 0 7 5 0 0 20 0 8 0 123 1000 200 "
      "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 6 0 0 0 0 0 0 0 0 0 0 0 0 0");
  ASSERT_TRUE(task);
  EXPECT_EQ(task->name, "a) b (c");
  EXPECT_EQ(task->state, 'R');
  EXPECT_EQ(task->flags, 4194304U);
  EXPECT_EQ(task->cpu_ticks, 12U);
  EXPECT_EQ(task->last_cpu, cpu_id{6});
  EXPECT_FALSE(parse_task_stat("nothing"));
}

TEST(Limits, stacks_of_threads) {
  EXPECT_EQ(parse_stack_bytes("Limit                     Soft Limit           Hard Limit\n"
                              "Max stack size            8388608              unlimited  bytes\n"),
            8U << 20);
  EXPECT_EQ(parse_stack_bytes("Max stack size            unlimited            unlimited  bytes\n"),
            2U << 20);
}

TEST(TaskStat, of_this_process_has_a_processor) {
  std::ifstream file("/proc/self/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto task = parse_task_stat(text);
  ASSERT_TRUE(task);
  EXPECT_GE(to_int(task->last_cpu), 0);
  EXPECT_LT(to_int(task->last_cpu), ::sysconf(_SC_NPROCESSORS_CONF));
}

constexpr std::string_view zoneinfo = "Node 0, zone      DMA\n"
                                      "  pages free     3840\n"
                                      "        spanned  4095\n"
                                      "        present  3998\n"
                                      "  start_pfn:           1\n"
                                      "Node 0, zone   Normal\n"
                                      "        spanned  1000\n"
                                      "  start_pfn:           8192\n"
                                      "Node 1, zone   Normal\n"
                                      "        spanned  2000\n"
                                      "  start_pfn:           9000\n"
                                      "Node 1, zone  Movable\n"
                                      "        spanned  0\n"
                                      "  start_pfn:           0\n";

TEST(Zoneinfo, spans_of_zones_that_have_any) {
  const auto spans = parse_zoneinfo(zoneinfo);
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].first, 1U);
  EXPECT_EQ(spans[0].last, 4096U);
  EXPECT_EQ(spans[2].node, node_id{1});
}

TEST(Frames, zones_decide_without_blocks_and_overlaps_are_unknown) {
  const frame_map map(0, parse_zoneinfo(zoneinfo));
  EXPECT_EQ(map.node_of(100), node_id{0});
  EXPECT_EQ(map.node_of(8500), node_id{0});
  EXPECT_EQ(map.node_of(10000), node_id{1});
  EXPECT_EQ(map.node_of(9100), unknown_node) << "in both nodes' spans";
  EXPECT_EQ(map.node_of(5000), unknown_node) << "in none";
}

TEST(Frames, blocks_come_first_and_a_shared_block_is_left_to_the_zones) {
  frame_map map(1024, parse_zoneinfo(zoneinfo));
  map.add_block(9, node_id{1}); // 9216..10239
  map.add_block(8, node_id{0}); // 8192..9215
  map.add_block(8, node_id{1});
  EXPECT_EQ(map.node_of(9300), node_id{1});
  EXPECT_EQ(map.node_of(8300), node_id{0}) << "by zone";
  EXPECT_EQ(map.node_of(9150), unknown_node) << "by zone, where they overlap";
}

TEST(Frames, blocks_are_read_from_sysfs) {
  namespace fs = std::filesystem;
  const fs::path root =
      fs::temp_directory_path() / ("nodewise-frames-" + std::to_string(::getpid()));
  for (const char* const block : {"node0/memory0", "node2/memory1", "node2/memory40"}) {
    fs::create_directories(root / "sys/devices/system/node" / block);
  }
  fs::create_directories(root / "sys/devices/system/memory");
  std::ofstream(root / "sys/devices/system/memory/block_size_bytes") << "8000000\n";
  const frame_map map = frame_map::read(root.string());
  fs::remove_all(root);
  const auto frames =
      (std::uint64_t{0x8000000}) / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(map.node_of(0), node_id{0});
  EXPECT_EQ(map.node_of(frames), node_id{2});
  EXPECT_EQ(map.node_of(41 * frames - 1), node_id{2});
  EXPECT_EQ(map.node_of(2 * frames), unknown_node);
}

} // namespace

} // namespace nodewise::observe
