// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which results of `nodewise measure` others compute with.
#include <string>

#include <gmock/gmock.h>

#include "cli/measure_flags.hpp"
#include "cli/measure_keep.hpp"

namespace nodewise::cli {
namespace {

using measure::experiment;
using testing::HasSubstr;

/// Two nodes of two processors, and a memory without processors.
machine three_memories() {
  machine made;
  made.nodes = {{node_id{0}, cpu_set::parse("0-1"), 1 << 30},
                {node_id{1}, cpu_set::parse("2-3"), 1 << 30},
                {node_id{2}, {}, 1 << 30}};
  return made;
}

measure::record figure(experiment of, int from, int to) {
  measure::record made;
  made.of = of;
  made.from = node_id{from};
  made.to = node_id{to};
  made.label = "node " + std::to_string(from) + " -> node " + std::to_string(to);
  made.found.samples = {10};
  return made;
}

measure::measurement whole() {
  measure::measurement made;
  for (const experiment of : {experiment::bandwidth, experiment::latency}) {
    for (const int from : {0, 1}) {
      for (const int to : {0, 1, 2}) {
        made.records.push_back(figure(of, from, to));
      }
    }
  }
  made.planned = made.records.size();
  return made;
}

invocation with(const flag& option, std::string value) {
  invocation made;
  made.options.push_back({&option, std::move(value)});
  return made;
}

TEST(Kept, IsAWholeMeasurementOfTheWholeMachine) {
  const topology all(three_memories());
  EXPECT_EQ(why_not_kept(whole(), all, {}, {}), "");
  EXPECT_EQ(why_not_kept(whole(), all, {}, with(flags::buffer_pages, "auto")), "");
  EXPECT_EQ(why_not_kept(whole(), all, {}, with(flags::point_time, "10")), "");
}

TEST(Kept, IsNothingWithAFigureMissing) {
  const topology all(three_memories());
  for (std::size_t i = 0; i < whole().records.size(); ++i) {
    measure::measurement lacks = whole();
    lacks.records[i].found = {.samples = {}, .unavailable = "mbind: EPERM"};
    EXPECT_THAT(why_not_kept(lacks, all, {}, {}),
                HasSubstr(lacks.records[i].label + " is unavailable"));
  }
  measure::measurement stopped = whole();
  stopped.stopped = true;
  EXPECT_EQ(why_not_kept(stopped, all, {}, {}), "it was stopped");
}

TEST(Kept, IsNothingOfAPartOfTheMachine) {
  const machine all = three_memories();
  const node_set nodes = node_set::parse("0-2");
  EXPECT_EQ(why_in_part({all, cpu_set::parse("0-3"), nodes}), "");
  const topology fewer_processors(all, cpu_set::parse("0,2-3"), nodes);
  EXPECT_EQ(why_in_part(fewer_processors), "only processors 0,2-3 of 0-3 were allowed");
  const topology fewer_memories(all, cpu_set::parse("0-3"), node_set::parse("0,2"));
  EXPECT_EQ(why_in_part(fewer_memories), "only memory of nodes 0,2 of 0-2 was allowed");
  for (const topology& part : {fewer_processors, fewer_memories}) {
    EXPECT_THAT(why_not_kept(whole(), part, {}, {}), HasSubstr(why_in_part(part) + "; -o FILE"));
  }
}

TEST(Kept, IsNothingThatWasDoubtfulBeforeItBegan) {
  EXPECT_EQ(why_not_kept(whole(), topology(three_memories()), {"buffers are small"}, {}),
            "buffers are small");
}

TEST(Kept, IsNothingOfOtherBuffers) {
  const topology all(three_memories());
  EXPECT_THAT(why_not_kept(whole(), all, {}, with(flags::buffer_size, "1M")),
              HasSubstr("--size 1M"));
  EXPECT_THAT(why_not_kept(whole(), all, {}, with(flags::buffer_pages, "base")),
              HasSubstr("--pages base"));
}

} // namespace
} // namespace nodewise::cli
