// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// likwid-bench's -w, as its manual has it.
#include "spec/spec.hpp"

#include <string>

#include <gmock/gmock.h>

#include <nodewise/error.hpp>

#include "unit/grid_machine.hpp"

namespace nodewise::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Two sockets with a node of four cores each.
topology two_sockets() {
  machine made = test::grid(2, 4);
  for (const memory_node& node : made.nodes) {
    made.packages.push_back({to_int(node.id), node.cpus});
  }
  return topology(std::move(made));
}

std::string complaint(const std::string& text) {
  try {
    (void)parse_workgroup(text, two_sockets());
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    return e.what();
  }
  return "accepted";
}

TEST(Workgroup, HasThreadsASizeAndArraysElsewhere) {
  const workgroup found = parse_workgroup("S0:1GB:2:1:2-0:S1,1:S1", two_sockets());
  EXPECT_THAT(found.cpus, ElementsAre(cpu_id{0}, cpu_id{2})); // one of each two
  EXPECT_EQ(found.bytes, 1'000'000'000U);
  EXPECT_THAT(found.arrays, ElementsAre(node_id{1}, node_id{1}));
}

TEST(Workgroup, TakesAllThreadsOfItsDomainUnlessItSaysHowMany) {
  EXPECT_THAT(parse_workgroup("M1:64kB", two_sockets()).cpus,
              ElementsAre(cpu_id{4}, cpu_id{5}, cpu_id{6}, cpu_id{7}));
  EXPECT_THAT(parse_workgroup("M1:64kB:3", two_sockets()).cpus, SizeIs(3));
  EXPECT_THAT(parse_workgroup("M1:64kB", two_sockets()).arrays, IsEmpty());
}

TEST(Workgroup, LeavesArraysInBetweenToItsOwnMemory) {
  EXPECT_THAT(parse_workgroup("S0:1MB:1-2:M1", two_sockets()).arrays,
              ElementsAre(unknown_node, unknown_node, node_id{1}));
}

TEST(Workgroup, CountsInThousandsAsLikwidDoesUnlessToldOtherwise) {
  EXPECT_EQ(parse_workgroup("N:3kB", two_sockets()).bytes, 3'000U);
  EXPECT_EQ(parse_workgroup("N:3MB", two_sockets()).bytes, 3'000'000U);
  EXPECT_EQ(parse_workgroup("N:3MiB", two_sockets()).bytes, std::uint64_t{3} << 20);
}

TEST(Workgroup, ShowsThePartThatMakesNoSense) {
  EXPECT_THAT(complaint("S0"), HasSubstr("a domain and a size"));
  EXPECT_THAT(complaint("S0:much"), HasSubstr("'much'"));
  EXPECT_THAT(complaint("S0:0kB"), HasSubstr("'0kB'"));
  EXPECT_THAT(complaint("S0:99999999999GB"), HasSubstr("99999999999GB"));
  EXPECT_THAT(complaint("S0:1GB:no"), HasSubstr("'no'"));
  EXPECT_THAT(complaint("S0:1GB:2:1"), HasSubstr("a domain and a size"));
  EXPECT_THAT(complaint("S7:1GB"), HasSubstr("S7"));
  EXPECT_THAT(complaint("S0:1GB:2-4:S1"), HasSubstr("'4:S1'"));
  EXPECT_THAT(complaint("S0:1GB:2-S1"), HasSubstr("'S1'"));
  EXPECT_THAT(complaint("S0:1GB-0:N"), HasSubstr("2 memories"));
}

} // namespace
} // namespace nodewise::spec
