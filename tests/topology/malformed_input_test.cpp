// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Broken files and specifications: each an error that says where, none a crash or half a machine.
#include "recorded_machines.hpp"

#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "topology/machine_json.hpp"

/// hwloc 2.9 leaks the objects it had when XML ends early; the leak checker asks for this by name.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() { // NOLINT(bugprone-reserved-identifier)
  return "leak:libhwloc";
}

namespace nodewise::test {

namespace {

struct broken {
  const char* name;
  std::string text;
  const char* complaint; ///< what the answer must contain: a path and a reason
};

void PrintTo(const broken& each, std::ostream* out) {
  *out << each.name;
}

void expect_xml_refused(const std::filesystem::path& file, const char* complaint) {
  try {
    (void)topology::from_xml(file);
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_NE(e.answered().find(complaint), std::string::npos) << e.what();
    EXPECT_NE(e.asked().find(file.string()), std::string::npos) << e.what();
  }
}

std::string machine_with(const std::string& fields) {
  return R"({"schema": "nodewise/machine/1", "nodes": [{"id": 0, "cpus": "0-3", "memory_bytes": 1}, )"
         R"({"id": 1, "cpus": "4-7", "memory_bytes": 0}])" +
         (fields.empty() ? "" : ", " + fields) + "}";
}

std::string nodes(const std::string& list) {
  return R"({"schema": "nodewise/machine/1", "nodes": )" + list + "}";
}

std::string topology_with(const std::string& fields) {
  return R"({"schema": "nodewise/topology/1", "machine": )" + machine_with("") + ", " + fields +
         "}";
}

/// "_0": 0, "_1": 0, ...
std::string many_fields(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "\"_" : ", \"_") + std::to_string(i) + "\": 0";
  }
  return text;
}

std::string list_of(int count, const std::string& element) {
  std::string text = "[" + element;
  for (int i = 1; i < count; ++i) {
    text += "," + element;
  }
  return text + "]";
}

