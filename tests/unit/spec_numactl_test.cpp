// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/spec.hpp"
#include "spec_words.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "unit/grid_machine.hpp"

namespace nodewise::spec {
namespace {

using test::grid;
using test::memory;
using test::processors;
using test::refusal;
using testing::HasSubstr;

std::string memory_refusal(std::string_view spec, const topology& where) {
  return refusal([&] { (void)memory(spec, where); });
}

TEST(NodeList, IsReadAsNumactlReadsIt) {
  const topology four{grid(4, 2)};
  EXPECT_EQ(memory("0-3", four), "0-3");
  EXPECT_EQ(memory("0,2", four), "0,2");
  EXPECT_EQ(memory("all", four), "0-3");
  EXPECT_EQ(memory("!0", four), "1-3");
  EXPECT_EQ(memory("!1-2", four), "0,3");
  EXPECT_EQ(memory("+0", four), "0");
  EXPECT_EQ(memory("+1-2", four), "1-2");
  EXPECT_EQ(memory("!+0", four), "1-3");
}

TEST(NodeList, CountsRelativeNumbersWithinWhatIsAllowed) {
  const topology two(grid(4, 2), cpu_set::range(cpu_id{4}, cpu_id{7}), {node_id{2}, node_id{3}});
  EXPECT_EQ(memory("+0", two), "2");
  EXPECT_EQ(memory("+1", two), "3");
  EXPECT_EQ(memory("all", two), "2-3");
  EXPECT_EQ(memory("!2", two), "3");
  EXPECT_EQ(memory("!0", two), "2-3");
  EXPECT_THAT(memory_refusal("+2", two), HasSubstr("only 2-3: 2 in all"));
}

TEST(NodeList, KeepsTheOperatingSystemsNumbers) {
  const topology gaps{grid(4, 1, 1, {7, 63, 64, 255})};
  EXPECT_EQ(memory("63-64", gaps), "63-64");
  EXPECT_EQ(memory("255", gaps), "255");
  EXPECT_EQ(memory("+3", gaps), "255");
  EXPECT_EQ(memory("!7", gaps), "63-64,255");
  EXPECT_THAT(memory_refusal("0", gaps), HasSubstr("no node 0, only 7,63-64,255"));
}

TEST(NodeList, NamesTheNodesThatTheCpusetAllows) {
  const topology two(grid(4, 2), cpu_set::range(cpu_id{0}, cpu_id{3}), {node_id{0}, node_id{1}});
  EXPECT_THAT(memory_refusal("3", two),
              HasSubstr("node 3 exists, but this process may only use memory of 0-1 (cpuset)"));
  EXPECT_THAT(refusal([&] { (void)processors("3", two); }),
              HasSubstr("node 3 exists, but this process may only use processors 0-3"));
}

TEST(NodeList, KnowsNodesWithoutMemoryAndWithoutProcessors) {
  machine mixed = grid(3, 2);
  mixed.nodes[1].cpus = {};
  mixed.nodes[2].memory_bytes = 0;
  const topology where{mixed};
  EXPECT_EQ(memory("all", where), "0-1");
  EXPECT_EQ(processors("all", where), "0,2");
  EXPECT_THAT(memory_refusal("2", where), HasSubstr("node 2 has no memory"));
  EXPECT_THAT(refusal([&] { (void)processors("1", where); }),
              HasSubstr("node 1 has no processors, only memory"));
}

TEST(NodeList, RefusesWhatLeavesNothing) {
  const topology two{grid(2, 2)};
  EXPECT_THAT(memory_refusal("!all", two), HasSubstr("it selects nothing"));
  EXPECT_THAT(memory_refusal("!0-1", two), HasSubstr("it selects nothing"));
  for (const char* nonsense : {"", "!", "+", "x", "0-", "1-0", "0,,1", "-1", "99999999999", "all,0",
                               "+all ", "same", "0 1", "+-1", "!!0"}) {
    EXPECT_FALSE(memory_refusal(nonsense, two).empty()) << nonsense;
  }
}

TEST(ProcessorList, FollowsTheSameRules) {
  const topology where(grid(2, 4), cpu_set::range(cpu_id{2}, cpu_id{5}), {node_id{0}, node_id{1}});
  EXPECT_EQ(resolve_cpus("2,4", where).cpus().to_string(), "2,4");
  EXPECT_EQ(resolve_cpus("+0-1", where).cpus().to_string(), "2-3");
  EXPECT_EQ(resolve_cpus("!2", where).cpus().to_string(), "3-5");
  EXPECT_EQ(resolve_cpus("all", where).cpus().to_string(), "2-5");
  EXPECT_THAT(refusal([&] { (void)resolve_cpus("0", where); }), HasSubstr("may only use 2-5"));
  EXPECT_THAT(refusal([&] { (void)resolve_cpus("8", where); }), HasSubstr("no processor 8"));
}

} // namespace
} // namespace nodewise::spec
