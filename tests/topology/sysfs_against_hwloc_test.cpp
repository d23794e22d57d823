// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The small reader must not tell another machine than hwloc does.
//
// Where both tell something of a machine they agree on every recorded tree; there is no table of
// exceptions. What the small reader does not tell at all: kinds of memory, caches, devices, the
// figures of an HMAT. What it would tell otherwise, and no recorded tree shows: cores of AMD's
// family 15h, where hwloc splits the "threads" of a module into cores.
#include "recorded_machines.hpp"

#include <gtest/gtest.h>

namespace nodewise::test {

namespace {

template <class Parts>
std::string sets_of(const Parts& parts) {
  std::string text;
  for (const auto& part : parts) {
    text += part.cpus.to_string() + " | ";
  }
  return text;
}

std::string nodes_of(const machine& machine) {
  std::string text;
  for (const memory_node& node : machine.nodes) {
    text += std::to_string(to_int(node.id)) + ": " + node.cpus.to_string() + " | ";
  }
  return text;
}

std::string memory_of(const machine& machine) {
  std::string text;
  for (const memory_node& node : machine.nodes) {
    text += std::to_string(node.memory_bytes) + " B | ";
  }
  return text;
}

std::vector<int> package_ids(const machine& machine) {
  std::vector<int> ids;
  for (const package& each : machine.packages) {
    ids.push_back(each.id);
  }
  return ids;
}

void expect_agreement(const topology& small, const topology& hwloc) {
  EXPECT_EQ(nodes_of(small.machine()), nodes_of(hwloc.machine()));
  EXPECT_EQ(small.machine().cpus().to_string(), hwloc.machine().cpus().to_string());
  EXPECT_EQ(sets_of(small.machine().cores), sets_of(hwloc.machine().cores));
  EXPECT_EQ(sets_of(small.machine().packages), sets_of(hwloc.machine().packages));
  EXPECT_EQ(package_ids(small.machine()), package_ids(hwloc.machine()));
  EXPECT_EQ(small.machine().distances, hwloc.machine().distances);
  EXPECT_EQ(small.allowed_cpus().to_string(), hwloc.allowed_cpus().to_string());
  EXPECT_EQ(small.allowed_nodes().to_string(), hwloc.allowed_nodes().to_string());
}

class RecordedTree : public testing::TestWithParam<recorded_machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, RecordedTree, testing::ValuesIn(recorded_trees()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

TEST_P(RecordedTree, IsTheSameMachineForBothReaders) {
  const topology small = topology::from_sysfs(GetParam().path);
  const topology hwloc = topology::from_sysfs_by_hwloc(GetParam().path);
  expect_agreement(small, hwloc);
  EXPECT_EQ(memory_of(small.machine()), memory_of(hwloc.machine()));
}

TEST_P(RecordedTree, IsTheSameInEveryDetailThatIsRead) {
  const topology all = topology::from_sysfs(GetParam().path, sysfs_detail::all);
  const topology cores = topology::from_sysfs(GetParam().path, sysfs_detail::cores);
  const topology nodes = topology::from_sysfs(GetParam().path, sysfs_detail::nodes);
  EXPECT_EQ(nodes_of(nodes.machine()), nodes_of(all.machine()));
  EXPECT_EQ(memory_of(nodes.machine()), memory_of(all.machine()));
  EXPECT_EQ(nodes.allowed_nodes(), all.allowed_nodes());
  EXPECT_TRUE(all.allowed_cpus().includes(nodes.allowed_cpus()));
  EXPECT_EQ(sets_of(cores.machine().cores), sets_of(all.machine().cores));
  EXPECT_EQ(cores.allowed_cpus(), all.allowed_cpus());
}

// But for the sizes of memory: a virtual machine's may change between two looks.
TEST(ThisMachine, IsTheSameForBothReaders) {
  expect_agreement(topology::from_sysfs(), topology::system());
}

} // namespace

} // namespace nodewise::test
