// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "recorded_machines.hpp"

#include <cstdlib>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "topology/machine_json.hpp"

namespace nodewise::test {

namespace {

topology again(const topology& once) {
  // Through text, as a file would.
  const auto document = parse_json(topology_json(once).dump(2), "a test");
  return topology_from_json(json_field(document, "a test"));
}

class RecordedMachineJson : public testing::TestWithParam<recorded_machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, RecordedMachineJson, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

TEST_P(RecordedMachineJson, ReadsBackWhatItWrote) {
  const topology once = GetParam().load();
  const topology twice = again(once);
  const machine& a = once.machine();
  const machine& b = twice.machine();
  EXPECT_EQ(b.name, a.name);
  EXPECT_EQ(b.title, a.title);
  EXPECT_EQ(b.notes, a.notes);
  EXPECT_EQ(b.distances, a.distances);
  EXPECT_EQ(b.node_ids(), a.node_ids());
  EXPECT_EQ(b.cpus(), a.cpus());
  EXPECT_EQ(b.cores.size(), a.cores.size());
  EXPECT_EQ(b.parameters.size(), a.parameters.size());
  EXPECT_EQ(b.devices.size(), a.devices.size());
  EXPECT_EQ(twice.allowed_cpus(), once.allowed_cpus());
  EXPECT_EQ(twice.allowed_nodes(), once.allowed_nodes());
  ASSERT_EQ(b.caches.size(), a.caches.size());
  for (std::size_t i = 0; i < a.caches.size(); ++i) {
    EXPECT_EQ(b.caches[i].cpus, a.caches[i].cpus);
    EXPECT_EQ(b.caches[i].size_bytes, a.caches[i].size_bytes);
  }
  EXPECT_EQ(topology_json(twice), topology_json(once));
}

TEST_P(RecordedMachineJson, IsAlsoAMachineFile) {
  const topology once = GetParam().load();
  const auto document = machine_json(once.machine());
  const topology read = topology_from_json(json_field(document, "a test"));
  EXPECT_EQ(machine_json(read.machine()), document);
  EXPECT_EQ(read.allowed_cpus(), once.machine().cpus());
}

/// The exit status of the checker: 0 if all files of the folder keep to the schema, 77 if there is
/// no checker.
int check_folder(const std::filesystem::path& folder, const std::string& schema) {
  const std::string command = "python3 '" NODEWISE_TEST_VALIDATOR "' '" NODEWISE_TEST_SCHEMAS "/" +
                              schema + "' '" + folder.string() + "'/*.json";
  return WEXITSTATUS(std::system(command.c_str())); // NOLINT(cert-env33-c): a fixed command
}

TEST(MachineJson, KeepsToItsSchema) {
  const scratch_folder topologies;
  const scratch_folder machines;
  for (const recorded_machine& each : recorded_machines()) {
    const topology machine = each.load();
    topologies.write(each.name + ".json", topology_json(machine).dump());
    machines.write(each.name + ".json", machine_json(machine.machine()).dump());
  }
  const int status = check_folder(topologies.path(), "topology-1.json");
  if (status == 77) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(check_folder(machines.path(), "machine-1.json"), 0);
  // And the checker does check.
  machines.write("wrong.json", R"({"schema": "nodewise/machine/1", "nodes": [{"id": -1}]})");
  EXPECT_EQ(check_folder(machines.path(), "machine-1.json"), 1);
}

topology read_text(std::string_view text) {
  const auto document = parse_json(text, "a test");
  return topology_from_json(json_field(document, "a test"));
}

TEST(MachineFile, NeedsLittleMoreThanItsNodes) {
  const topology read = read_text(
      R"({"schema": "nodewise/machine/1", "nodes": [{"id": 3, "cpus": "0-1", "memory_bytes": 0}]})");
  EXPECT_EQ(read.machine().node_ids().to_string(), "3");
  EXPECT_EQ(read.machine().cores.size(), 2U);
  EXPECT_EQ(read.machine().nodes.front().kind, memory_kind::unknown);
  EXPECT_TRUE(read.memory_nodes().empty());
}

constexpr const char* by_hand = R"({
  "schema": "nodewise/machine/1", "name": "two", "threads_per_core": 2, "_comment": "ours",
  "nodes": [{"id": 4, "cpus": "4-7", "memory_bytes": 2048, "kind": "dram"},
            {"id": 1, "cpus": "0-3", "memory_bytes": 1024},
            {"id": 9, "cpus": "", "memory_bytes": 4096, "kind": "cxl"},
            {"id": 2, "cpus": "", "memory_bytes": 0}],
  "distances": [[10, 21, 31, 41], [22, 10, 32, 42], [33, 34, 10, 43], [51, 52, 53, 10]],
  "caches": [{"level": 3, "size_bytes": 8, "shared_by": "node"},
             {"level": 1, "kind": "data", "size_bytes": 4, "line_bytes": 64, "ways": 8, "shared_by": "core"}],
  "parameters": [{"name": "bandwidth", "from": 1, "to": 9, "value": 8.219, "unit": "GB/s", "source": "TBB20"}],
  "lab": {"memory_bytes_per_node": [40, 10, 90, 20], "offline_nodes": [2]}
})";

