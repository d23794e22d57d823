// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/examine.hpp"
#include "doctor/settings.hpp"
#include "unit/fake_kernel.hpp"

namespace nodewise::doctor {
namespace {

using testing::HasSubstr;

/// A machine on which everything is permitted until a test refuses something.
class patient : public test::fake_kernel {
 public:
  patient() : fake_kernel({node_id{0}, node_id{2}}, 4096, std::size_t{2} << 20) {}

  int map_errno = 0;

  sys::answer<void*> map(std::size_t, sys::access, int) override {
    return {map_errno == 0 ? test::fake_range(1).data() : nullptr, map_errno};
  }
  int set_mempolicy(sys::policy, const node_set&) override { return refused("set_mempolicy"); }
  sys::answer<sys::policy> get_mempolicy() override { return {{}, refused("get_mempolicy")}; }
  sys::answer<cpu_set> get_affinity(int) override {
    return {{cpu_id{0}}, refused("sched_getaffinity")};
  }
  int set_affinity(int, const cpu_set&) override { return refused("sched_setaffinity"); }

 private:
  [[nodiscard]] int refused(const char* call) const {
    const auto at = refuse.find(call);
    return at == refuse.end() ? 0 : at->second;
  }
};

surroundings around(patient& who) {
  return {&who, [] { return 0; }, [] { return 0; },
          [](const std::string& name) { return std::optional("/usr/bin/" + name); }};
}

const finding& named(const std::vector<finding>& all, const std::string& name) {
  for (const finding& f : all) {
    if (f.name == name) {
      return f;
    }
  }
  throw std::out_of_range("no finding " + name);
}

finding setting(patient& who, const std::string& name) {
  return named(examine_settings(who), name);
}

TEST(DoctorCalls, AllPermitted) {
  patient well;
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
      patient ill;
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
  patient ill;
  ill.refuse["mbind"] = EPERM;
  EXPECT_THAT(named(try_calls(around(ill)), "mbind").cure, HasSubstr("--cap-add SYS_NICE"));
  surroundings with_counters_refused = around(ill);
  with_counters_refused.open_fault_counter = [] { return EACCES; };
  const finding f = named(try_calls(with_counters_refused), "perf_event_open");
  EXPECT_EQ(f.verdict, verdict::warning) << "a run can do without";
  EXPECT_THAT(f.cure, HasSubstr("PERFMON"));
}

TEST(DoctorCalls, WhatCouldNotBeTriedIsNeitherGoodNorBad) {
  patient ill;
  ill.map_errno = ENOMEM;
  const auto calls = try_calls(around(ill));
  EXPECT_EQ(named(calls, "mbind").verdict, verdict::unavailable);
  EXPECT_THAT(named(calls, "mbind").found, HasSubstr("ENOMEM"));
  EXPECT_EQ(named(calls, "set_mempolicy").verdict, verdict::good);
}

TEST(DoctorSettings, WhatCannotBeReadIsUnavailable) {
  patient blind;
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
  patient who;
  who.files["/proc/sys/kernel/numa_balancing"] = "1";
  who.files["/sys/devices/system/node/online"] = "0,2";
  EXPECT_EQ(setting(who, "numa_balancing").verdict, verdict::warning);
  who.files["/sys/devices/system/node/online"] = "0";
  EXPECT_EQ(setting(who, "numa_balancing").verdict, verdict::good);
  who.files["/proc/sys/kernel/numa_balancing"] = "nonsense";
  EXPECT_EQ(setting(who, "numa_balancing").verdict, verdict::unavailable);
}

TEST(DoctorSettings, TheCpusetIsShownBesideWhatThereIs) {
  patient who;
  who.files["/proc/self/status"] = "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\n"
                                   "Mems_allowed_list:\t2\n";
  who.files["/sys/devices/system/cpu/online"] = "0-7";
  who.files["/sys/devices/system/node/online"] = "0,2";
  EXPECT_EQ(setting(who, "Cpus_allowed_list").found, "0-3 of 0-7");
  EXPECT_EQ(setting(who, "Mems_allowed_list").found, "2 of 0,2");
}

TEST(DoctorSettings, AFullNodeIsAWarning) {
  patient who;
  who.files["/sys/devices/system/node/online"] = "0,2";
  who.files["/sys/devices/system/node/has_memory"] = "0,2";
  who.files["/sys/devices/system/node/node0/meminfo"] =
      "Node 0 MemTotal:       1048576 kB\nNode 0 MemFree:        524288 kB\n"
      "Node 0 FilePages:         1024 kB\n";
  who.files["/sys/devices/system/node/node2/meminfo"] =
      "Node 2 MemTotal:       1048576 kB\nNode 2 MemFree:          2048 kB\n"
      "Node 2 FilePages:       921600 kB\n";
  EXPECT_EQ(setting(who, "free_memory_node_0").found, "512 MiB of 1024 MiB, page cache 1 MiB");
  const finding full = setting(who, "free_memory_node_2");
  EXPECT_EQ(full.verdict, verdict::warning);
  EXPECT_THAT(full.found, HasSubstr("2 MiB of 1024 MiB, page cache 900 MiB"));
}

TEST(DoctorSettings, VirtualisationByProcessorFlagAndFirmware) {
  patient who;
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
  patient who;
  who.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "always [madvise] never";
  EXPECT_EQ(read_settings(who).thp, "madvise");
  who.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "]always[";
  EXPECT_EQ(read_settings(who).thp, std::nullopt);
}

TEST(DoctorMemoryLimit, LowestOfTheGroupsAbove) {
  patient who;
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

TEST(DoctorMemoryLimit, RootGroupAndVersionOne) {
  patient who;
  who.files["/proc/self/cgroup"] = "0::/";
  EXPECT_FALSE(read_memory_limit(who).readable);
  who.files["/sys/fs/cgroup/cgroup.controllers"] = "cpuset memory";
  EXPECT_TRUE(read_memory_limit(who).readable);
  EXPECT_FALSE(read_memory_limit(who).limited);
  who.files["/proc/self/cgroup"] = "5:cpu,memory:/j\n0::/";
  who.files["/sys/fs/cgroup/memory/j/memory.limit_in_bytes"] = "9223372036854771712";
  EXPECT_FALSE(read_memory_limit(who).limited) << "the largest number means none";
  who.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "4096";
  EXPECT_EQ(read_memory_limit(who).bytes, 4096U);
}

TEST(DoctorLab, MissingProgramsAreWarnings) {
  patient who;
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
