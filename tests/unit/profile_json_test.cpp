// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profile/profile_json.hpp"
#include "profile/profile_json_fields.hpp"

namespace nodewise::profile {
namespace {

using json = nlohmann::ordered_json;

object some_object() {
  object made;
  made.id = 3;
  made.kind = object_kind::group;
  made.made_at = {{"solver", 0x1234, "make", "solver.c", 41, true},
                  {"libc.so.6", 0x20, "", "", 0, false}};
  made.made_by = 1;
  made.start = 0x7f0000000000;
  made.bytes = 8192;
  made.blocks = 16;
  made.allocated_s = 0.5;
  made.freed_s = 1.25;
  made.pages = 8;
  made.resident = 7;
  made.page_bytes = 4096;
  made.where = {{0, 4, node_id{0}}, {4, 3, unknown_node}};
  made.touches = {
      {{{"solver", 0x99, "fill", "solver.c", 7, false}}, touch_kind::kernel, 0, node_id{0}, 7}};
  made.touched = {{0, 4, 0, node_id{0}}, {4, 3, std::nullopt, unknown_node}};
  made.uses = {{0, 4, {{0, 12}, {1, 0.1}}}, {6, 1, {{1, 3}}}};
  made.write_share = 0.25;
  made.initialised = {{0, 7, {{0, 448}}}};
  made.initialised_write_share = 0.5;
  made.used_at = {{{"solver", 0x77, "sweep", "solver.c", 9, false}, 15}};
  made.contested = {{64, 10, 2, false},
                    {128, 9, 2, false, 77, frame{"solver", 0x88, "", "solver.c", 9, false}}};
  return made;
}

profile some_profile() {
  profile made;
  made.command = {"./solver", "8"};
  made.seen.faults = made.seen.agent = true;
  made.seen.fault_samples = 9;
  made.seen.pages_bound = 5;
  made.seen.missing = {"no counts"};
  made.cost = {1.5, 0.25};
  made.memory = {{node_id{0}, 100, 50, 20}, {node_id{1}, 100, 50, 20, node_memory::low{5, 70}}};
  program solver;
  solver.pid = 7;
  solver.rank = 0;
  solver.name = "solver";
  solver.libraries = {{"libfield.so.1", "ab12"}};
  solver.end = program_end::killed;
  solver.began_s = 0.25;
  solver.ended_s = 1.5;
  solver.use_from = use_source::hinting_faults;
  solver.threads = {{7, "solver", true, 0, {{node_id{0}, 4}}, 0},
                    {8, "", false, 2, {}, 12345, 0.5, 0.75, 3},
                    {9, "", false, 0, {}, 0, 0, {}, {}, thread::inner{{4, 2}, 7}}};
  solver.interval_s = 0.25;
  solver.threads[1].seen = {{0, 2, node_id{1}}, {3, 125, unknown_node}};
  solver.uses_in_time = {{3, 1, {{node_id{0}, node_id{1}, 7}, {node_id{1}, unknown_node, 2}}}};
  solver.objects = {some_object()};
  made.programs = {solver};
  return made;
}

json written(const profile& what) {
  json document = {{"schema", schema}};
  append(document, what);
  return document;
}

std::string complaint_about(json document, const std::function<void(json&)>& damage) {
  damage(document);
  try {
    (void)profile_from_json(json_field(document, "the profile x"));
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(Profile, IsTheSameAfterWritingAndReading) {
  const json first = written(some_profile());
  const profile read = profile_from_json(json_field(first, "the profile x"));
  EXPECT_EQ(written(read), first);
  EXPECT_EQ(read.programs[0].objects[0].made_at, some_object().made_at);
  EXPECT_EQ(read.programs[0].objects[0].uses[0].by[1].amount, 0.1);
  EXPECT_EQ(first["programs"][0]["threads"][1]["seen"], "0+2@1 3+125@-");
  EXPECT_EQ(first["programs"][0]["uses_in_time"][0], "3+1 0/1:7,1/-:2");
  EXPECT_EQ(read.programs[0].objects[0].touched[1].by, std::nullopt);
}

TEST(Profile, ComplaintsNameTheField) {
  const json good = written(some_profile());
  const auto object = [](json& of) -> json& { return of["programs"][0]["objects"][0]; };
  const auto about = [&](const std::function<void(json&)>& damage) {
    return complaint_about(good, damage);
  };
  EXPECT_NE(about([&](json& all) { object(all)["where"] = "0+9@0"; }).find("objects[0].where"),
            std::string::npos);
  EXPECT_NE(about([&](json& all) { object(all)["uses"][1] = "3+1 0:1"; }).find("uses[1]"),
            std::string::npos);
  EXPECT_NE(about([&](json& all) { object(all)["made_by"] = 3; }).find("made_by"),
            std::string::npos);
  EXPECT_NE(about([&](json& all) { object(all)["start"] = "12"; }).find("start"),
            std::string::npos);
  EXPECT_NE(about([&](json& all) { object(all)["strat"] = 1; }).find("strat"), std::string::npos);
  EXPECT_NE(about([&](json& all) { all["programs"][0].erase("threads"); }).find("threads"),
            std::string::npos);
  EXPECT_NE(about([&](json& all) { all["schema"] = "nodewise/profile/3"; }), "");
}

TEST(Profile, RunsThatDoNotFitAreNoRuns) {
  const run_bounds bounds{8, 2};
  for (const char* const text :
       {"0+0@1", "0+9@1", "8+1@1", "0+4@1 3+1@1", "0+4@1  4+1@1", "0+4", "0+4@", "+4@1", "0+4@-2",
        "0+4@99999999999", "x", " 0+4@1", "0+4@1 "}) {
    std::vector<resident_run> runs;
    EXPECT_FALSE(read(text, bounds, runs)) << text;
  }
  for (const char* const text : {"0+4 2:1", "0+4 0:0", "0+4 0:-1", "0+4 1:1,0:1", "0+4 0:1,", "0+4",
                                 "0+4 0:inf", "0+4 0:nan", "0+4 0:1 1:1"}) {
    use_run run;
    EXPECT_FALSE(read(text, bounds, run)) << text;
  }
  for (const char* const text : {"0+4@2/0", "0+4@0", "0+4@0/", "0+4@-/x"}) {
    std::vector<touched_run> runs;
    EXPECT_FALSE(read(text, bounds, runs)) << text;
  }
  std::vector<resident_run> none;
  EXPECT_TRUE(read("", bounds, none));
  EXPECT_TRUE(none.empty());
}

TEST(Profile, NamesTheProgramsOwnCode) {
  const frame in_libc{"libc.so.6", 1, "memset", "", 0, false};
  const frame own{"solver", 2, "fill", "/src/solver.c", 7, false};
  const call_chain chain = {in_libc, own};
  ASSERT_NE(own_frame(chain), nullptr);
  EXPECT_EQ(label_of(*own_frame(chain)), "solver.c:7");
  EXPECT_EQ(own_frame(call_chain{in_libc}), nullptr);
  const frame in_vector{"solver", 2, "allocate", "/usr/include/c++/12/bits/alloc.h", 9, true};
  EXPECT_EQ(label_of(*own_frame(call_chain{in_libc, in_vector, own})), "solver.c:7");
  EXPECT_EQ(label_of(*own_frame(call_chain{in_libc, in_vector})), "alloc.h:9");
  EXPECT_EQ(label_of({"solver", 0x20, "", "", 0, false}), "solver+0x20");
  EXPECT_EQ(label_of({"solver", 0x20, "fill", "", 0, false}), "fill");
  EXPECT_EQ(label_of({}), "?");
}

} // namespace
} // namespace nodewise::profile
