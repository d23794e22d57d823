// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What was measured on a machine: found again, and in hwloc's XML as hwloc's own tool prints it.
#include "recorded_machines.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "topology/export_xml.hpp"
#include "topology/machine_json.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Figures that differ from pair to pair, as a measurement's would.
machine with_figures(machine of) {
  of.parameters.clear();
  for (const memory_node& from : of.nodes) {
    for (const memory_node& to : of.nodes) {
      if (!from.cpus.empty()) {
        const double gb_s = 100.5 + 7 * to_int(from.id) + 0.25 * to_int(to.id);
        const double ns = 80 + to_int(from.id) + 3 * to_int(to.id);
        of.parameters.push_back({"bandwidth", from.id, to.id, gb_s, "GB/s", "measured today"});
        of.parameters.push_back({"latency", from.id, to.id, ns, "ns", "measured today"});
      }
    }
  }
  return of;
}

/// The result file of a measurement, as far as readers here know it.
std::string measurement(const machine& of) {
  nlohmann::ordered_json result;
  result["schema"] = "nodewise/measurement/1";
  result["nodewise"] = "0.1.0";
  result["machine"] = machine_json(of);
  result["settings"] = nlohmann::ordered_json::object();
  result["pairs"] = nlohmann::ordered_json::array();
  return result.dump(2);
}

machine two_nodes() {
  machine made;
  made.name = "two";
  made.nodes = {{node_id{0}, cpu_set::parse("0-3"), 1 << 30, memory_kind::dram, 0},
                {node_id{1}, cpu_set::parse("4-7"), 1 << 30, memory_kind::dram, 1}};
  for (int cpu = 0; cpu < 8; ++cpu) {
    made.cores.push_back({{cpu_id{cpu}}});
  }
  return made;
}

std::map<std::string, std::string> variables; // NOLINT: the environment of the tests below

const char* lookup(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}

TEST(MeasuredFiles, AreTheVariablesOrTheUsersOrTheSystems) {
  variables = {{"HOME", "/home/u"}};
  EXPECT_EQ(measured::file_to_write(lookup, "n01"),
            "/home/u/.local/state/nodewise/measured-n01.json");
  EXPECT_THAT(measured::files_to_read(lookup, "n01"),
              ElementsAre("/home/u/.local/state/nodewise/measured-n01.json",
                          "/etc/nodewise/measured.json"));
  variables["XDG_STATE_HOME"] = "relative";
  EXPECT_EQ(measured::file_to_write(lookup, "a/b"),
            "/home/u/.local/state/nodewise/measured-a_b.json");
  variables["XDG_STATE_HOME"] = "/state";
  EXPECT_EQ(measured::file_to_write(lookup, "n01"), "/state/nodewise/measured-n01.json");
  variables["NODEWISE_MEASURED"] = "";
  EXPECT_EQ(measured::file_to_write(lookup, "n01"), "/state/nodewise/measured-n01.json");
  variables["NODEWISE_MEASURED"] = "here.json";
  EXPECT_EQ(measured::file_to_write(lookup, "n01"), "here.json");
  EXPECT_THAT(measured::files_to_read(lookup, "n01"), ElementsAre("here.json"));
}

TEST(MeasuredFiles, WithoutAHomeOnlyTheSystemsIsRead) {
  variables.clear();
  EXPECT_THAT(measured::files_to_read(lookup, "n01"), ElementsAre("/etc/nodewise/measured.json"));
  try {
    (void)measured::file_to_write(lookup, "n01");
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.hint(), HasSubstr("NODEWISE_MEASURED=FILE"));
  }
}

TEST(MeasuredFiles, TheFirstOfThisMachineIsTaken) {
  const scratch_folder folder;
  const machine now = two_nodes();
  machine other = now;
  other.nodes[1].cpus = cpu_set::parse("4-5");
  other.cores.resize(6);
  machine smaller = now;
  smaller.nodes.pop_back();
  const auto of_other = folder.write("other.json", measurement(with_figures(other)));
  const auto of_smaller = folder.write("smaller.json", measurement(with_figures(smaller)));
  const auto of_this = folder.write("this.json", measurement(with_figures(now)));
  const auto missing = folder.path() / "missing.json";

  auto found = measured::find(now, {missing, of_other, of_smaller, of_this});
  ASSERT_TRUE(found.found);
  EXPECT_EQ(found.found->file, of_this);
  EXPECT_EQ(found.found->what.parameters.size(), 8U);
  ASSERT_EQ(found.remarks.size(), 2U);
  EXPECT_THAT(found.remarks[0], HasSubstr("other.json is not used: its node 1 has processors "
                                          "4-5, but here it has processors 4-7"));
  EXPECT_THAT(found.remarks[1], HasSubstr("nodes 0, but this one has 0-1"));

  found = measured::find(now, {missing});
  EXPECT_FALSE(found.found);
  EXPECT_THAT(found.remarks, IsEmpty());
}