std::vector<broken> broken_machine_files() {
  return {
      {"empty", "", "not JSON: "},
      {"no_json", "nodes: 2", "not JSON: "},
      {"cut_short", machine_with("").substr(0, 60), "not JSON: "},
      {"trailing_text", machine_with("") + "}", "not JSON: "},
      {"not_utf8", machine_with("\"name\": \"\xc3\x28\""), "not JSON: "},
      {"zero_bytes", std::string(10, '\0'), "not JSON: "},
      {"not_an_object", "[1, 2]", "a list instead of an object"},
      {"deep_nesting", std::string(100000, '['), "64 levels"},
      {"deep_objects", machine_with("\"_x\": " + std::string(200, '[') + std::string(200, ']')),
       "64 levels"},
      {"field_twice", machine_with(R"("name": "a", "name": "b")"), "'name' is given twice"},
      {"field_twice_among_many", machine_with(many_fields(100) + R"(, "_17": 0)"),
       "'_17' is given twice"},
      {"too_many_nodes", nodes(list_of(1025, "0")), "nodes: a list of 1025"},
      {"too_many_parts", machine_with("\"devices\": " + list_of(65537, "{}")),
       "devices: a list of 65537"},
      {"no_schema", R"({"nodes": []})", "'schema'"},
      {"schema_is_no_text", R"({"schema": 1, "nodes": []})", "schema: the number 1"},
      {"other_schema", R"({"schema": "nodewise/plan/1", "nodes": []})",
       "schema: 'nodewise/plan/1' is another kind"},
      {"newer_schema", R"({"schema": "nodewise/machine/2", "nodes": []})", "newer version"},
      {"newer_topology", R"({"schema": "nodewise/topology/9", "machine": {}})", "newer version"},
      {"unknown_field", machine_with(R"("distance": [[10, 20], [20, 10]])"), "'distance'"},
      {"no_nodes_field", R"({"schema": "nodewise/machine/1"})", "'nodes'"},
      {"no_nodes", nodes("[]"), "nodes: no node"},
      {"nodes_no_list", nodes("{}"), "nodes: an object instead of a list"},
      {"node_no_object", nodes("[3]"), "nodes[0]: the number 3"},
      {"no_processor", nodes(R"([{"id": 0, "cpus": "", "memory_bytes": 1}])"),
       "nodes: no node has a processor"},
      {"no_cpus", nodes(R"([{"id": 0, "memory_bytes": 1}])"),
       "nodes[0]: the field 'cpus' is missing"},
      {"no_memory", nodes(R"([{"id": 0, "cpus": "0"}])"),
       "nodes[0]: the field 'memory_bytes' is missing"},
      {"no_id", nodes(R"([{"cpus": "0"}])"), "nodes[0]: the field 'id' is missing"},
      {"negative_id", nodes(R"([{"id": -1, "cpus": "0"}])"), "nodes[0].id: the number -1"},
      {"huge_id", nodes(R"([{"id": 99999999999999999999, "cpus": "0"}])"), "nodes[0].id"},
      {"id_beyond_limit", nodes(R"([{"id": 1048576, "cpus": "0"}])"),
       "nodes[0].id: the number 1048576"},
      {"fractional_id", nodes(R"([{"id": 0.5, "cpus": "0"}])"), "nodes[0].id: the number 0.5"},
      {"id_as_text", nodes(R"([{"id": "0", "cpus": "0"}])"), "nodes[0].id: the text '0'"},
      {"id_twice", nodes(R"([{"id": 0, "cpus": "0", "memory_bytes": 1}, {"id": 0, "cpus": "1"}])"),
       "nodes[1].id: node 0 is listed twice"},
      {"cpus_twice",
       nodes(R"([{"id": 0, "cpus": "0-3", "memory_bytes": 1}, {"id": 1, "cpus": "2-5"}])"),
       "nodes[1].cpus: the processors 2-3"},
      {"cpus_no_list", nodes(R"([{"id": 0, "cpus": "0-"}])"), "nodes[0].cpus: a number is missing"},
      {"cpus_too_high", nodes(R"([{"id": 0, "cpus": "0-99999999"}])"),
       "nodes[0].cpus: a number above"},
      {"cpus_above_all_machines", nodes(R"([{"id": 0, "cpus": "65536", "memory_bytes": 1}])"),
       "nodes[0].cpus: a number above 65535"},
      {"cpus_a_number", nodes(R"([{"id": 0, "cpus": 4}])"), "nodes[0].cpus: the number 4"},
      {"memory_negative", nodes(R"([{"id": 0, "cpus": "0", "memory_bytes": -5}])"),
       "nodes[0].memory_bytes"},
      {"memory_float", nodes(R"([{"id": 0, "cpus": "0", "memory_bytes": 1e9}])"),
       "nodes[0].memory_bytes"},
      {"memory_overflow",
       nodes(R"([{"id": 0, "cpus": "0", "memory_bytes": 18446744073709551616}])"),
       "nodes[0].memory_bytes"},
      {"unknown_kind", nodes(R"([{"id": 0, "cpus": "0", "memory_bytes": 1, "kind": "ddr"}])"),
       "nodes[0].kind: the text 'ddr'"},
      {"threads_zero", machine_with(R"("threads_per_core": 0)"), "threads_per_core: the number 0"},
      {"threads_do_not_divide", machine_with(R"("threads_per_core": 3)"),
       "threads_per_core: node 0 has 4"},
      {"core_twice", machine_with(R"("cores": [{"cpus": "0-3"}, {"cpus": "3-7"}])"),
       "cores[1].cpus: the processors 3"},
      {"core_empty", machine_with(R"("cores": [{"cpus": ""}])"), "cores[0].cpus: no processor"},
      {"cores_missing", machine_with(R"("cores": [{"cpus": "0-3"}])"), "cores: the processors 4-7"},
      {"package_twice", machine_with(R"("packages": [{"cpus": "0-3"}, {"cpus": "0"}])"),
       "packages[1].cpus"},
      {"distances_few_rows", machine_with(R"("distances": [[10, 20]])"),
       "distances: 1 entries for 2 nodes"},
      {"distances_ragged", machine_with(R"("distances": [[10, 20], [20]])"),
       "distances[1]: 1 entries for 2 nodes"},
      {"distances_negative", machine_with(R"("distances": [[10, -20], [20, 10]])"),
       "distances[0][1]: the number -20"},
      {"distances_diagonal", machine_with(R"("distances": [[10, 20], [20, 21]])"),
       "distances[1][1]"},
      {"distances_text", machine_with(R"("distances": "10 20 20 10")"), "distances: the text"},
      {"cache_without_sharers", machine_with(R"("caches": [{"level": 1}])"), "caches[0]: neither"},
      {"cache_with_both",
       machine_with(R"("caches": [{"level": 1, "cpus": "0", "shared_by": "core"}])"),
       "caches[0]: both"},
      {"cache_level", machine_with(R"("caches": [{"level": 77, "cpus": "0"}])"), "caches[0].level"},
      {"cache_shared_by", machine_with(R"("caches": [{"level": 1, "shared_by": "die"}])"),
       "caches[0].shared_by"},
      {"cache_no_packages", machine_with(R"("caches": [{"level": 1, "shared_by": "package"}])"),
       "caches[0].shared_by: the machine has none"},
      {"parameter_node",
       machine_with(
           R"("parameters": [{"name": "bandwidth", "from": 0, "to": 5, "value": 1, "unit": "GB/s"}])"),
       "parameters[0].to: there is no node 5"},
      {"parameter_value",
       machine_with(
           R"("parameters": [{"name": "bandwidth", "from": 0, "to": 1, "value": "8", "unit": "GB/s"}])"),
       "parameters[0].value: the text '8'"},
      {"parameter_without_source",
       machine_with(
           R"("parameters": [{"name": "latency", "from": 0, "to": 1, "value": 8, "unit": "ns"}])"),
       "parameters[0]: the field 'source' is missing"},
      {"parameter_without_origin",
       machine_with(
           R"("parameters": [{"name": "latency", "from": 0, "to": 1, "value": 8, "unit": "ns", "source": ""}])"),
       "parameters[0].source: it is empty"},
      {"parameter_infinite",
       machine_with(
           R"("parameters": [{"name": "bandwidth", "from": 0, "to": 1, "value": 1e999, "unit": "GB/s"}])"),
       "not JSON: "},
      {"device_kind", machine_with(R"("devices": [{"name": "x", "kind": "disk"}])"),
       "devices[0].kind"},
      {"device_node", machine_with(R"("devices": [{"name": "x", "kind": "gpu", "nodes": "7"}])"),
       "devices[0].nodes: there is no node 7"},
      {"lab_memory_count", machine_with(R"("lab": {"memory_bytes_per_node": [1]})"),
       "lab.memory_bytes_per_node: 1 numbers for 2 nodes"},
      {"lab_offline_unknown", machine_with(R"("lab": {"offline_nodes": [4]})"),
       "lab.offline_nodes[0]: there is no node 4"},
      {"lab_offline_all", machine_with(R"("lab": {"offline_nodes": [0, 1]})"),
       "lab.offline_nodes: all nodes are offline"},
      {"lab_unknown_field", machine_with(R"("lab": {"memory": 1})"), "lab: unknown field 'memory'"},
      {"allowed_unknown_cpu", topology_with(R"("allowed": {"cpus": "0-9"})"),
       "allowed.cpus: 8-9 is not in the machine"},
      {"allowed_unknown_node", topology_with(R"("allowed": {"nodes": "2"})"),
       "allowed.nodes: 2 is not"},
      {"topology_unknown_field", topology_with(R"("alowed": {})"), "'alowed'"},
  };
}

