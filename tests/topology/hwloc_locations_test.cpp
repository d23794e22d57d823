// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// hwloc's locations on every recorded machine, held against what hwloc-calc answers.
#include "recorded_machines.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "spec/spec.hpp"
#include "topology/export_xml.hpp"

namespace nodewise::test {

namespace {

using spec::node_purpose;

class HwlocLocations : public testing::TestWithParam<recorded_machine> {
 protected:
  /// Numbers are counted over all there is, so that they are those of a drawing.
  HwlocLocations() : everything_(GetParam().load().machine()) {}

  void SetUp() override {
    ASSERT_STRNE(NODEWISE_HWLOC_CALC, "") << "hwloc's tools are missing: install hwloc-nox";
  }

  [[nodiscard]] const topology& everything() const noexcept { return everything_; }

  /// hwloc-calc's answers to several texts. It complains of objects that are not there and goes on.
  [[nodiscard]] std::vector<std::string> calculated(const std::vector<std::string>& texts,
                                                    const std::string& options) const {
    std::string lines;
    for (const std::string& each : texts) {
      lines += each + '\n';
    }
    const auto input = scratch_.write("locations", lines);
    std::istringstream output(output_of(tool(options) + " < '" + input.string() + "'"));
    std::vector<std::string> answers;
    for (std::string line; std::getline(output, line);) {
      if (!line.starts_with("Waiting for locations")) {
        answers.push_back(std::move(line));
      }
    }
    answers.resize(std::max(answers.size(), texts.size())); // empty lines at the end are lost
    EXPECT_EQ(answers.size(), texts.size());
    return answers;
  }

  /// How many of each type there are; those that are there.
  [[nodiscard]] std::map<std::string, std::size_t> counts() const {
    static std::map<std::string, std::map<std::string, std::size_t>> known;
    std::map<std::string, std::size_t>& all = known[GetParam().name];
    if (!all.empty()) {
      return all;
    }
    for (const char* const type : {"package", "numa", "l3", "l2", "l1", "l1i", "core", "pu"}) {
      const std::string answer =
          output_of(tool(std::string("-N ") + type) + " all 2>/dev/null || true");
      if (!answer.empty() && !answer.starts_with('-') && answer != "0") {
        all[type] = std::stoul(answer);
      }
    }
    return all;
  }

 private:
  [[nodiscard]] static std::string tool(const std::string& options) {
    const std::string machine = "'" + GetParam().path.string() + "'";
    return (GetParam().is_tree
                ? "HWLOC_FSROOT=" + machine + " HWLOC_COMPONENTS=linux,stop " NODEWISE_HWLOC_CALC
                : NODEWISE_HWLOC_CALC " -i " + machine) +
           " --disallowed -q --po " + options;
  }

