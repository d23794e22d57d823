// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/area.hpp"

#include <gtest/gtest.h>

namespace nodewise::observe {

namespace {

constexpr std::uint64_t page = 4096;

located_mapping mapping_of(std::uint64_t first_page, std::vector<page_run> runs,
                           std::string policy = "default") {
  located_mapping m;
  std::uint64_t pages = 0;
  for (const page_run& r : runs) {
    pages += r.pages;
  }
  m.what.where = {first_page * page, (first_page + pages) * page};
  m.runs = std::move(runs);
  m.policy = std::move(policy);
  m.page_bytes = page;
  m.huge_bytes = 0;
  return m;
}

const node_id n0{0};
const node_id n1{1};

TEST(Areas, without_names_are_the_mappings) {
  const std::vector mappings = {mapping_of(10, {{4, n0}, {2, absent_page}, {1, zero_page}}),
                                mapping_of(30, {{5, unknown_node}})};
  const auto areas = areas_of(mappings, {}, page);
  ASSERT_EQ(areas.size(), 2U);
  EXPECT_EQ(areas[0].pages, 7U);
  EXPECT_EQ(areas[0].resident, 4U);
  EXPECT_EQ(areas[0].zeros, 1U);
  EXPECT_EQ(areas[0].unknown, 0U);
  ASSERT_EQ(areas[0].per_node.size(), 1U);
  EXPECT_EQ(areas[0].per_node[0].pages, 4U);
  EXPECT_EQ(areas[1].resident, 5U);
  EXPECT_EQ(areas[1].unknown, 5U);
  EXPECT_TRUE(areas[1].per_node.empty()) << "unknown is never node 0";
  EXPECT_FALSE(areas[1].share_on({n0}));
}

TEST(Areas, an_array_placed_in_blocks_is_made_of_several_mappings) {
  const std::vector mappings = {mapping_of(100, {{8, n0}}, "prefer:0"),
                                mapping_of(108, {{8, n1}}, "prefer:1")};
  const auto areas =
      areas_of(mappings, {{{100 * page + 16, 116 * page}, area_kind::array, "solver.c:41"}}, page);
  ASSERT_EQ(areas.size(), 1U);
  EXPECT_EQ(areas[0].name, "solver.c:41");
  EXPECT_EQ(areas[0].kind, area_kind::array);
  EXPECT_EQ(areas[0].runs, (std::vector<page_run>{{8, n0}, {8, n1}}));
  ASSERT_EQ(areas[0].policies.size(), 2U);
  EXPECT_EQ(areas[0].policies[1], (std::pair<std::uint64_t, std::string>(8, "prefer:1")));
  EXPECT_EQ(areas[0].share_on({n1}), 0.5);
}

TEST(Areas, a_mapping_is_cut_at_its_symbols_and_each_page_counts_once) {
  const std::vector mappings = {mapping_of(0, {{10, n0}, {10, n1}, {10, n0}})};
  // Neighbours that share a page: it is whose most of it is.
  const auto areas = areas_of(mappings,
                              {{{2 * page + 64, 12 * page + 100}, area_kind::static_data, "a"},
                               {{12 * page + 100, 20 * page + 3000}, area_kind::static_data, "b"}},
                              page);
  ASSERT_EQ(areas.size(), 4U);
  EXPECT_EQ(areas[0].where, (sys::address_range{0, 2 * page}));
  EXPECT_EQ(areas[1].name, "a");
  EXPECT_EQ(areas[1].runs, (std::vector<page_run>{{8, n0}, {2, n1}}));
  EXPECT_EQ(areas[2].name, "b");
  EXPECT_EQ(areas[2].runs, (std::vector<page_run>{{8, n1}, {1, n0}}));
  EXPECT_EQ(areas[3].pages, 9U);
  std::uint64_t pages = 0;
  for (const area& a : areas) {
    pages += a.pages;
  }
  EXPECT_EQ(pages, 30U);
}

TEST(Areas, of_overlapping_names_the_first_counts) {
  const std::vector mappings = {mapping_of(0, {{10, n0}})};
  const auto areas = areas_of(mappings,
                              {{{0, 5 * page}, area_kind::array, "first"},
                               {{4 * page, 8 * page}, area_kind::static_data, "second"}},
                              page);
  ASSERT_EQ(areas.size(), 2U);
  EXPECT_EQ(areas[0].name, "first");
  EXPECT_EQ(areas[1].name, "");
}

TEST(Areas, names_of_memory_that_is_gone_are_left_out) {
  const std::vector mappings = {mapping_of(10, {{4, n0}})};
  const auto areas =
      areas_of(mappings, {{{100 * page, 104 * page}, area_kind::array, "freed"}}, page);
  ASSERT_EQ(areas.size(), 1U);
  EXPECT_EQ(areas[0].name, "");
}

TEST(Areas, totals_of_a_mapping_count_for_the_whole_of_it_only) {
  located_mapping m = mapping_of(0, {{10, unknown_node}});
  m.totals = {{n0, 4}, {n1, 2}};
  m.huge_bytes = 2U << 20;
  const std::vector mappings = {m};
  const auto whole = areas_of(mappings, {}, page);
  EXPECT_EQ(whole[0].resident, 6U);
  EXPECT_EQ(whole[0].per_node.size(), 2U);
  EXPECT_EQ(whole[0].huge_bytes, 2U << 20);
  const auto cut = areas_of(mappings, {{{0, 5 * page}, area_kind::static_data, "a"}}, page);
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_TRUE(cut[0].per_node.empty()) << "nobody knows which part the totals are of";
  EXPECT_FALSE(cut[0].huge_bytes);
}

} // namespace

} // namespace nodewise::observe
