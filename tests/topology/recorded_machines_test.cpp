// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Every recorded machine, read by hwloc, against stored expectations; and these against what
// hwloc's own tools say of the same file.
#include "recorded_machines.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include "topology/export_xml.hpp"

namespace nodewise::test {

namespace {

class RecordedMachine : public testing::TestWithParam<recorded_machine> {
 protected:
  /// A command line that makes a tool of hwloc look at this machine.
  [[nodiscard]] static std::string tool(const std::string& name, const std::string& arguments) {
    const recorded_machine& machine = GetParam();
    const std::string path = "'" + machine.path.string() + "'";
    return machine.is_tree
               ? "HWLOC_FSROOT=" + path + " HWLOC_COMPONENTS=linux,stop " + name + " " + arguments
               : name + " -i " + path + " " + arguments;
  }
};

INSTANTIATE_TEST_SUITE_P(Machines, RecordedMachine, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

TEST_P(RecordedMachine, HasTheNodesProcessorsCoresAndPackagesItHad) {
  const topology read = GetParam().load();
  const machine& found = read.machine();
  EXPECT_EQ(found.node_ids().to_string(), GetParam().nodes.to_string());
  EXPECT_EQ(found.cpus().to_string(), GetParam().cpus.to_string());
  EXPECT_EQ(found.cores.size(), GetParam().cores);
  EXPECT_EQ(found.packages.size(), GetParam().packages);
  EXPECT_EQ(read.allowed_cpus().to_string(), GetParam().allowed_cpus.to_string());
  EXPECT_EQ(read.allowed_nodes().to_string(), GetParam().allowed_nodes.to_string());
}

TEST_P(RecordedMachine, GivesProcessorsToOneNodeEachAndNoneToMemoryOnlyNodes) {
  const topology read = GetParam().load();
  cpu_set claimed;
  node_set memory_only;
  for (const memory_node& node : read.machine().nodes) {
    EXPECT_FALSE(claimed.intersects(node.cpus)) << to_int(node.id);
    claimed = claimed | node.cpus;
    if (node.cpus.empty()) {
      memory_only.insert(node.id);
    }
  }
  EXPECT_EQ(memory_only.to_string(), GetParam().memory_only.to_string());
}

TEST_P(RecordedMachine, IsWhatTheToolsOfHwlocSay) {
  if (std::string(NODEWISE_LSTOPO).empty() || std::string(NODEWISE_HWLOC_CALC).empty()) {
    GTEST_SKIP() << "hwloc's tools are not installed (package hwloc-nox)";
  }
  // hwloc-calc knows the nodes of processors only; lstopo lists all.
  node_set nodes;
  std::istringstream listed(output_of(tool(NODEWISE_LSTOPO, "--disallowed -p --only NUMANode")));
  for (std::string line; std::getline(listed, line);) {
    nodes.insert(node_id{std::stoi(line.substr(line.find("P#") + 2))});
  }
  EXPECT_EQ(nodes.to_string(), GetParam().nodes.to_string());

  const auto list = [](const char* options) {
    return cpu_set::parse(output_of(tool(NODEWISE_HWLOC_CALC, options))).to_string();
  };
  EXPECT_EQ(list("--disallowed --po -I pu all"), GetParam().cpus.to_string());
  EXPECT_EQ(list("--po -I pu all"), GetParam().allowed_cpus.to_string());
}

TEST_P(RecordedMachine, SurvivesExportAsXml) {
  using namespace topology_detail;
  const recorded_machine& machine = GetParam();
  const hwloc_source source = machine.is_tree ? hwloc_source(sysfs_tree{machine.path})
                                              : hwloc_source(xml_file{machine.path});
  const scratch_folder scratch;
  const topology again = topology::from_xml(scratch.write("again.xml", export_xml(source)));
  const topology once = machine.load();
  EXPECT_EQ(again.machine().node_ids(), once.machine().node_ids());
  EXPECT_EQ(again.machine().cpus(), once.machine().cpus());
  EXPECT_EQ(again.machine().distances, once.machine().distances);
  EXPECT_EQ(again.allowed_cpus(), once.allowed_cpus());
  EXPECT_EQ(again.machine().caches.size(), once.machine().caches.size());
}

} // namespace

} // namespace nodewise::test