  topology everything_;
  scratch_folder scratch_;
};

INSTANTIATE_TEST_SUITE_P(Machines, HwlocLocations, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

std::string cpus(const std::string& text, const topology& where, const std::string& root = "/") {
  try {
    return spec::resolve_cpus(text, where, root).cpus().to_string();
  } catch (const error& e) {
    return std::string("refused: ") + e.what();
  }
}

std::string nodes(const std::string& text, const topology& where, const std::string& root = "/") {
  try {
    return spec::resolve_nodes(text, where, node_purpose::memory, root).to_string();
  } catch (const error& e) {
    return std::string("refused: ") + e.what();
  }
}

/// "3,0-1" of hwloc in order.
std::string sorted(const std::string& list) {
  return list.empty() ? "" : cpu_set::parse(list).to_string();
}

/// Every object of each type by number, and forms of every kind that are there on this machine.
std::vector<std::string> locations(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::string> all;
  for (const auto& [type, there] : counts) {
    for (std::size_t i = 0; i < there; ++i) {
      all.push_back(type + ":" + std::to_string(i));
    }
    if (there > 2) {
      const std::string last = std::to_string(there - 1);
      for (const char* const range : {"0-1", "1-", "odd", "even", "all", "1:2"}) {
        all.push_back(type + ":" + range);
      }
      all.push_back(type + ":" + last + ":2"); // around the end
      all.push_back("all ~" + type + ":" + last);
      all.push_back(type + ":0 " + type + ":" + last + " ^" + type + ":0-1");
      all.push_back(type + ":all x" + type + ":1-2");
    }
  }
  // Chains: each type below each.
  for (const auto& [outer, there] : counts) {
    for (const auto& [inner, ignored] : counts) {
      for (std::size_t i = 0; i < std::min<std::size_t>(there, 4); ++i) {
        all.push_back(outer + ":" + std::to_string(i) + "." + inner + ":0");
        all.push_back(outer + ":" + std::to_string(i) + "." + inner + ":all");
      }
      all.push_back(outer + ":all." + inner + ":0");
    }
  }
  for (const auto& [type, other] : std::map<std::string, std::string>{
           {"core", "Core"}, {"package", "socket"}, {"numa", "NUMANode"}, {"l2", "L2Cache"}}) {
    if (counts.contains(type)) {
      all.push_back(other + ":0");
    }
  }
  all.insert(all.end(), {"root", "machine:0", "node:0", "nu:0", "root x0x1"});
  return all;
}

/// "0x5" of hwloc as "0,2".
std::string of_mask(const std::string& mask) {
  node_set set;
  for (std::size_t i = 0; i + 2 < mask.size(); ++i) {
    const int digit = std::stoi(mask.substr(mask.size() - 1 - i, 1), nullptr, 16);
    for (int bit = 0; bit < 4; ++bit) {
      if (((digit >> bit) & 1) != 0) {
        set.insert(node_id{static_cast<int>(i) * 4 + bit});
      }
    }
  }
  return set.to_string();
}

/// hwloc gives a memory without processors those that it is near to. Here its number names no
/// processors, and another node's number still finds the cores below it, as by releases
/// after 2.9.0.
bool differs_by_intent(const std::string& text, const recorded_machine& machine) {
  return !machine.memory_only.empty() && text.find("numa") != std::string::npos;
}

/// hwloc's sets and order know processors that are offline; the machine value has only the others.
bool has_offline_processors(const recorded_machine& machine) {
  return machine.name == "16em64t-4s2c2t-offlines.xml" ||
         machine.name == "16amd64-8n2c-cpusets.xml"; // those of its nodes 4 and 5
}

TEST_P(HwlocLocations, NameTheProcessorsThatHwlocCalcSays) {
  if (has_offline_processors(GetParam())) {
    return;
  }
  const auto texts = locations(counts());
  const auto answers = calculated(texts, "-I pu");
  std::size_t named = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (differs_by_intent(texts[i], GetParam())) {
      continue;
    }
    const std::string ours = cpus(texts[i], everything());
    if (answers[i].empty()) {
      EXPECT_TRUE(ours.starts_with("refused: ")) << texts[i] << " is " << ours;
    } else {
      EXPECT_EQ(ours, sorted(answers[i])) << texts[i];
      ++named;
    }
  }
  EXPECT_GT(named, 10U);
}

TEST_P(HwlocLocations, NameTheNodesThatHwlocCalcSays) {
  if (has_offline_processors(GetParam())) {
    return;
  }
  const auto texts = locations(counts());
  const auto answers = calculated(texts, "--no --taskset");
  std::size_t named = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].find("numa:") == 0 && texts[i].find('.') != std::string::npos &&
        !GetParam().memory_only.empty()) {
      continue; // below a node: see above
    }
    const std::string ours = nodes(texts[i], everything());
    if (of_mask(answers[i]).empty()) {
      EXPECT_TRUE(ours.starts_with("refused: ")) << texts[i] << " is " << ours;
    } else {
      EXPECT_EQ(ours, of_mask(answers[i])) << texts[i];
      ++named;
    }
  }
  EXPECT_GT(named, 10U);
}

TEST_P(HwlocLocations, NameTheSameByTheSmallReader) {
  if (!GetParam().is_tree) {
    return;
  }
  const std::string root = GetParam().path.string();
  const topology small(topology::from_sysfs(root).machine());
  for (const std::string& text : locations(counts())) {
    EXPECT_EQ(cpus(text, small, root), cpus(text, everything())) << text;
    EXPECT_EQ(nodes(text, small, root), nodes(text, everything())) << text;
  }
}

} // namespace

} // namespace nodewise::test
