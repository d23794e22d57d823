// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Emptying the page cache of a simulated node, whose kernel evicts cache when nothing is free, and
// of real files.
#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include <sys/fsuid.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "page_cache/page_cache.hpp"
#include "sys/kernel.hpp"
#include "unit/fake_kernel.hpp"

namespace nodewise::page_cache {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// A node of 1 GiB.
struct node {
  std::uint64_t free = 200 * mebibyte;
  std::uint64_t clean = 600 * mebibyte;  ///< files that the kernel can evict
  std::uint64_t dirty = 0;               ///< files that it cannot
  std::uint64_t others = 224 * mebibyte; ///< anonymous memory of programs
  std::uint64_t swap = 512 * mebibyte;   ///< free
  std::optional<std::uint64_t> limit;    ///< of this process
  bool reports = true;

  static constexpr std::uint64_t kept_free = 10 * mebibyte; ///< by the kernel

  int take(std::uint64_t bytes) {
    while (free < bytes + kept_free) {
      const std::uint64_t wanted = bytes + kept_free - free;
      const std::uint64_t from_cache = std::min(clean, wanted);
      clean -= from_cache;
      free += from_cache;
      if (from_cache == wanted) {
        break;
      }
      const std::uint64_t to_swap = std::min({wanted - from_cache, others, swap});
      if (to_swap == 0) {
        ADD_FAILURE() << "the kernel would kill a process";
        return ENOMEM;
      }
      others -= to_swap;
      swap -= to_swap;
      free += to_swap;
    }
    free -= bytes;
    return 0;
  }

  pressure press() {
    return page_cache::press(
        {.look = [this]() -> std::optional<sys::node_memory> {
           return sys::node_memory{1024 * mebibyte, free, clean + dirty,
                                   reports ? std::optional(clean + dirty) : std::nullopt};
         },
         .free_swap = [this] { return std::optional(swap); },
         .room = [this] { return limit; },
         .take =
             [this](std::uint64_t bytes) {
               limit = limit ? std::optional(*limit - std::min(*limit, bytes)) : std::nullopt;
               return take(bytes);
             },
         .progress = [](std::uint64_t done, std::uint64_t total) { EXPECT_LE(done, total); }});
  }
};

TEST(Pressure, EndsWhenTheCacheIsGone) {
  node on;
  EXPECT_EQ(on.press().why, ending::swept);
  EXPECT_LE(on.clean, 1024 * mebibyte / 64);
  EXPECT_EQ(on.others, 224 * mebibyte);
}

TEST(Pressure, TakesNothingFromACleanNode) {
  node on;
  on.clean = 2 * mebibyte;
  const pressure done = on.press();
  EXPECT_EQ(done.why, ending::swept);
  EXPECT_EQ(done.taken_bytes, 0U);
}

TEST(Pressure, EndsBeforeMemoryOfOthersIsSwapped) {
  node on;
  on.dirty = 300 * mebibyte;
  on.clean = 300 * mebibyte;
  const pressure done = on.press();
  EXPECT_TRUE(done.why == ending::swaps || done.why == ending::stuck);
  // What a node swaps before that is noticed: a piece or two.
  EXPECT_GE(on.swap, (512 - 3 * 4) * mebibyte);
  EXPECT_EQ(on.dirty, 300 * mebibyte);
}

TEST(Pressure, EndsWhereTheCacheStaysThoughNothingIsFree) {
  std::uint64_t free = 40 * mebibyte;
  const pressure done =
      press({.look =
                 [&] {
                   return std::optional(
                       sys::node_memory{1024 * mebibyte, free, 500 * mebibyte, 500 * mebibyte});
                 },
             .free_swap = [] { return std::optional<std::uint64_t>(); },
             .room = [] { return std::optional<std::uint64_t>(); },
             .take =
                 [&](std::uint64_t bytes) { // from elsewhere, once nothing is free
                   free -= std::min(free, bytes);
                   return 0;
                 },
             .progress = [](std::uint64_t, std::uint64_t) {}});
  EXPECT_EQ(done.why, ending::stuck);
  EXPECT_LE(done.taken_bytes, 60 * mebibyte);
}

TEST(Pressure, EndsAtTheLimitOfThisProcess) {
  node on;
  on.limit = 300 * mebibyte;
  const pressure done = on.press();
  EXPECT_EQ(done.why, ending::limited);
  EXPECT_LE(done.taken_bytes, 300 * mebibyte);
}

TEST(Pressure, ReportsWhatTheKernelRefused) {
  const pressure done = press({.look =
                                   [] {
                                     return std::optional(sys::node_memory{
                                         1024 * mebibyte, 0, 512 * mebibyte, 512 * mebibyte});
                                   },
                               .free_swap = [] { return std::optional<std::uint64_t>(); },
                               .room = [] { return std::optional<std::uint64_t>(); },
                               .take = [](std::uint64_t) { return EPERM; },
                               .progress = [](std::uint64_t, std::uint64_t) {}});
  EXPECT_EQ(done.why, ending::refused);
  EXPECT_EQ(done.errno_value, EPERM);
}

TEST(Pressure, DoesNothingIfTheKernelDoesNotReport) {
  node on;
  on.reports = false;
  const pressure done = on.press();
  EXPECT_EQ(done.why, ending::unknown);
  EXPECT_EQ(done.taken_bytes, 0U);
}

TEST(NodeMemory, IsReadFromTheKernelsFile) {
  test::fake_kernel kernel({node_id{0}});
  kernel.files["/sys/devices/system/node/node1/meminfo"] =
      "Node 1 MemTotal:       1048576 kB\nNode 1 MemFree:          2048 kB\n"
      "Node 1 Active(file):     1024 kB\nNode 1 Inactive(file):   3072 kB\n"
      "Node 1 FilePages:        8192 kB\n";
  const auto found = sys::read_node_memory(kernel, node_id{1});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->total_bytes, 1024 * mebibyte);
  EXPECT_EQ(found->free_bytes, 2 * mebibyte);
  EXPECT_EQ(found->cache_bytes, 8 * mebibyte);
  EXPECT_EQ(found->evictable_bytes, 4 * mebibyte);
  EXPECT_FALSE(sys::read_node_memory(kernel, node_id{0}));
  kernel.files["/proc/meminfo"] = "MemTotal: 1 kB\nSwapFree:  512 kB\n";
  EXPECT_EQ(sys::read_meminfo(kernel, "SwapFree"), 512U << 10);
  kernel.files["/proc/meminfo"] += "MemAvailable:  2048 kB\n";
  EXPECT_EQ(sys::read_meminfo(kernel, "MemAvailable"), 2U << 20);
}

