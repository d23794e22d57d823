// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Who used the processors, by what a kernel says in its files.
#include <array>
#include <string>

#include <gmock/gmock.h>

#include "measure/disturbance.hpp"
#include "measure/memory.hpp"
#include "unit/fake_kernel.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::measure {
namespace {

using testing::DoubleNear;

// user nice system idle iowait irq softirq steal guest guest_nice
constexpr const char* before = "cpu  400 0 0 400 0 0 0 0 0 0\n"
                               "cpu0 100 0 0 100 0 0 0 0 0 0\n"
                               "cpu1 100 0 0 100 0 0 0 0 0 0\n"
                               "cpu10 7 7 7 7 7 7 7 7 7 7\n"
                               "intr 12 3\n";
constexpr const char* after = "cpu0 180 5 5 100 0 0 0 10 0 0\n"
                              "cpu1 150 0 0 150 0 0 0 0 0 0\n"
                              "cpu10 7 7 7 7 7 7 7 7 7 7\n";

std::string own(int in_user, int in_kernel) {
  return "4711 (a ) name) R 1 2 3 4 5 6 7 8 9 10 " + std::to_string(in_user) + " " +
         std::to_string(in_kernel) + " 0 0 20 0\n";
}

TEST(Ticks, AreThoseOfTheProcessorsThatAreMeant) {
  const auto one = parse_ticks(after, {cpu_id{0}});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->all, 300);
  EXPECT_EQ(one->busy, 190);
  EXPECT_EQ(one->stolen, 10);
  EXPECT_EQ(parse_ticks(after, {cpu_id{0}, cpu_id{1}})->all, 600);
  EXPECT_FALSE(parse_ticks(after, {cpu_id{2}}));
}

TEST(Ticks, ThatMakeNoSenseAreNone) {
  EXPECT_FALSE(parse_ticks("", {cpu_id{0}}));
  EXPECT_FALSE(parse_ticks("cpu0 1 2 3", {cpu_id{0}}));
  EXPECT_FALSE(parse_ticks("cpu0 1 2 3 four 5 6 7 8\ncpux 1 2 3 4 5 6 7 8", {cpu_id{0}}));
  EXPECT_FALSE(parse_own_ticks("4711 no name"));
  EXPECT_FALSE(parse_own_ticks("4711 (x) R 1 2"));
  EXPECT_EQ(parse_own_ticks(own(30, 4)), 34);
}

TEST(Watch, TellsOthersFromThisProcessAndFromTheHypervisor) {
  test::fake_kernel kernel{{node_id{0}}};
  kernel.files["/proc/stat"] = before;
  kernel.files["/proc/self/stat"] = own(0, 0);
  const watch seen(kernel, topology(test::grid(1, 2)), {cpu_id{0}, cpu_id{1}});
  EXPECT_FALSE(seen.so_far().shares()); // no tick has passed
  kernel.files["/proc/stat"] = after;
  kernel.files["/proc/self/stat"] = own(100, 0);
  // 200 ticks: 140 busy, 100 of them our own, 10 stolen.
  watched_time sum = seen.so_far();
  const auto found = sum.shares();
  ASSERT_TRUE(found);
  EXPECT_THAT(found->others, DoubleNear(0.2, 1e-9));
  EXPECT_THAT(found->stolen, DoubleNear(0.05, 1e-9));
  EXPECT_TRUE(found->is_much());

  // Of two visits together: a tick too much in one is a tick too little in the other.
  sum += {.all = 200, .stolen = 0, .others = -20};
  EXPECT_THAT(sum.shares()->others, DoubleNear(0.05, 1e-9));
  EXPECT_EQ(watched_time({.all = 10, .stolen = 0, .others = -1}).shares()->others, 0);
}

TEST(Watch, SaysNothingWhereTheKernelDoes) {
  test::fake_kernel kernel{{node_id{0}}};
  EXPECT_FALSE(watch(kernel, topology(test::grid(1, 2)), {cpu_id{0}}).so_far().shares());
}

TEST(Watch, CountsTheHardwareThreadBesideAndTellsTheRestApart) {
  // Two cores of two hardware threads: 0 and 2, 1 and 3. Only 0 measures.
  const auto stat = [](int ticks, std::array<int, 4> busy) {
    std::string text;
    for (std::size_t cpu = 0; cpu < busy.size(); ++cpu) {
      text += "cpu" + std::to_string(cpu) + " " + std::to_string(busy[cpu]) + " 0 0 " +
              std::to_string(ticks - busy[cpu]) + " 0 0 0 0 0 0\n";
    }
    return text;
  };
  test::fake_kernel kernel{{node_id{0}}};
  kernel.files["/proc/stat"] = stat(0, {});
  kernel.files["/proc/self/stat"] = own(0, 0);
  const watch seen(kernel, topology(test::grid(1, 2, 2)), {cpu_id{0}});
  kernel.files["/proc/stat"] = stat(100, {80, 30, 10, 30});
  kernel.files["/proc/self/stat"] = own(80, 0);
  const auto found = seen.so_far().shares();
  ASSERT_TRUE(found);
  EXPECT_THAT(found->others, DoubleNear(0.1, 1e-9));    // 10 on 2, of 100
  EXPECT_THAT(found->elsewhere, DoubleNear(0.3, 1e-9)); // 60 on 1 and 3, of 200
  EXPECT_TRUE(found->is_much());
  EXPECT_TRUE(found->is_much_elsewhere());
}

TEST(Frequency, IsOfAProcessorThatTells) {
  test::fake_kernel kernel{{node_id{0}}};
  EXPECT_FALSE(frequency_mhz(kernel, cpu_id{0}));
  kernel.files["/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"] = "3000000";
  kernel.files["/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq"] = "<unknown>";
  EXPECT_EQ(frequency_mhz(kernel, cpu_id{0}), 3000);
  EXPECT_FALSE(frequency_mhz(kernel, cpu_id{3}));
}

TEST(ShareInHugePages, IsOfTheMappingsThatAreMeant) {
  constexpr const char* smaps = "1000-3000 rw-p 00000000 00:00 0 \n"
                                "Rss:                  4 kB\n"
                                "AnonHugePages:         0 kB\n"
                                "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 \n"
                                "Rss:               8192 kB\n"
                                "AnonHugePages:     6144 kB\n"
                                "VmFlags: rd wr mr mw\n";
  EXPECT_EQ(share_in_huge_pages(smaps, std::array{address_range{0x7f0000000000, 0x7f0000400000}}),
            0.75);
  EXPECT_EQ(share_in_huge_pages(smaps, std::array{address_range{0x2000, 0x2001}}), 0);
  EXPECT_FALSE(share_in_huge_pages(smaps, std::array{address_range{0x4000, 0x5000}}));
  EXPECT_FALSE(share_in_huge_pages("", std::array{address_range{0, 1}}));
}

} // namespace
} // namespace nodewise::measure
