// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which results of `nodewise measure` others compute with.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/machine/source.hpp"
#include "cli/verbs/measure/flags.hpp"
#include "cli/verbs/measure/keep.hpp"
#include "topology/machine_json.hpp"
#include "topology/measured_machine.hpp"

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
    EXPECT_THAT(why_not_kept(whole(), part, {}, {}),
                HasSubstr(why_in_part(part) + "; write it with -o FILE"));
  }
}

TEST(Kept, IsTheBetterOfTwo) {
  measure::measurement sure = whole();
  for (measure::record& each : sure.records) {
    each.found.samples = {10, 10, 10, 10, 10, 10};
  }
  EXPECT_EQ(why_worse(sure, sure), "");
  EXPECT_EQ(why_worse(sure, whole()), "");
  EXPECT_EQ(why_worse(whole(), sure), "fewer figures have enough visits");

  for (const measure::disturbance by :
       {measure::disturbance{.others = 0.5}, {.stolen = 0.5}, {.elsewhere = 0.5}}) {
    measure::measurement disturbed = sure;
    disturbed.records[7].found.disturbed = by; // one of twelve
    EXPECT_EQ(why_worse(disturbed, sure), "more of it was disturbed");
    EXPECT_EQ(why_worse(disturbed, disturbed), "");
    EXPECT_EQ(why_worse(sure, disturbed), "");
  }

  measure::measurement more = sure;
  more.records.push_back(figure(experiment::contention, 0, 0));
  EXPECT_EQ(why_worse(sure, more), "it has fewer figures");
  more.records.back().of = experiment::touch; // which nobody computes with
  EXPECT_EQ(why_worse(sure, more), "");
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

/// What `weighted:auto` takes of a measurement, of two nodes, whose records these are.
std::string weights_or_refusal(const measure::measurement& what, const node_set& nodes) {
  const topology here = topology::synthetic("2x1");
  const std::string file = testing::TempDir() + "nodewise-measured-" + std::to_string(::getpid());
  std::ofstream(file) << machine_json(
      measure::with_parameters(here.machine(), measure::parameters_of(what)));
  ::setenv("NODEWISE_MEASURED", file.c_str(), 1);
  std::string told;
  try {
    for (const auto& each : weigh_by_measurement(here, nodes).weights) {
      told += (told.empty() ? "" : " ") + std::to_string(each.parts);
    }
  } catch (const error& e) {
    told = e.answered() + "; " + e.hint();
  }
  ::unsetenv("NODEWISE_MEASURED");
  std::filesystem::remove(file);
  return told;
}

TEST(Weights, AreNotMadeOfDisturbedFigures) {
  measure::measurement what;
  for (const int from : {0, 1}) {
    for (const int to : {0, 1}) {
      what.records.push_back(figure(experiment::bandwidth, from, to));
    }
  }
  const node_set both = {node_id{0}, node_id{1}};
  EXPECT_EQ(weights_or_refusal(what, both), "1 1");
  what.records[1].found.disturbed = measure::disturbance{.others = 0.5}; // from 0 to 1: no weight
  EXPECT_EQ(weights_or_refusal(what, both), "1 1");
  what.records[3].found.disturbed = measure::disturbance{.others = 0.5};
  EXPECT_THAT(weights_or_refusal(what, both), HasSubstr("measurement of node 1"));
  EXPECT_THAT(weights_or_refusal(what, both), HasSubstr("nodewise measure"));
  EXPECT_EQ(weights_or_refusal(what, {node_id{0}}), "1");
  EXPECT_EQ(weights_or_refusal(what, {node_id{1}}), "1") << "one node has any weight";
}

TEST(Parameters, AreMarkedWhereOtherWorkDisturbedThem) {
  measure::measurement what = whole();
  what.records[0].found.disturbed = measure::disturbance{.stolen = 0.5};
  const auto found = measure::parameters_of(what);
  ASSERT_EQ(found.size(), what.records.size()) << "every figure is kept";
  EXPECT_TRUE(measured::was_disturbed(found[0]));
  EXPECT_TRUE(found[0].source.starts_with("measured"));
  EXPECT_FALSE(measured::was_disturbed(found[1]));
}

} // namespace
} // namespace nodewise::cli
