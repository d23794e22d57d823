// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An array of rows whose first row stands alone is one object.
#include <gtest/gtest.h>

#include "profile/first_rows.hpp"

namespace nodewise::profile {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t row_bytes = page * 3 / 2 - 16; // with the arena's header a page and a half

/// Of one block, or of many behind the room for `first` blocks.
object made_at(std::uint64_t offset, object_kind kind, std::uint64_t start, std::uint64_t blocks,
               double allocated_s, std::uint64_t first = 0) {
  object made;
  made.kind = kind;
  frame inlined;
  inlined.module = "solver";
  inlined.inlined = true;
  frame call;
  call.module = "solver";
  call.offset = offset;
  made.made_at = {inlined, call};
  made.start = start;
  made.blocks = blocks;
  made.bytes = blocks == 1 ? row_bytes : blocks * page * 3 / 2;
  made.pages = (made.bytes + page - 1) / page;
  made.resident = made.pages - first * 3 / 2;
  made.allocated_s = allocated_s;
  made.freed_s = 1;
  made.uses = {{first * 3 / 2, made.resident, {{1, 64 * static_cast<double>(made.resident)}}}};
  made.where = {{first * 3 / 2, made.resident, node_id{0}}};
  made.touched = {{first * 3 / 2, made.resident, 0, node_id{0}}};
  return made;
}

/// A row and a group of 11 from the same call, 17 pages, of which the first is the row's; of two
/// arrays.
program rows() {
  program made;
  made.objects = {made_at(0x40, object_kind::heap, 0x1000, 1, 0.1),
                  made_at(0x40, object_kind::group, 0x90000, 11, 0.2, 1),
                  made_at(0x40, object_kind::group, 0xa0000, 12, 0.2)};
  return made;
}

TEST(FirstRows, AreTheFirstPagesOfTheirGroup) {
  program found = rows();
  found.objects[0].uses = {{0, 1, {{0, 8}}}};
  found.objects[0].contested = {{.offset = 64}};
  join_first_rows(found, page);
  ASSERT_EQ(found.objects.size(), 2U);
  const object& joined = found.objects[0];
  EXPECT_EQ(joined.kind, object_kind::group);
  EXPECT_EQ(joined.pages, 17U);
  EXPECT_EQ(joined.resident, 17U);
  EXPECT_EQ(joined.blocks, 11U);
  EXPECT_EQ(joined.contested.at(0).offset, 64U);
  EXPECT_EQ(joined.where.at(0).first, 0U);
  EXPECT_EQ(joined.where.at(0).count, 1U);
  EXPECT_EQ(joined.touched.at(1).first, 1U);
  ASSERT_EQ(joined.uses.size(), 2U);
  EXPECT_EQ(joined.uses[0].by.at(0).by, 0U);
  EXPECT_EQ(joined.uses[1].first, 1U);
  EXPECT_EQ(joined.uses[1].count, 16U);
  EXPECT_EQ(found.objects[1].pages, 18U) << "the second array had its first row in the group";
}

// The second row begins in the middle of the first one's last page.
TEST(FirstRows, LoseNoUse) {
  for (const std::uint64_t large : {page, std::uint64_t{64} << 10}) {
    program found = rows();
    found.objects[0].uses = {{0, 1, {{0, 8}}}, {1, 1, {{1, 5}}}};
    join_first_rows(found, large);
    ASSERT_EQ(found.objects.size(), 2U);
    double sum = 0;
    for (const use_run& run : found.objects[0].uses) {
      for (const use& each : run.by) {
        sum += each.amount;
      }
    }
    EXPECT_EQ(sum, 8 + 5 + 16 * 64) << large;
  }
}

// A temporary row that the others were copied from had room too.
TEST(FirstRows, LieBehindEachOther) {
  for (const bool temporary : {false, true}) {
    program found = rows();
    found.objects[1] = made_at(0x40, object_kind::group, 0x90000, 12, 0.2, 2);
    found.objects.insert(found.objects.begin(), made_at(0x40, object_kind::heap, 0x5000, 1, 0.05));
    found.objects.push_back(made_at(0x40, object_kind::heap, 0x7000, 1, 0.3));
    found.objects[0].freed_s = temporary ? 0.15 : 1;
    join_first_rows(found, page);
    ASSERT_EQ(found.objects.size(), temporary ? 4U : 3U);
    const object& joined = found.objects[temporary ? 1 : 0];
    EXPECT_EQ(joined.where.at(0).first, temporary ? 1U : 0U);
    EXPECT_EQ(joined.where.size(), temporary ? 2U : 3U);
    EXPECT_EQ(found.objects.back().kind, object_kind::heap);
  }
}

// Older profiles have the group's second row there.
TEST(FirstRows, AreNotJoinedWhereTheyHaveNoRoom) {
  program found = rows();
  found.objects[1] = made_at(0x40, object_kind::group, 0x90000, 11, 0.2);
  join_first_rows(found, page);
  EXPECT_EQ(found.objects.size(), 3U);
}

// Files may contain any value.
TEST(FirstRows, KeepLongRunsTogether) {
  for (const std::uint64_t pages : {std::uint64_t{15}, std::uint64_t{1} << 40}) {
    program found = rows();
    found.objects[1].pages = pages;
    found.objects[1].uses = {{1, pages - 1, {{1, 64 * static_cast<double>(pages)}}}};
    join_first_rows(found, page);
    EXPECT_EQ(found.objects[0].uses.size(), 2U);
  }
}

TEST(FirstRows, AreOfTheSameCallAsLongLivedAndSmall) {
  for (const int what : {0, 1, 2, 3}) {
    program found = rows();
    object& row = found.objects[0];
    if (what == 0) {
      row.made_at.back().offset = 0x80;
    } else if (what == 1) {
      row.freed_s = 0.3; // a temporary
    } else if (what == 2) {
      row.bytes = largest_row_bytes;
    } else {
      row.made_at.clear();
    }
    join_first_rows(found, page);
    EXPECT_EQ(found.objects.size(), 3U) << what;
    EXPECT_EQ(found.objects[1].resident, 16U) << what;
  }
}

} // namespace
} // namespace nodewise::profile
