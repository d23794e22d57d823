// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A process without an agent: its memory map names its objects.
#include <gtest/gtest.h>

#include "attribution/assemble.hpp"

namespace nodewise::attribution {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t base = 0x7f0000000000;
constexpr int tid = 100;

observe::area area_of(observe::area_kind kind, const std::string& name, std::uint64_t start,
                      std::vector<observe::page_run> runs) {
  observe::area made;
  made.kind = kind;
  made.name = name;
  made.runs = std::move(runs);
  for (const observe::page_run& run : made.runs) {
    made.pages += run.pages;
    made.resident += run.node == observe::absent_page ? 0 : run.pages;
  }
  made.where = {start, start + made.pages * page};
  return made;
}

TEST(MappedObjects, AreasOfDataGetTheirPagesAndTouches) {
  using kind = observe::area_kind;
  observe::page_map mapped;
  mapped.command = "/opt/bin/solver -n 5";
  mapped.areas = {
      area_of(kind::code, "/opt/bin/solver", base, {{64, node_id{0}}}),
      area_of(kind::static_data, "field", base + 100 * page,
              {{8, node_id{0}}, {8, observe::absent_page}, {16, node_id{1}}}),
      area_of(kind::anonymous, "", base + 200 * page, {{32, node_id{1}}}),
      area_of(kind::anonymous, "small", base + 300 * page, {{3, node_id{1}}}),
      area_of(kind::stack, "[stack]", base + 400 * page, {{2, node_id{0}}}),
  };
  observe::recording recorded;
  recorded.begin_ns = 1000;
  recorded.end_ns = 9000;
  recorded.pid = tid;
  recorded.ended = false;
  observe::access_sample fault;
  fault.time_ns = 2000;
  fault.address = base + 117 * page;
  fault.ip = 0x1000;
  fault.pid = fault.tid = tid;
  recorded.log.take(fault);
  recorded.log.finish();
  const launch::run_report nothing;
  const machine on;
  const profile::profile made =
      assemble({recorded, nothing, on, page, false, 0, &mapped}, std::size_t{2} << 20U);

  ASSERT_EQ(made.programs.size(), 1U);
  const profile::program& program = made.programs.front();
  EXPECT_EQ(program.name, "solver");
  EXPECT_EQ(program.end, profile::program_end::running);
  EXPECT_FALSE(made.seen.agent);
  ASSERT_EQ(program.objects.size(), 3U);
  const profile::object& field = program.objects[0];
  EXPECT_EQ(field.name, "field");
  EXPECT_EQ(field.kind, profile::object_kind::static_array);
  EXPECT_EQ(field.resident, 24U);
  ASSERT_EQ(field.where.size(), 2U);
  EXPECT_EQ(field.where[1].first, 16U);
  EXPECT_EQ(field.where[1].node, node_id{1});
  EXPECT_EQ(field.unseen_touches, 23U);
  ASSERT_EQ(field.touched.size(), 1U);
  EXPECT_EQ(field.touched[0].first, 17U);
  EXPECT_EQ(program.objects[1].name, "memory at 0x7f00000c8000");
  EXPECT_EQ(program.objects[2].kind, profile::object_kind::stack);
}

} // namespace
} // namespace nodewise::attribution
