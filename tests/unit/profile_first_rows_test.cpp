// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An array of rows whose first row stands alone is one object.
#include <gtest/gtest.h>

#include "profile/first_rows.hpp"

namespace nodewise::profile {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t row_bytes = page * 3 / 2 - 16; // with the arena's header a page and a half

/// Of one block, or of many.
object made_at(std::uint64_t offset, object_kind kind, std::uint64_t start, std::uint64_t blocks,
               double born_s) {
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
  made.pages = made.resident = (made.bytes + page - 1) / page;
  made.born_s = born_s;
  made.died_s = 1;
  made.uses = {{0, made.pages, {{1, 64 * static_cast<double>(made.pages)}}}};
  made.where = {{0, made.pages, node_id{0}}};
  made.touched = {{0, made.pages, 0, node_id{0}}};
  return made;
}

/// A row and a group of 10 from the same call, 15 pages; of two arrays.
program rows() {
  program made;
  made.objects = {made_at(0x40, object_kind::heap, 0x1000, 1, 0.1),
                  made_at(0x40, object_kind::group, 0x90000, 10, 0.2),
                  made_at(0x40, object_kind::group, 0xa0000, 12, 0.2)};
  return made;
}

TEST(FirstRows, AreTheFirstPagesOfTheirGroup) {
  program found = rows();
  found.objects[0].uses = {{0, 1, {{0, 8}}}, {1, 1, {{1, 8}}}};
  found.objects[1].contested = {{.offset = 64}};
  join_first_rows(found, page);
  ASSERT_EQ(found.objects.size(), 2U);
  const object& joined = found.objects[0];
  EXPECT_EQ(joined.kind, object_kind::group);
  EXPECT_EQ(joined.bytes, page * 33 / 2);
  EXPECT_EQ(joined.pages, 17U);
  EXPECT_EQ(joined.resident, 17U);
  EXPECT_EQ(joined.blocks, 11U);
  EXPECT_EQ(joined.contested.at(0).offset, page * 3 / 2 + 64);
  EXPECT_EQ(joined.where.at(1).first, 1U);
  EXPECT_EQ(joined.touched.at(1).first, 1U);
  EXPECT_EQ(found.objects[1].pages, 18U) << "the second array had its first row in the group";
}

// The second row begins in the middle of the first one's last page.
TEST(FirstRows, MoveTheUsesOfTheOthers) {
  program found = rows();
  found.objects[0].uses = {{0, 1, {{0, 8}}}, {1, 1, {{1, 8}}}};
  join_first_rows(found, page);
  const std::vector<use_run>& uses = found.objects[0].uses;
  ASSERT_EQ(uses.size(), 5U);
  EXPECT_EQ(uses[0].by.at(0).by, 0U);
  EXPECT_EQ(uses[1].first, 1U);
  EXPECT_EQ(uses[1].by.at(0).amount, 8 + 32);
  EXPECT_EQ(uses[2].first, 2U);
  EXPECT_EQ(uses[2].count, 13U);
  EXPECT_EQ(uses[2].by.at(0).amount, 13 * 64);
  EXPECT_EQ(uses[3].first, 15U);
  EXPECT_EQ(uses[3].by.at(0).amount, 64);
  EXPECT_EQ(uses[4].first, 16U);
  EXPECT_EQ(uses[4].by.at(0).amount, 32);
}

TEST(FirstRows, AreAllBlocksBeforeTheGroup) {
  program found = rows();
  found.objects.insert(found.objects.begin(), made_at(0x40, object_kind::heap, 0x5000, 1, 0.05));
  found.objects.push_back(made_at(0x40, object_kind::heap, 0x7000, 1, 0.3));
  join_first_rows(found, page);
  ASSERT_EQ(found.objects.size(), 3U);
  EXPECT_EQ(found.objects[0].pages, 18U);
  EXPECT_EQ(found.objects[0].blocks, 12U);
  EXPECT_EQ(found.objects[2].kind, object_kind::heap);
}

TEST(FirstRows, LoseNoUse) {
  program found = rows();
  object& group = found.objects[1];
  group.blocks = 9;
  group.bytes = page * 27 / 2; // half of its last page
  group.pages = 14;
  group.uses = {{0, 14, {{1, 14 * 64}}}};
  join_first_rows(found, page);
  ASSERT_EQ(found.objects[0].pages, 15U);
  double sum = 0;
  for (const use_run& run : found.objects[0].uses) {
    EXPECT_LE(run.first + run.count, 15U);
    sum += run.by.at(0).amount;
  }
  EXPECT_EQ(sum, 14 * 64 + 2 * 64);
}

// Of a large array the users of most pages stay together; a file may say anything of how large it
// is.
TEST(FirstRows, KeepLongRunsTogether) {
  for (const std::uint64_t pages : {std::uint64_t{15}, std::uint64_t{1} << 40}) {
    program found = rows();
    found.objects[1].pages = pages;
    found.objects[1].uses = {{0, pages, {{1, 64 * static_cast<double>(pages)}}}};
    join_first_rows(found, page);
    const object& joined = found.objects[0];
    EXPECT_LE(joined.uses.size(), 5U);
    for (const use_run& run : joined.uses) {
      EXPECT_LE(run.first + run.count, joined.pages);
    }
  }
}

TEST(FirstRows, AreOfTheSameCallAsLongLivedAndSmall) {
  for (const int what : {0, 1, 2, 3}) {
    program found = rows();
    object& row = found.objects[0];
    if (what == 0) {
      row.made_at.back().offset = 0x80;
    } else if (what == 1) {
      row.died_s = 0.3; // a temporary
    } else if (what == 2) {
      row.bytes = largest_row_bytes;
    } else {
      row.made_at.clear();
    }
    join_first_rows(found, page);
    EXPECT_EQ(found.objects.size(), 3U) << what;
    EXPECT_EQ(found.objects[1].pages, 15U) << what;
  }
}

} // namespace
} // namespace nodewise::profile