TEST(MeasuredFiles, ABrokenOneIsNamedWithItsCure) {
  const scratch_folder folder;
  const machine now = two_nodes();
  const std::string whole = measurement(with_figures(now));
  std::string lies = whole;
  lies.replace(lies.find("\"GB/s\""), 6, "7");
  const std::map<std::string, std::string> texts = {
      {"empty", ""},
      {"half", whole.substr(0, whole.size() / 2)},
      {"no-object", "[]"},
      {"nothing", measurement(now)},
      {"a-number", lies},
      {"no-machine", R"({"schema": "nodewise/measurement/1"})"},
      {"binary", std::string("\x00\xff\xfe{", 4)}};
  for (const auto& [name, text] : texts) {
    const auto file = folder.write(name + ".json", text);
    try {
      (void)measured::find(now, {file});
      FAIL() << name;
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::input) << name;
      EXPECT_THAT(e.asked(), HasSubstr(file.string()));
      EXPECT_THAT(e.hint(), HasSubstr("nodewise measure"));
    }
  }
  EXPECT_THROW((void)measured::find(now, {folder.path()}), error) << "a directory";
}

TEST(MeasuredFiles, AreMachinesForEveryReader) {
  const scratch_folder folder;
  const auto file = folder.write("m.json", measurement(with_figures(two_nodes())));
  const topology read = topology::from_json(file);
  EXPECT_EQ(read.machine().parameters.size(), 8U);
  EXPECT_EQ(read.machine().parameters.front().source, "measured today");
  EXPECT_EQ(read.allowed_cpus(), cpu_set::parse("0-7"));
}

TEST(MeasuredCosts, ComeInThePlaceOfPublishedOnes) {
  machine published = two_nodes();
  published.parameters = {{"bandwidth", node_id{0}, node_id{0}, 9, "GB/s", "HMAT"},
                          {"bandwidth", node_id{0}, node_id{1}, 5, "GB/s", "HMAT"}};
  machine measured_here = two_nodes();
  measured_here.parameters = {{"bandwidth", node_id{0}, node_id{0}, 11, "GB/s", "measured"},
                              {"latency", node_id{0}, node_id{0}, 90, "ns", "measured"},
                              {"latency", node_id{0}, node_id{7}, 99, "ns", "measured"}};
  const machine both = measured::with_costs(published, measured_here);
  ASSERT_EQ(both.parameters.size(), 3U);
  EXPECT_EQ(both.parameters[0].value, 11);
  EXPECT_EQ(both.parameters[0].source, "measured");
  EXPECT_EQ(both.parameters[1].source, "HMAT");
  EXPECT_EQ(both.parameters[2].name, "latency");
}

using key = std::tuple<std::string, std::string, std::string>; ///< attribute, processors, node's L#

/// hwloc prints groups of 32 bits, the highest first: "0x000000ff,,0x0000000f", an empty one is 0.
cpu_set cpus_of_mask(std::string_view text) {
  cpu_set cpus;
  for (int group = static_cast<int>(std::ranges::count(text, ',')); group >= 0; --group) {
    const std::string digits(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.size(), digits.size() + 1));
    const unsigned long bits = digits.empty() ? 0 : std::stoul(digits, nullptr, 16);
    for (int bit = 0; bit < 32; ++bit) {
      if ((bits >> bit & 1U) != 0) {
        cpus.insert(cpu_id{group * 32 + bit});
      }
    }
  }
  return cpus;
}

/// "Memory attribute #2 name `Bandwidth' flags 5", then "NUMANode L#1 = 20 from cpuset 0xff (...)".
std::map<key, double> printed_attributes(const std::string& text) {
  std::map<key, double> found;
  std::istringstream lines(text);
  std::string attribute;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    std::string second;
    std::string equals;
    std::string from;
    std::string kind;
    std::string cpus;
    double value = 0;
    if (const std::size_t quote = line.find('`'); quote != std::string::npos) {
      attribute = line.substr(quote + 1, line.find('\'') - quote - 1);
    } else if (words >> first >> second >> equals >> value >> from >> kind >> cpus &&
               first == "NUMANode" && kind == "cpuset") {
      found[{attribute, cpus_of_mask(cpus).to_string(), second.substr(2)}] = value;
    }
  }
  return found;
}

class MeasuredXml : public testing::TestWithParam<recorded_machine> {
 protected:
  static topology_detail::hwloc_source source() {
    if (GetParam().is_tree) {
      return topology_detail::sysfs_tree{GetParam().path};
    }
    return topology_detail::xml_file{GetParam().path};
  }
};

