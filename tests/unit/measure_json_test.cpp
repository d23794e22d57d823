// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A measurement in a file: read as it was written, and refused where it makes no sense.
#include <string>

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "measure/measurement.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::measure {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

record bandwidth(int from, int to, std::vector<double> samples) {
  record made;
  made.label = "node " + std::to_string(from) + " -> node " + std::to_string(to);
  made.unit = "GB/s";
  made.from = node_id{from};
  made.to = node_id{to};
  made.kernel = "load";
  made.threads = 2;
  made.bytes = 1 << 20;
  made.moved_per_counted = 1;
  made.found.samples = std::move(samples);
  return made;
}

measurement some() {
  measurement made;
  made.set = "quick";
  made.host = "here";
  made.date = "2026-11-22T12:00:00Z";
  made.instruction_set = "AVX2";
  made.records = {bandwidth(0, 0, {20, 21, 22}), bandwidth(0, 1, {10, 11, 12})};
  made.records[1].found.visits = {1, 1, 1};
  made.stopped = true;
  made.workgroups = {"S0:1GB:2"};
  made.records[1].found.disturbed = disturbance{0.25, 0.125};
  made.records[1].found.on_node = 1;
  record refused = bandwidth(1, 0, {});
  refused.found.unavailable = "mbind: EPERM";
  made.records.push_back(refused);
  record all = bandwidth(1, 1, {30, 30, 30});
  all.of = experiment::contention;
  all.from = unknown_node;
  made.records.push_back(all);
  made.planned = 9;
  return made;
}

ordered_json written(const measurement& what) {
  ordered_json document = {{"schema", measurement_schema}};
  write_measurement(what, document);
  return document;
}

measurement read(const ordered_json& document) {
  return read_measurement(json_field(document, "the measurement"));
}

TEST(MeasurementJson, IsReadAsItWasWritten) {
  const measurement back = read(written(some()));
  EXPECT_EQ(written(back).dump(), written(some()).dump());
  EXPECT_FALSE(back.is_complete());
  EXPECT_TRUE(back.stopped);
  EXPECT_THAT(back.workgroups, ElementsAre("S0:1GB:2"));
  EXPECT_THAT(back.records[1].found.visits, ElementsAre(1, 1, 1));
  EXPECT_EQ(back.records[0].found.figure().visits, 3U); // not written: each sample is one
  ASSERT_EQ(back.records.size(), 4U);
  EXPECT_THAT(back.records[1].found.samples, ElementsAre(10, 11, 12));
  EXPECT_EQ(back.records[1].found.disturbed->stolen, 0.25);
  EXPECT_FALSE(back.records[0].found.on_node);
  EXPECT_EQ(back.records[2].found.unavailable, "mbind: EPERM");
  EXPECT_EQ(back.records[3].from, unknown_node);
}

TEST(MeasurementJson, NamesTheFieldThatIsWrong) {
  const auto complaint = [](auto spoil) {
    ordered_json document = written(some());
    spoil(document);
    try {
      (void)read(document);
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::input);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(complaint([](ordered_json& d) { d["points"][1]["experiment"] = "guessing"; }),
              HasSubstr("points[1].experiment"));
  EXPECT_THAT(complaint([](ordered_json& d) { d["points"][0]["samples"][2] = -1; }),
              HasSubstr("points[0].samples[2]"));
  EXPECT_THAT(complaint([](ordered_json& d) { d["points"][0]["visits"] = {1, 1}; }),
              HasSubstr("points[0].visits"));
  EXPECT_THAT(complaint([](ordered_json& d) { d["points"][0]["visits"] = {1, 1, 1, 1}; }),
              HasSubstr("points[0].visits[3]"));
  EXPECT_THAT(complaint([](ordered_json& d) { d["points"][0]["samples"] = ordered_json::array(); }),
              HasSubstr("unavailable")); // no figure, and no word why
  EXPECT_THAT(complaint([](ordered_json& d) { d["points"][0]["from"] = -1; }),
              HasSubstr("points[0].from"));
  EXPECT_THAT(complaint([](ordered_json& d) { d["points"][0]["unit"] = "MB/s"; }),
              HasSubstr("points[0].unit"));
  EXPECT_THAT(complaint([](ordered_json& d) { d.erase("points"); }), HasSubstr("points"));
  EXPECT_THAT(complaint([](ordered_json& d) { d["schema"] = "nodewise/machine/1"; }),
              HasSubstr("schema"));
}

TEST(Parameters, AreWhatTheMachineLacks) {
  const auto found = parameters_of(some());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "bandwidth");
  EXPECT_EQ(found[1].value, 11);
  EXPECT_THAT(found[1].source, HasSubstr("measured 2026-11-22"));
  // What all processors draw from a memory is a figure of that memory.
  EXPECT_EQ(found[2].name, "shared_bandwidth");
  EXPECT_EQ(found[2].from, node_id{1});
}

TEST(Parameters, TakeThePlaceOfPublishedOnesOfTheSameNodes) {
  machine of = test::grid(2, 2);
  of.parameters = {{"bandwidth", node_id{0}, node_id{1}, 99, "GB/s", "HMAT"},
                   {"latency", node_id{0}, node_id{1}, 140, "ns", "HMAT"}};
  const machine now = with_parameters(of, parameters_of(some()));
  ASSERT_EQ(now.parameters.size(), 4U);
  EXPECT_EQ(now.parameters[0].name, "latency");
  EXPECT_EQ(now.parameters[2].value, 11);
}

} // namespace
} // namespace nodewise::measure