class BrokenMachineFile : public testing::TestWithParam<broken> {};

INSTANTIATE_TEST_SUITE_P(Files, BrokenMachineFile, testing::ValuesIn(broken_machine_files()),
                         test_name<testing::TestParamInfo<broken>>);

TEST_P(BrokenMachineFile, IsRefusedByName) {
  const scratch_folder scratch;
  const auto file = scratch.write("broken.json", GetParam().text);
  try {
    (void)topology::from_json(file);
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_NE(e.answered().find(GetParam().complaint), std::string::npos) << e.what();
    EXPECT_NE(e.asked().find("broken.json"), std::string::npos) << e.what();
    EXPECT_FALSE(e.hint().empty());
    EXPECT_LT(std::string(e.what()).size(), 2000U);
  }
}

TEST(BrokenMachineFile, ThatIsNoFileIsRefused) {
  EXPECT_THROW((void)topology::from_json("/nonexistent/machine.json"), error);
  EXPECT_THROW((void)topology::from_json("/"), error);
  EXPECT_THROW((void)topology::from_json("/dev/zero"), error); // 16 MiB are enough of it
}

/// The time goes with the size. By its square these two would take minutes.
TEST(LargeMachineFile, OfManyPartsIsReadAtOnce) {
  constexpr int most = 65536;
  const scratch_folder scratch;
  const auto file = scratch.write(
      "large.json", machine_with("\"caches\": " + list_of(most, R"({"level": 1, "cpus": "0"})") +
                                 ", " + many_fields(400'000)));
  EXPECT_EQ(topology::from_json(file).machine().caches.size(), most);
}

TEST(LargeMachineFile, OfMoreThanSixteenMebibytesIsRefused) {
  const scratch_folder scratch;
  const std::string blanks(std::size_t{16} << 20, ' ');
  try {
    (void)topology::from_json(scratch.write("large.json", machine_with("") + blanks));
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.answered(), "more than 16 MiB");
  }
  expect_xml_refused(scratch.write("large.xml", "<?xml version=\"1.0\"?>" + blanks),
                     "larger than 16 MiB");
}

/// No input may crash the reader: each either reads or is refused.
TEST(BrokenMachineFile, MayBeBrokenAnywhere) {
  const std::string good = machine_json(load_recorded("24em64t-2n6c2t-pci.xml").machine()).dump();
  std::mt19937 random(42);
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) {
      const std::size_t at = std::uniform_int_distribution<std::size_t>(0, text.size() - 1)(random);
      text[at] = static_cast<char>(std::uniform_int_distribution(32, 126)(random));
    }
    try {
      const auto document = parse_json(text, "a test");
      const topology read = topology_from_json(json_field(document, "a test"));
      EXPECT_FALSE(read.machine().nodes.empty());
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::input);
    }
  }
}