/// A file in memory alone.
class memory_file {
 public:
  explicit memory_file(std::size_t bytes)
      : descriptor_(::memfd_create("nodewise-test", MFD_CLOEXEC)) {
    const std::string text(bytes, 'x');
    EXPECT_EQ(::write(descriptor_, text.data(), bytes), static_cast<ssize_t>(bytes));
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(descriptor_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

TEST(DroppedFile, PagesThatStayAreCounted) {
  const std::size_t bytes = 3 * sys::real_kernel().base_page_bytes();
  const memory_file in_memory(bytes - 1);
  const dropped what = drop_file(in_memory.path());
  EXPECT_EQ(what.errno_value, 0) << "the kernel answers that all is well";
  EXPECT_EQ(what.stayed_bytes, bytes);
}

TEST(DroppedFile, AnEmptyFileHasNone) {
  const memory_file nothing(0);
  const dropped what = drop_file(nothing.path());
  EXPECT_EQ(what.errno_value, 0);
  EXPECT_EQ(what.stayed_bytes, 0U);
}

TEST(DroppedFile, WhatHasNoPagesIsRefused) {
  EXPECT_EQ(drop_file("/").errno_value, EISDIR);
  EXPECT_EQ(drop_file("/dev/null").errno_value, ENODEV);
  EXPECT_EQ(drop_file("/nonexistent/file").errno_value, ENOENT);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(drop_file("/proc/self/fd/" + std::to_string(ends[0])).errno_value, ENODEV);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(DroppedFile, ReportsNothingOfAnotherUsersFile) {
  const char* const file = "/etc/passwd"; // root's, and all users may read it
  constexpr unsigned nobody = 65534;
  const int before = ::setfsuid(nobody); // of this thread; its capabilities over files go, too
  const dropped what = drop_file(file);
  const int during = ::setfsuid(static_cast<uid_t>(before));
  if (during == 0) {
    GTEST_SKIP() << "root may not be nobody here";
  }
  EXPECT_EQ(what.errno_value, 0);
  EXPECT_EQ(what.stayed_bytes, std::nullopt) << "the kernel calls all of its pages resident";
}

} // namespace
} // namespace nodewise::page_cache
