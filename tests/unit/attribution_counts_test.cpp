// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Recordings made by hand, and counts: whose is each use?
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "attribution/counted.hpp"
#include "unit/recorded_rig.hpp"

namespace nodewise::attribution {
namespace {

using namespace test;

traffic::counts counts_of_the_rig() {
  traffic::counts counted;
  counted.line_bytes = 64;
  counted.page_bytes = page;
  counted.programs = {{main_tid, 1, "solver", true}};
  counted.threads = {{main_tid, 0, main_tid}, {main_tid, 1, worker_tid}};
  traffic::user_run run;
  run.pid = main_tid;
  run.object = static_cast<std::uint64_t>(main_tid) << 32U;
  run.first = 0;
  run.count = 2;
  run.to = node_id{0};
  run.by = {{1, 128}};
  counted.page_users.push_back(run);
  run.first = 2;
  run.count = 1;
  run.by = {{0, 10}, {1, 20}};
  counted.page_users.push_back(run);
  return counted;
}

TEST(Attribution, CountsGiveEachPageItsUsers) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  profile::profile found = all.assembled();
  add_counts(found, counts_of_the_rig());
  const profile::object& object = object_of(found, 0);
  ASSERT_EQ(object.uses.size(), 2U);
  EXPECT_EQ(object.uses[0].count, 2U);
  EXPECT_EQ(object.uses[0].by.at(0).by, 1U);
  EXPECT_EQ(object.uses[0].by.at(0).amount, 128);
  EXPECT_EQ(object.uses[1].by.size(), 2U);
  EXPECT_EQ(found.programs[0].use_from, profile::use_source::traffic_count);
  EXPECT_EQ(found.programs[0].use_unit_bytes, 64);
  EXPECT_TRUE(found.seen.counts);
}

TEST(Attribution, APageThatMovedWhileItWasUsedIsWhereItWasLast) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  profile::profile found = all.assembled();
  traffic::counts counted = counts_of_the_rig();
  traffic::user_run moved = counted.page_users[0];
  moved.count = 1;
  moved.to = node_id{1};
  moved.by = {{1, 64}};
  counted.page_users.push_back(moved);
  add_counts(found, counted);
  const profile::object& object = object_of(found, 0);
  EXPECT_EQ(object.where.at(0).node, node_id{1});
  EXPECT_EQ(object.where.at(0).count, 1U);
  EXPECT_EQ(object.where.at(1).node, node_id{0});
  EXPECT_EQ(found.seen.pages_moved, 1U);
  EXPECT_EQ(object.uses.at(0).by.at(0).amount, 192);
}

TEST(Attribution, AGroupIsAsLargeAsItWasWhenItWasCounted) {
  rig all;
  all.object(0, base, 2, 3000, 0).what = launch::object_report::kind::group;
  profile::profile found = all.assembled();
  traffic::counts counted = counts_of_the_rig();
  traffic::object grown;
  grown.pid = main_tid;
  grown.id = static_cast<std::uint64_t>(main_tid) << 32U;
  grown.start = base;
  grown.bytes = 3 * page;
  counted.objects.push_back(grown);
  add_counts(found, counted);
  EXPECT_EQ(object_of(found, 0).pages, 3U);
  EXPECT_EQ(object_of(found, 0).bytes, 3 * page);
  EXPECT_EQ(object_of(found, 0).uses.size(), 2U);
}

TEST(Attribution, WhatWasCountedOfAnObjectThatIsNotReportedIsItsMappings) {
  rig all;
  profile::profile found = all.assembled();
  traffic::counts counted = counts_of_the_rig();
  traffic::object left_out;
  left_out.pid = main_tid;
  left_out.id = static_cast<std::uint64_t>(main_tid) << 32U;
  left_out.start = base + page;
  left_out.bytes = 4 * page;
  counted.objects.push_back(left_out);
  traffic::mapping unnamed;
  unnamed.pid = main_tid;
  unnamed.start = base;
  unnamed.end = base + 16 * page;
  counted.mappings.push_back(unnamed);
  add_counts(found, counted);
  const auto& objects = found.programs[0].objects;
  const auto rest = std::ranges::find(objects, "unnamed memory", &profile::object::name);
  ASSERT_NE(rest, objects.end());
  ASSERT_EQ(rest->uses.size(), 2U);
  EXPECT_EQ(rest->uses[0].first, 1U);
  EXPECT_EQ(rest->uses[0].by.at(0).amount, 128);
}

// Such as those of a program that was killed.
TEST(Attribution, PagesThatWereCountedWereInMemory) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  profile::profile found = all.assembled();
  found.programs.at(0).objects.at(0).resident = 0;
  add_counts(found, counts_of_the_rig());
  EXPECT_EQ(object_of(found, 0).resident, 3U);
}

