// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Machines that nobody has at hand, as trees of files.
#include "recorded_machines.hpp"

#include <sched.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

namespace nodewise::test {

namespace {

class tree {
 public:
  tree& cpu_file(const std::string& name, const std::string& text) {
    scratch_.write("sys/devices/system/cpu/" + name, text + "\n");
    return *this;
  }
  tree& node_file(const std::string& name, const std::string& text) {
    scratch_.write("sys/devices/system/node/" + name, text + "\n");
    return *this;
  }
  tree& node(int id, const std::string& cpus, unsigned long long kib, const std::string& distance) {
    const std::string prefix = "node" + std::to_string(id) + "/";
    return node_file(prefix + "cpulist", cpus)
        .node_file(prefix + "meminfo", "\nNode " + std::to_string(id) +
                                           " MemTotal:       " + std::to_string(kib) + " kB")
        .node_file(prefix + "distance", distance);
  }
  tree& file(const std::string& name, const std::string& text) {
    scratch_.write(name, text);
    return *this;
  }
  [[nodiscard]] topology read(sysfs_detail detail = sysfs_detail::all) const {
    return topology::from_sysfs(scratch_.path(), detail);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return scratch_.path(); }

 private:
  scratch_folder scratch_;
};

TEST(SysfsReader, ReadsNodesWithHighNumbersAndGaps) {
  tree machine;
  machine.cpu_file("online", "0-7").cpu_file("smt/active", "0").node_file("online", "7,63-64,1000");
  machine.node(7, "0-1", 1024, "10 21 21 21").node(63, "2-3", 1024, "21 10 21 21");
  machine.node(64, "4-7", 1024, "21 21 10 31").node(1000, "", 2048, "21 21 31 10");
  const topology read = machine.read();
  EXPECT_EQ(read.machine().node_ids().to_string(), "7,63-64,1000");
  EXPECT_EQ(read.allowed_nodes().to_string(), "7,63-64,1000");
  EXPECT_EQ(read.memory_nodes().to_string(), "7,63-64,1000");
  EXPECT_EQ(read.distance(node_id{64}, node_id{1000}), 31);
  EXPECT_EQ(read.distance(node_id{7}, node_id{8}), std::nullopt);
  EXPECT_EQ(read.node_of(cpu_id{5}), node_id{64});
  EXPECT_EQ(read.domains().size(), 3U);
  EXPECT_EQ(read.machine().cores.size(), 8U);
}

TEST(SysfsReader, IgnoresNodesThatAreMerelyPossible) {
  tree machine;
  machine.cpu_file("online", "0").cpu_file("smt/active", "0");
  machine.node_file("possible", "0-255").node_file("online", "1").node(1, "0", 4, "20 10");
  EXPECT_EQ(machine.read().machine().node_ids().to_string(), "1");
}

TEST(SysfsReader, ReadsNodesWithoutMemory) {
  tree machine;
  machine.cpu_file("online", "0-1").cpu_file("smt/active", "0").node_file("online", "0-1");
  machine.node(0, "0", 0, "10 20").node(1, "1", 4, "20 10");
  const topology read = machine.read();
  EXPECT_EQ(read.memory_nodes().to_string(), "1");
  EXPECT_EQ(read.domains().size(), 2U);
}

TEST(SysfsReader, LeavesOfflineProcessorsOut) {
  tree machine;
  machine.cpu_file("online", "1-2").cpu_file("smt/active", "0").node_file("online", "0");
  machine.node(0, "0-3", 4, "10");
  EXPECT_EQ(machine.read().machine().nodes.front().cpus.to_string(), "1-2");
  EXPECT_EQ(machine.read().machine().cpus().to_string(), "1-2");
}

TEST(SysfsReader, ReadsMoreThan1024Processors) {
  tree machine;
  machine.cpu_file("online", "0-4095").cpu_file("smt/active", "0").node_file("online", "0-1");
  machine.node(0, "0-2047", 4, "10 20").node(1, "2048-4095", 4, "20 10");
  const topology read = machine.read();
  EXPECT_EQ(read.machine().cpus().size(), 4096U);
  EXPECT_EQ(read.node_of(cpu_id{4095}), node_id{1});
  EXPECT_EQ(read.places(place_kind::cores).size(), 4096U);
}

TEST(SysfsReader, ReadsCoresFromSiblingsOnceACore) {
  tree machine;
  machine.cpu_file("online", "0-3").cpu_file("smt/active", "1").node_file("online", "0");
  machine.node(0, "0-3", 4, "10");
  // Processors 2 and 3 have no files: the reader must not need them.
  machine.cpu_file("cpu0/topology/thread_siblings", "00000000,00000005");
  machine.cpu_file("cpu1/topology/core_cpus", "a");
  const topology read = machine.read(sysfs_detail::cores);
  ASSERT_EQ(read.machine().cores.size(), 2U);
  EXPECT_EQ(read.machine().cores[0].cpus.to_string(), "0,2");
  EXPECT_EQ(read.machine().cores[1].cpus.to_string(), "1,3");
}

TEST(SysfsReader, GivesAKernelWithoutNumaOneNode) {
  tree machine;
  machine.cpu_file("online", "0-3").cpu_file("smt/active", "0");
  machine.file("proc/meminfo", "MemTotal:        2048 kB\nMemFree: 1 kB\n");
  const topology read = machine.read();
  ASSERT_EQ(read.machine().nodes.size(), 1U);
  EXPECT_EQ(read.machine().nodes.front().id, node_id{0});
  EXPECT_EQ(read.machine().nodes.front().cpus.to_string(), "0-3");
  EXPECT_EQ(read.machine().nodes.front().memory_bytes, 2048U * 1024U);
  EXPECT_FALSE(read.machine().notes.empty());
}

TEST(SysfsReader, HonoursTheRecordedProcess) {
  tree machine;
  machine.cpu_file("online", "0-3").cpu_file("smt/active", "0").node_file("online", "0-1");
  machine.node(0, "0-1", 4, "10 20").node(1, "2-3", 4, "20 10");
  machine.file("proc/self/status",
               "Name:\tcat\nCpus_allowed:\tf\nCpus_allowed_list:\t1-200\nMems_allowed_list:\t1\n");
  EXPECT_EQ(machine.read().allowed_cpus().to_string(), "1-3");
  EXPECT_EQ(machine.read().allowed_nodes().to_string(), "1");
}

TEST(SysfsReader, SaysWhyItLeavesDistancesOut) {
  tree machine;
  machine.cpu_file("online", "0-1").cpu_file("smt/active", "0").node_file("online", "0-1");
  machine.node(0, "0", 4, "10 20").node(1, "1", 4, "20");
  EXPECT_TRUE(machine.read().machine().distances.empty());
  EXPECT_EQ(machine.read().machine().notes.size(), 1U);
  machine.node(1, "1", 4, "20 30");
  EXPECT_TRUE(machine.read().machine().distances.empty());
  EXPECT_EQ(machine.read().machine().notes.size(), 1U);
}

TEST(SysfsReader, RefusesWhatIsNoTree) {
  const scratch_folder empty;
  try {
    (void)topology::from_sysfs(empty.path());
    FAIL() << "an empty folder is no machine";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_EQ(e.errno_value(), ENOENT);
  }
}

TEST(SysfsReader, NamesTheFileThatIsNonsense) {
  for (const char* const nonsense : {"zero", "0-", "3-1", "0,,1", "99999999999", "-1"}) {
    tree machine;
    machine.cpu_file("online", "0").cpu_file("smt/active", "0").node_file("online", nonsense);
    try {
      (void)machine.read();
      FAIL() << nonsense;
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::input);
      EXPECT_NE(std::string(e.asked()).find("node/online"), std::string::npos) << e.what();
    }
  }
}

/// The affinity mask of this thread, put back at the end.
class kept_affinity {
 public:
  kept_affinity() { ::sched_getaffinity(0, sizeof kept_, &kept_); }
  kept_affinity(const kept_affinity&) = delete;
  kept_affinity& operator=(const kept_affinity&) = delete;
  ~kept_affinity() { ::sched_setaffinity(0, sizeof kept_, &kept_); }

 private:
  cpu_set_t kept_{};
};

TEST(ThisProcess, MayUseWhatItsAffinityMaskAllows) {
  const kept_affinity keep;
  const cpu_id last{topology::from_sysfs().allowed_cpus().highest()};
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(to_int(last)), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(topology::from_sysfs().allowed_cpus(), cpu_set{last});
  EXPECT_EQ(topology::system().allowed_cpus(), cpu_set{last});
  EXPECT_EQ(topology::from_sysfs().domains().size(), 1U);
}

} // namespace

} // namespace nodewise::test