TEST(MachineFile, MayListNodesInAnyOrder) {
  const topology read = read_text(by_hand);
  const machine& machine = read.machine();
  EXPECT_EQ(machine.node_ids().to_string(), "1-2,4,9");
  EXPECT_EQ(machine.nodes.front().id, node_id{1});
  EXPECT_EQ(machine.distance(node_id{4}, node_id{1}), 21);
  EXPECT_EQ(machine.distance(node_id{1}, node_id{4}), 22);
  EXPECT_EQ(machine.distance(node_id{9}, node_id{2}), 43);
  EXPECT_EQ(machine.distance(node_id{2}, node_id{9}), 53);
  const std::vector<std::uint64_t> memory{10, 0, 40, 90};
  EXPECT_EQ(machine.lab.memory_bytes, memory);
  EXPECT_EQ(machine.lab.offline_nodes.to_string(), "2");
}

TEST(MachineFile, DealsOutCoresAndCaches) {
  const topology read = read_text(by_hand);
  ASSERT_EQ(read.machine().cores.size(), 4U);
  EXPECT_EQ(read.machine().cores[3].cpus.to_string(), "6-7");
  ASSERT_EQ(read.machine().caches.size(), 6U);
  EXPECT_EQ(read.machine().caches.front().level, 1);
  EXPECT_EQ(read.machine().caches.front().cpus.to_string(), "0-1");
  EXPECT_EQ(read.machine().caches.back().cpus.to_string(), "4-7");
}

TEST(MachineFile, ReadsBackItsNormalForm) {
  const topology read = read_text(by_hand);
  const auto document = machine_json(read.machine());
  EXPECT_EQ(machine_json(read_text(document.dump()).machine()), document);
}

TEST(MachineFile, OfOneFigureGivesEveryNodeThatHasMemoryAsMuch) {
  const topology read = read_text(R"({"schema": "nodewise/machine/1",
    "nodes": [{"id": 0, "cpus": "0", "memory_bytes": 1}, {"id": 1, "cpus": "1", "memory_bytes": 0}],
    "lab": {"memory_bytes_per_node": 7}})");
  const std::vector<std::uint64_t> memory{7, 0};
  EXPECT_EQ(read.machine().lab.memory_bytes, memory);
}

TEST(MachineFile, TakesItsNameFromTheFileIfItHasNone) {
  const scratch_folder scratch;
  const auto file = scratch.write(
      "mine.json",
      R"({"schema": "nodewise/machine/1", "nodes": [{"id": 0, "cpus": "0", "memory_bytes": 1}]})");
  EXPECT_EQ(topology::from_json(file).machine().name, "mine");
}

TEST(MachineJson, WritesBytesThatAreNoTextAsReplacements) {
  machine odd;
  odd.name = "host\xff";
  odd.nodes = {{node_id{0}, cpu_set{cpu_id{0}}}};
  odd.cores = {{cpu_set{cpu_id{0}}}};
  EXPECT_EQ(read_text(machine_json(odd).dump()).machine().name, "host\xef\xbf\xbd");
}

TEST(MachineJson, KeepsWhatIsNotAllowed) {
  machine all;
  all.nodes = {{node_id{0}, cpu_set::parse("0-1"), 1}, {node_id{1}, cpu_set::parse("2-3"), 1}};
  const topology once(all, cpu_set::parse("1"), {node_id{0}});
  const topology twice = again(once);
  EXPECT_EQ(twice.machine().cpus().to_string(), "0-3");
  EXPECT_EQ(twice.allowed_cpus().to_string(), "1");
  EXPECT_EQ(twice.allowed_nodes().to_string(), "0");
}

} // namespace

} // namespace nodewise::test