INSTANTIATE_TEST_SUITE_P(Machines, MeasuredXml, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

TEST_P(MeasuredXml, ReadsBackEveryFigure) {
  const machine measured_there = with_figures(GetParam().load().machine());
  const scratch_folder folder;
  const auto file =
      folder.write("costs.xml", topology_detail::export_xml_with_costs(source(), measured_there));
  const topology again = topology::from_xml(file);
  EXPECT_EQ(again.machine().node_ids(), measured_there.node_ids());
  std::map<std::tuple<std::string, node_id, node_id>, double> read;
  for (const parameter& each : again.machine().parameters) {
    read[{each.name, each.from, each.to}] = each.value;
  }
  for (const parameter& each : measured_there.parameters) {
    const double half_a_step = each.name == "latency" ? 0.5 : 0.5 * 1048576e-9;
    const std::tuple pair(each.name, each.from, each.to);
    ASSERT_TRUE(read.contains(pair)) << each.name << " " << to_int(each.from);
    EXPECT_NEAR(read[pair], each.value, half_a_step * 1.001);
  }
}

TEST_P(MeasuredXml, IsPrintedByLstopo) {
  if (std::string_view(NODEWISE_LSTOPO).ends_with("NOTFOUND")) {
    GTEST_SKIP() << "there is no lstopo-no-graphics";
  }
  const machine measured_there = with_figures(GetParam().load().machine());
  const scratch_folder folder;
  const auto file =
      folder.write("costs.xml", topology_detail::export_xml_with_costs(source(), measured_there));
  const auto printed = printed_attributes(
      output_of(std::string(NODEWISE_LSTOPO) + " --disallowed --memattrs -i " + file.string()));
  std::size_t seen = 0;
  for (const parameter& each : measured_there.parameters) {
    const bool is_latency = each.name == "latency";
    const std::string cpus = measured_there.find_node(each.from)->cpus.to_string();
    const std::string node = std::to_string(measured_there.find_node(each.to)->logical);
    const auto found = printed.find({is_latency ? "Latency" : "Bandwidth", cpus, node});
    ASSERT_NE(found, printed.end()) << each.name << " from " << cpus << " to L#" << node;
    // GB/s are 10^9 bytes a second, hwloc's MiB/s are 2^20.
    EXPECT_EQ(found->second, is_latency ? each.value : std::round(each.value * 1e9 / 1048576));
    ++seen;
  }
  EXPECT_EQ(std::ranges::count_if(printed,
                                  [](const auto& one) {
                                    const std::string& name = std::get<0>(one.first);
                                    return name == "Latency" || name == "Bandwidth";
                                  }),
            static_cast<std::ptrdiff_t>(seen))
      << "and no other figure is left of what was recorded";
}

TEST(MeasuredXmlOfAnHmat, KeepsWhatWasNotMeasured) {
  const recorded_machine& tiers = *std::ranges::find(
      recorded_machines(), std::string("fakeheteromemtiers"), &recorded_machine::name);
  machine some = tiers.load().machine();
  some.parameters = {{"bandwidth", node_id{1}, node_id{6}, 3, "GB/s", "measured"}};
  const scratch_folder folder;
  const auto file = folder.write("costs.xml", topology_detail::export_xml_with_costs(
                                                  topology_detail::sysfs_tree{tiers.path}, some));
  std::map<std::pair<int, int>, double> read;
  const topology again = topology::from_xml(file);
  for (const parameter& each : again.machine().parameters) {
    if (each.name == "bandwidth") { // those of reading and writing alone stay the firmware's
      read[{to_int(each.from), to_int(each.to)}] = each.value;
    }
  }
  EXPECT_NEAR((read[{1, 6}]), 3, 1e-3);
  EXPECT_NEAR((read[{1, 4}]), 10.48576, 1e-9);
  EXPECT_NEAR((read[{0, 8}]), 0.104858, 1e-6);
}

TEST(MeasuredXmlOfThisMachine, HasItsFigures) {
  const machine measured_here = with_figures(topology::system().machine());
  const scratch_folder folder;
  const topology read = topology::from_xml(folder.write(
      "costs.xml",
      topology_detail::export_xml_with_costs(topology_detail::this_machine{}, measured_here)));
  EXPECT_GE(read.machine().parameters.size(), measured_here.parameters.size());
}

TEST(MeasuredXmlOfAnotherMachine, IsRefused) {
  const topology_detail::hwloc_source four = topology_detail::synthetic_machine{"4x2"};
  try {
    (void)topology_detail::export_xml_with_costs(four, with_figures(two_nodes()));
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_THAT(e.what(), HasSubstr("nodes 0-1, but this one has 0-3"));
  }
  machine of_other_units = with_figures(topology::synthetic("4x2").machine());
  of_other_units.parameters.front().unit = "MB/s";
  EXPECT_THROW((void)topology_detail::export_xml_with_costs(four, of_other_units), error);
  of_other_units.parameters.front() = {"bandwidth", node_id{0}, node_id{0}, 0, "GB/s", "measured"};
  EXPECT_THROW((void)topology_detail::export_xml_with_costs(four, of_other_units), error);
}

} // namespace

} // namespace nodewise::test
