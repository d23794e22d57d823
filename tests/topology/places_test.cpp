// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "recorded_machines.hpp"

#include <array>

#include <gtest/gtest.h>

namespace nodewise::test {

namespace {

class Places : public testing::TestWithParam<recorded_machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, Places, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

constexpr std::array kinds{place_kind::threads, place_kind::cores, place_kind::nodes,
                           place_kind::packages};

TEST_P(Places, HoldEveryAllowedProcessorOnce) {
  const topology machine = GetParam().load();
  for (const place_kind kind : kinds) {
    cpu_set seen;
    for (const cpu_set& place : machine.places(kind)) {
      EXPECT_FALSE(place.empty());
      EXPECT_FALSE(seen.intersects(place)) << place.to_string();
      seen = seen | place;
    }
    EXPECT_EQ(seen.to_string(), machine.allowed_cpus().to_string());
  }
}

TEST_P(Places, AscendByNode) {
  const topology machine = GetParam().load();
  for (const place_kind kind : kinds) {
    int last = -1;
    for (const cpu_set& place : machine.places(kind)) {
      const int node = to_int(machine.node_of(place.first()));
      EXPECT_TRUE(node == -1 || node >= last) << place.to_string();
      last = node == -1 ? max_id : node;
    }
  }
}

TEST_P(Places, OfNodesAreTheDomainsAndTheRest) {
  const topology machine = GetParam().load();
  const auto domains = machine.domains();
  const auto places = machine.places(place_kind::nodes);
  ASSERT_GE(places.size(), domains.size());
  cpu_set claimed;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    EXPECT_EQ(places[i], domains[i].cpus);
    claimed = claimed | domains[i].cpus;
  }
  const bool has_rest = claimed != machine.allowed_cpus();
  EXPECT_EQ(places.size(), domains.size() + (has_rest ? 1 : 0));
}

machine two_nodes_with_smt() {
  machine all;
  all.nodes = {{node_id{0}, cpu_set::parse("0-1,4-5"), 1},
               {node_id{3}, cpu_set::parse("2-3,6-7"), 1}};
  for (const char* const cpus : {"0,4", "1,5", "2,6", "3,7"}) {
    all.cores.push_back({cpu_set::parse(cpus)});
  }
  return all;
}

std::string text_of(const std::vector<cpu_set>& places) {
  std::string text;
  for (const cpu_set& place : places) {
    text += "{" + place.to_string() + "}";
  }
  return text;
}

TEST(PlacesOfSmt, ListTheThreadsOfACoreSideBySide) {
  const topology machine(two_nodes_with_smt());
  EXPECT_EQ(text_of(machine.places(place_kind::threads)), "{0}{4}{1}{5}{2}{6}{3}{7}");
  EXPECT_EQ(text_of(machine.places(place_kind::cores)), "{0,4}{1,5}{2,6}{3,7}");
  EXPECT_EQ(text_of(machine.places(place_kind::nodes)), "{0-1,4-5}{2-3,6-7}");
}

TEST(PlacesOfSmt, KeepOnlyWhatIsAllowed) {
  const topology machine(two_nodes_with_smt(), cpu_set::parse("1,2,6,900"), {node_id{3}});
  EXPECT_EQ(machine.allowed_cpus().to_string(), "1-2,6");
  EXPECT_EQ(text_of(machine.places(place_kind::cores)), "{1}{2,6}");
  EXPECT_EQ(text_of(machine.places(place_kind::threads)), "{1}{2}{6}");
  EXPECT_EQ(machine.memory_nodes().to_string(), "3");
}

TEST(PlacesOfUnclaimedProcessors, ComeLast) {
  machine all = two_nodes_with_smt();
  all.cores.push_back({cpu_set::parse("8-9")});
  const topology machine(std::move(all));
  EXPECT_EQ(machine.node_of(cpu_id{8}), unknown_node);
  EXPECT_EQ(text_of(machine.places(place_kind::nodes)), "{0-1,4-5}{2-3,6-7}{8-9}");
  EXPECT_EQ(text_of(machine.places(place_kind::cores)), "{0,4}{1,5}{2,6}{3,7}{8-9}");
  EXPECT_EQ(text_of(machine.places(place_kind::packages)), "{0-9}");
  EXPECT_EQ(machine.domains().size(), 2U);
}

} // namespace

} // namespace nodewise::test