class BrokenXml : public testing::TestWithParam<broken> {};

INSTANTIATE_TEST_SUITE_P(
    Files, BrokenXml,
    testing::Values(broken{"empty", "", "cannot read"}, broken{"no_xml", "hello", "cannot read"},
                    broken{"other_xml", "<?xml version=\"1.0\"?><svg></svg>", "cannot read"},
                    broken{"no_machine",
                           "<?xml version=\"1.0\"?><topology version=\"2.0\"></topology>",
                           "cannot read"},
                    broken{"zero_bytes", std::string(100, '\0'), "cannot read"}),
    test_name<testing::TestParamInfo<broken>>);

TEST_P(BrokenXml, IsRefused) {
  const scratch_folder scratch;
  expect_xml_refused(scratch.write("broken.xml", GetParam().text), GetParam().complaint);
}

TEST(BrokenXml, ThatIsNoFileIsRefused) {
  expect_xml_refused("/nonexistent.xml", "ENOENT");
  expect_xml_refused("/tmp", "not a regular file");
}

TEST(BrokenXml, CutShortAnywhereIsRefused) {
  std::ifstream file(NODEWISE_TEST_DATA "/24em64t-2n6c2t-pci.xml");
  std::stringstream text;
  text << file.rdbuf();
  const scratch_folder scratch;
  for (std::size_t length = 100; length + 100 < text.str().size(); length += 1777) {
    expect_xml_refused(scratch.write("cut.xml", text.str().substr(0, length)), "cannot read");
  }
}

class BrokenSpec : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Specs, BrokenSpec,
                         testing::Values("", "x", "4x", "x4", "0x4", "4x0", "4x2x2x2", "4x-2",
                                         "4X2", "4x2 ", "4.5x2", "65537x1", "65536x2",
                                         "4294967296x4294967296", "99999999999999999999x2",
                                         "numa:2 core:", "numa:0", "numa:100000 core:100000",
                                         "hello", "numa:2 core:4 numa:2 numa:3", "numa:2 core:(",
                                         "))))", "[[[[", "pu:2 core:2", "2 2 2 2 2 99999",
                                         "\xff\xfe"));

TEST_P(BrokenSpec, IsRefusedWithAnExample) {
  try {
    const topology read = topology::synthetic(GetParam());
    FAIL() << "accepted as " << read.machine().cpus().size() << " processors";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(e.hint().find("4x2"), std::string::npos);
  }
}

TEST(BrokenSpec, OfAnyLengthIsRefused) {
  EXPECT_THROW((void)topology::synthetic(std::string(1 << 20, '9')), error);
  EXPECT_THROW((void)topology::synthetic(std::string(5000, ' ') + "numa:2"), error);
  EXPECT_THROW((void)topology::synthetic(std::string("2x2\0x2", 6)), error);
}

} // namespace

} // namespace nodewise::test