TEST(Attribution, AThreadIsWhereTheCountSawItAtWork) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  profile::profile found = all.assembled();
  traffic::counts counted = counts_of_the_rig();
  counted.threads[0].stays = {{node_id{0}, 3}}; // too few to say anything
  counted.threads[1].stays = {{node_id{0}, 40}, {node_id{1}, 108}};
  const auto sampled = found.programs[0].threads.at(0).stays;
  add_counts(found, counted);
  EXPECT_EQ(found.programs[0].threads.at(0).stays, sampled);
  const std::vector<profile::thread::stay> wanted = {{node_id{0}, 40}, {node_id{1}, 108}};
  EXPECT_EQ(found.programs[0].threads.at(1).stays, wanted);
}

TEST(Attribution, InitialisationIsThatOfWhoTouchedAPageFirst) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  profile::profile found = all.assembled();
  traffic::counts counted = counts_of_the_rig();
  traffic::page_run pages;
  pages.pid = main_tid;
  pages.object = counted.page_users[0].object;
  pages.count = 4;
  pages.local[0] = 200;
  pages.remote[0] = 56;
  pages.remote[1] = 1000; // in use, which is not meant
  counted.pages = {pages};
  counted.touched = {{main_tid, pages.object, 0, 3, 0}, {main_tid, pages.object, 3, 1, 1}};
  add_counts(found, counted);
  const auto& runs = object_of(found, 0).initialised;
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].count, 3U);
  EXPECT_EQ(runs[0].by.at(0).by, 0U);
  EXPECT_EQ(runs[0].by.at(0).amount, 192);
  EXPECT_EQ(runs[1].by.at(0).by, 1U);
  EXPECT_EQ(runs[1].by.at(0).amount, 64);
}

TEST(Attribution, ACountAloneIsEnoughToPriceARun) {
  traffic::counts counted = counts_of_the_rig();
  traffic::object array;
  array.pid = main_tid;
  array.id = *counted.page_users[0].object;
  array.start = base;
  array.bytes = 4 * page;
  counted.objects = {array};
  counted.programs.push_back({main_tid + 1, main_tid, "helper", true});
  profile::program like;
  like.name = "solver";
  like.openmp = true;
  const profile::profile found = profile_of(counted, like, {"./solver"});
  ASSERT_EQ(found.programs.size(), 1U);
  EXPECT_TRUE(found.programs[0].openmp);
  EXPECT_EQ(found.programs[0].threads.size(), 2U);
  ASSERT_EQ(found.programs[0].objects.size(), 1U);
  EXPECT_EQ(found.programs[0].objects[0].pages, 4U);
  EXPECT_EQ(found.programs[0].objects[0].uses.size(), 2U);
}

TEST(Attribution, WhatNoObjectCoversIsWrittenToo) {
  rig all;
  profile::profile found = all.assembled();
  traffic::counts counted = counts_of_the_rig();
  traffic::user_run run = counted.page_users[0];
  run.object = std::nullopt;
  run.first = 0x12000;
  counted.page_users = {run};
  traffic::object_traffic lines;
  lines.pid = main_tid;
  lines.lines.fills = 100;
  lines.lines.write_backs = 75;
  counted.by_object = {lines};
  add_counts(found, counted);
  EXPECT_EQ(found.programs[0].objects.back().write_share, 0.75);
}

TEST(Attribution, LinesThatProcessorsWriteInTurnAreTheObjects) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  profile::profile found = all.assembled();
  traffic::counts counted = counts_of_the_rig();
  traffic::shared_line line;
  line.pid = main_tid;
  line.object = counted.page_users[0].object;
  line.address = base + 128;
  line.transfers = 3;
  line.rewrites = 77;
  line.pc = 0x401000;
  counted.shared = {line};
  add_counts(found, counted);
  const auto& contested = object_of(found, 0).contested;
  ASSERT_EQ(contested.size(), 1U);
  EXPECT_EQ(contested[0].offset, 128U);
  EXPECT_EQ(contested[0].rewrites, 77U);
  EXPECT_TRUE(contested[0].written_at.has_value());
}

TEST(Attribution, MemoryWithoutAnObjectIsToldByItsMapping) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  profile::profile found = all.assembled();
  traffic::counts counted = counts_of_the_rig();
  counted.mappings = {{main_tid, 0x10000, 0x20000, 0, "[heap]"}};
  traffic::user_run run;
  run.pid = main_tid;
  run.first = 0x12000;
  run.count = 1;
  run.to = node_id{1};
  run.by = {{0, 5}};
  counted.page_users.push_back(run);
  add_counts(found, counted);
  const profile::object& rest = found.programs[0].objects.back();
  EXPECT_EQ(rest.name, "[heap]");
  EXPECT_EQ(rest.pages, 16U);
  EXPECT_EQ(rest.uses.at(0).first, 2U);
  EXPECT_EQ(rest.where.at(0).node, node_id{1});
}

} // namespace
} // namespace nodewise::attribution
