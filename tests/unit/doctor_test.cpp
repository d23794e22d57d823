// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/examine.hpp"
#include "doctor/settings.hpp"
#include "unit/fake_system.hpp"

namespace nodewise::doctor {
namespace {

using testing::HasSubstr;

TEST(DoctorCalls, AllPermitted) {
  fake_system well;
  for (const finding& f : try_calls(around(well))) {
    EXPECT_EQ(f.verdict, verdict::good) << f.name << ": " << f.found;
    EXPECT_EQ(f.found, "permitted");
  }
}

TEST(DoctorCalls, ARefusalHasItsErrnoAndACure) {
  const std::vector<std::pair<std::string, std::string>> needed = {
      {"mbind", "mbind"},
      {"set_mempolicy", "set_mempolicy"},
      {"get_mempolicy", "get_mempolicy"},
      {"move_pages", "move_pages (query)"},
      {"move_pages", "move_pages (move)"},
      {"sched_getaffinity", "sched_getaffinity"},
      {"sched_setaffinity", "sched_setaffinity"}};
  for (const auto& [call, name] : needed) {
    for (const int errno_value : {EPERM, ENOSYS, EACCES, EINVAL}) {
      fake_system ill;
      ill.refuse[call] = errno_value;
      const finding f = named(try_calls(around(ill)), name);
      EXPECT_EQ(f.verdict, verdict::bad) << name;
      EXPECT_EQ(f.errno_value, errno_value) << name;
      EXPECT_THAT(f.found, HasSubstr("refused: E"));
      EXPECT_FALSE(f.cure.empty()) << name;
    }
  }
}

TEST(DoctorCalls, TheContainersCureIsNamed) {
  fake_system ill;
  ill.refuse["mbind"] = EPERM;
  EXPECT_THAT(named(try_calls(around(ill)), "mbind").cure, HasSubstr("--cap-add SYS_NICE"));
  surroundings with_counters_refused = around(ill);
  with_counters_refused.open_fault_counter = [] { return EACCES; };
  const finding f = named(try_calls(with_counters_refused), "perf_event_open");
  EXPECT_EQ(f.verdict, verdict::warning) << "a run can do without";
  EXPECT_THAT(f.cure, HasSubstr("PERFMON"));
}

TEST(DoctorCalls, NoNodeIsAskedForThatIsNotAllowed) {
  class one_node : public fake_system {
   public:
    int asked_for = -1;
    int mbind(void*, std::size_t, sys::policy, const node_set& nodes, unsigned) override {
      asked_for = to_int(nodes.first());
      return 0;
    }
    /// That of the page of zeros.
    sys::answer<node_id> node_of_page(void*) override { return {node_id{0}, 0}; }
  };
  one_node who;
  who.two_nodes();
  EXPECT_EQ(named(try_calls(around(who)), "mbind").found, "permitted");
  EXPECT_EQ(who.asked_for, 0);
  who.allow("0-3", "2");
  EXPECT_EQ(named(try_calls(around(who)), "mbind").found, "permitted");
  EXPECT_EQ(who.asked_for, 2);
}

TEST(DoctorCalls, WhatCouldNotBeTriedIsNeitherGoodNorBad) {
  fake_system ill;
  ill.map_errno = ENOMEM;
  const auto calls = try_calls(around(ill));
  EXPECT_EQ(named(calls, "mbind").verdict, verdict::unavailable);
  EXPECT_THAT(named(calls, "mbind").found, HasSubstr("ENOMEM"));
  EXPECT_EQ(named(calls, "set_mempolicy").verdict, verdict::good);
}

TEST(DoctorSettings, WhatCannotBeReadIsUnavailable) {
  fake_system blind;
  for (const finding& f : examine_settings(blind)) {
    if (f.name != "page_size") {
      EXPECT_EQ(f.verdict, verdict::unavailable) << f.name << ": " << f.found;
      EXPECT_EQ(f.found, "unavailable");
    }
  }
  const settings none = read_settings(blind);
  EXPECT_EQ(none.numa_balancing, std::nullopt);
  EXPECT_EQ(none.thp, std::nullopt);
  EXPECT_EQ(none.virtualisation, std::nullopt);
}

TEST(DoctorSettings, BalancingIsAWarningWhereThereAreNodes) {
  fake_system who;
  who.files["/proc/sys/kernel/numa_balancing"] = "1";
  who.files["/sys/devices/system/node/online"] = "0,2";
  EXPECT_EQ(setting(who, "numa_balancing").verdict, verdict::warning);
  who.files["/sys/devices/system/node/online"] = "0";
  EXPECT_EQ(setting(who, "numa_balancing").verdict, verdict::good);
  who.files["/proc/sys/kernel/numa_balancing"] = "nonsense";
  EXPECT_EQ(setting(who, "numa_balancing").verdict, verdict::unavailable);
}

TEST(DoctorSettings, TheCpusetIsShownBesideWhatThereIs) {
  fake_system who;
  who.files["/proc/self/status"] = "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\n"
                                   "Mems_allowed_list:\t2\n";
  who.files["/sys/devices/system/cpu/online"] = "0-7";
  who.files["/sys/devices/system/node/online"] = "0,2";
  EXPECT_EQ(setting(who, "Cpus_allowed_list").found, "0-3 of 0-7");
  EXPECT_EQ(setting(who, "Mems_allowed_list").found, "2 of 0,2");
}

TEST(DoctorSettings, ProcessorsThatAreNotThereAreNotAllowed) {
  fake_system who; // Linux lists those that could be plugged in, too
  who.two_nodes();
  who.allow("0-8", "0-63");
  EXPECT_EQ(setting(who, "Cpus_allowed_list").found, "0-3");
  EXPECT_EQ(setting(who, "Mems_allowed_list").found, "0,2");
}

TEST(DoctorSettings, WhoHasTakenProcessorsAway) {
  fake_system who;
  who.two_nodes();
  who.allow("0", "2");
  who.files["/proc/self/cgroup"] = "0::/job/step";
  who.files["/sys/fs/cgroup/job/cpuset.cpus.effective"] = "0-1";
  who.files["/sys/fs/cgroup/job/cpuset.mems.effective"] = "2";
  EXPECT_EQ(setting(who, "Cpus_allowed_list").found,
            "0 of 0-3, by this process's affinity; the control group allows 0-1");
  EXPECT_EQ(setting(who, "Mems_allowed_list").found, "2 of 0,2, by the control group");
  who.files["/proc/self/cgroup"] = "3:cpuset:/job\n0::/";
  who.files["/sys/fs/cgroup/cpuset/job/cpuset.effective_cpus"] = "0";
  EXPECT_EQ(setting(who, "Cpus_allowed_list").found, "0 of 0-3, by the control group");
}

TEST(DoctorSettings, OneNodeOfSeveralIsOneNode) {
  fake_system who;
  who.two_nodes();
  who.files["/proc/sys/kernel/numa_balancing"] = "1";
  who.files["/proc/sys/vm/zone_reclaim_mode"] = "1";
  who.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "[always] madvise never";
  EXPECT_EQ(setting(who, "numa_balancing").verdict, verdict::warning);
  EXPECT_EQ(setting(who, "zone_reclaim_mode").verdict, verdict::warning);
  EXPECT_THAT(setting(who, "transparent_huge_pages").found, HasSubstr("one touch places 2048 KiB"));
  who.allow("2-3", "2");
  EXPECT_EQ(setting(who, "numa_balancing").found, "1 (on, one node only)");
  EXPECT_EQ(setting(who, "zone_reclaim_mode").found, "1 (one node only)");
  EXPECT_EQ(setting(who, "transparent_huge_pages").found, "always");
  EXPECT_EQ(setting(who, "nodes_online").found,
            "0,2: this process may use memory of node 2 only, nothing to place here");
  who.files["/proc/sys/kernel/numa_balancing"] = "2";
  who.allow("0-3", "0,2");
  EXPECT_THAT(setting(who, "numa_balancing").found, HasSubstr("between memory tiers"));
}

TEST(DoctorSettings, NonsenseIsUnavailable) {
  fake_system who;
  for (const auto& [name, path] : std::vector<std::pair<std::string, std::string>>{
           {"numa_balancing", "/proc/sys/kernel/numa_balancing"},
           {"zone_reclaim_mode", "/proc/sys/vm/zone_reclaim_mode"},
           {"max_map_count", "/proc/sys/vm/max_map_count"},
           {"swappiness", "/proc/sys/vm/swappiness"},
           {"perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid"}}) {
    for (const char* const text : {"", "x", "1 2", "0x1", "99999999999999999999"}) {
      who.files[path] = text;
      EXPECT_EQ(setting(who, name).verdict, verdict::unavailable) << name << " " << text;
    }
    who.files[path] = "-3";
    EXPECT_EQ(setting(who, name).verdict == verdict::unavailable, name != "perf_event_paranoid");
  }
  who.allow("many", "0-");
  EXPECT_EQ(setting(who, "Cpus_allowed_list").verdict, verdict::unavailable);
  EXPECT_EQ(setting(who, "Mems_allowed_list").verdict, verdict::unavailable);
}

TEST(DoctorSettings, SwapSpaceIsShownBesideSwappiness) {
  fake_system who;
  who.two_nodes();
  who.files["/proc/sys/vm/swappiness"] = "60";
  EXPECT_EQ(setting(who, "swappiness").found, "60, swap space unavailable");
  who.files["/proc/meminfo"] = "MemTotal: 1024 kB\nSwapTotal:       0 kB\nSwapFree: 0 kB\n";
  EXPECT_EQ(setting(who, "swappiness").found, "60, without swap space");
  who.files["/proc/meminfo"] = "SwapTotal:    8388608 kB\n";
  EXPECT_THAT(setting(who, "swappiness").found, HasSubstr("60, 8192 MiB of swap space: memory"));
}

TEST(DoctorSettings, ReservedHugePagesOfEachNode) {
  fake_system who;
  who.two_nodes();
  EXPECT_EQ(setting(who, "reserved_huge_pages").verdict, verdict::unavailable);
  const auto reserve = [&](int node, const char* pages, const char* free) {
    const std::string folder =
        "/sys/devices/system/node/node" + std::to_string(node) + "/hugepages/hugepages-2048kB/";
    who.files[folder + "nr_hugepages"] = pages;
    who.files[folder + "free_hugepages"] = free;
  };
  reserve(0, "0", "0");
  reserve(2, "0", "0");
  EXPECT_EQ(setting(who, "reserved_huge_pages").found, "none");
  reserve(0, "8", "8");
  EXPECT_EQ(setting(who, "reserved_huge_pages").verdict, verdict::warning);
  EXPECT_THAT(setting(who, "reserved_huge_pages").found,
              HasSubstr("2048 KiB: 8 (8 free) on node 0, 0 (0 free) on node 2"));
  reserve(2, "8", "3");
  EXPECT_EQ(setting(who, "reserved_huge_pages").verdict, verdict::good);
}

TEST(DoctorSettings, VirtualisationByProcessorFlagAndFirmware) {
  fake_system who;
  who.files["/proc/cpuinfo"] = "processor\t: 0\nflags\t\t: fpu sse";
  EXPECT_EQ(read_settings(who).virtualisation, "none");
  who.files["/proc/cpuinfo"] = "processor\t: 0\nflags\t\t: fpu hypervisor sse";
  EXPECT_EQ(read_settings(who).virtualisation, "unnamed hypervisor");
  who.files["/sys/class/dmi/id/sys_vendor"] = "QEMU";
  EXPECT_EQ(read_settings(who).virtualisation, "QEMU");
  who.files["/proc/cpuinfo"] = "processor\t: 0\nFeatures\t: fp asimd";
  EXPECT_EQ(read_settings(who).virtualisation, std::nullopt) << "no flag to tell by";
}

TEST(DoctorSettings, HugePagesByTheWordInBrackets) {
  fake_system who;
  who.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "always [madvise] never";
  EXPECT_EQ(read_settings(who).thp, "madvise");
  who.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "]always[";
  EXPECT_EQ(read_settings(who).thp, std::nullopt);
}

TEST(DoctorMemoryLimit, LowestOfTheGroupsAbove) {
  fake_system who;
  who.files["/proc/self/cgroup"] = "0::/batch/job/step";
  who.files["/sys/fs/cgroup/batch/job/step/memory.max"] = "max";
  who.files["/sys/fs/cgroup/batch/job/memory.max"] = "1073741824";
  who.files["/sys/fs/cgroup/batch/memory.max"] = "4294967296";
  EXPECT_EQ(setting(who, "memory_limit").found, "1024 MiB (control group)");
  EXPECT_EQ(read_memory_limit(who).room_bytes, std::nullopt) << "nobody says what is used";
  who.files["/sys/fs/cgroup/batch/job/memory.current"] = "73741824";
  who.files["/sys/fs/cgroup/batch/memory.current"] = "3794967296";
  EXPECT_EQ(read_memory_limit(who).room_bytes, 500'000'000U) << "the group above is nearer to its";
  who.files["/sys/fs/cgroup/batch/job/memory.max"] = "max";
  who.files["/sys/fs/cgroup/batch/memory.max"] = "max";
  EXPECT_EQ(setting(who, "memory_limit").found, "none");
}

TEST(DoctorMemoryLimit, PageCacheOfTheGroupIsRoom) {
  fake_system who;
  const std::string job = "/sys/fs/cgroup/job";
  who.files["/proc/self/cgroup"] = "0::/job";
  who.files[job + "/memory.max"] = "1073741824";
  who.files[job + "/memory.current"] = "1073700864";
  EXPECT_EQ(read_memory_limit(who).room_bytes, 40960U) << "nobody says what is cache";
  who.files[job + "/memory.stat"] = "anon 300000\nfile 999\ninactive_file_x 7\n"
                                    "inactive_file 524288000\nactive_file 104857600\nshmem 4096";
  EXPECT_EQ(read_memory_limit(who).room_bytes, 40960U + 629'145'600U);
  EXPECT_EQ(setting(who, "memory_limit").found, "1024 MiB (control group), 600 MiB left");
  who.files[job + "/memory.current"] = "4096"; // read before the cache came
  EXPECT_EQ(read_memory_limit(who).room_bytes, 1'073'741'824U) << "never more than the limit";
  who.files[job + "/memory.current"] = "1073700864";
  for (const char* const nonsense :
       {"", "inactive_file 5", "inactive_file\nactive_file 5", "inactive_file -1\nactive_file 5",
        "inactive_file 18446744073709551615\nactive_file 18446744073709551615"}) {
    who.files[job + "/memory.stat"] = nonsense;
    EXPECT_EQ(read_memory_limit(who).room_bytes, 40960U) << nonsense;
  }
}

TEST(DoctorMemoryLimit, PageCacheOfVersionOneIsThatOfTheGroupsBelowToo) {
  fake_system who;
  who.files["/proc/self/cgroup"] = "5:cpu,memory:/j\n0::/";
  who.files["/sys/fs/cgroup/memory/j/memory.limit_in_bytes"] = "1000000";
  who.files["/sys/fs/cgroup/memory/j/memory.usage_in_bytes"] = "990000";
  who.files["/sys/fs/cgroup/memory/j/memory.stat"] =
      "inactive_file 1\nactive_file 2\ntotal_inactive_file 300000\ntotal_active_file 400000";
  EXPECT_EQ(read_memory_limit(who).room_bytes, 710'000U);
}

TEST(DoctorMemoryLimit, RootGroupAndVersionOne) {
  fake_system who;
  who.files["/proc/self/cgroup"] = "0::/";
  EXPECT_FALSE(read_memory_limit(who).readable);
  who.files["/sys/fs/cgroup/cgroup.controllers"] = "cpuset memory";
  EXPECT_TRUE(read_memory_limit(who).readable);
  EXPECT_FALSE(read_memory_limit(who).bytes);
  who.files["/proc/self/cgroup"] = "5:cpu,memory:/j\n0::/";
  who.files["/sys/fs/cgroup/memory/j/memory.limit_in_bytes"] = "9223372036854771712";
  EXPECT_FALSE(read_memory_limit(who).bytes) << "the largest number means none";
  who.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "4096";
  EXPECT_EQ(read_memory_limit(who).bytes, 4096U);
}

TEST(DoctorQuota, LowestOfTheGroupsAbove) {
  fake_system who;
  who.two_nodes();
  EXPECT_EQ(setting(who, "cpu_quota").verdict, verdict::unavailable);
  who.files["/proc/self/cgroup"] = "0::/pod/box";
  who.files["/sys/fs/cgroup/pod/box/cpu.max"] = "max 100000";
  EXPECT_EQ(setting(who, "cpu_quota").found, "none");
  who.files["/sys/fs/cgroup/pod/cpu.max"] = "250000 100000";
  EXPECT_EQ(setting(who, "cpu_quota").verdict, verdict::warning);
  EXPECT_THAT(setting(who, "cpu_quota").found, HasSubstr("2.5 processors' time"));
  who.allow("0-1", "0,2");
  EXPECT_EQ(setting(who, "cpu_quota").verdict, verdict::good) << "two threads never wait for it";
  who.files["/sys/fs/cgroup/pod/cpu.max"] = "100000 0";
  EXPECT_EQ(setting(who, "cpu_quota").found, "none") << "nonsense limits nothing";
  who.files["/proc/self/cgroup"] = "4:cpu,cpuacct:/box\n0::/";
  who.files["/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us"] = "-1";
  who.files["/sys/fs/cgroup/cpu/box/cpu.cfs_period_us"] = "100000";
  EXPECT_EQ(setting(who, "cpu_quota").found, "none");
  who.files["/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us"] = "50000";
  EXPECT_THAT(setting(who, "cpu_quota").found, HasSubstr("0.5 processors' time"));
}

TEST(DoctorLab, MissingProgramsAreWarnings) {
  fake_system who;
  surroundings bare = around(who);
  bare.find_program = [](const std::string&) { return std::nullopt; };
  const examination found = examine(bare);
  EXPECT_EQ(found.lab.front().verdict, verdict::warning);
  EXPECT_TRUE(found.has(verdict::warning));
  EXPECT_FALSE(found.has(verdict::bad));
}

TEST(DoctorHere, TheRealKernelAnswersEveryCall) {
  const auto calls = try_calls(surroundings::of_this_system());
  EXPECT_EQ(calls.size(), 14U);
  for (const finding& f : calls) {
    EXPECT_NE(f.verdict, verdict::unavailable) << f.name << ": " << f.found;
  }
}

} // namespace
} // namespace nodewise::doctor
