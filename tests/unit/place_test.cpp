// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "place/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/fake_kernel.hpp"

namespace nodewise {
namespace {

using test::fake_kernel;
using test::fake_range;

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

extent_source source(blocked d) {
  return [d](std::size_t pages) { return d.extents(pages); };
}
extent_source source(block_cyclic d) {
  return [d](std::size_t pages) { return d.extents(pages); };
}

const std::vector<node_id> two{node_id{0}, node_id{1}};

class PlaceByPageSize : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlaceByPageSize, PolicyBeatsTouch) {
  const std::size_t page = GetParam();
  fake_kernel kernel({node_id{0}, node_id{1}}, page);
  const auto range = fake_range(64 * page);
  const placement placed = engine::place_extents(kernel, range, source(blocked(two)), {});
  EXPECT_EQ(placed.method, place_method::policy);
  EXPECT_EQ(placed.pages, 64U);
  kernel.touch(range.data(), range.size(), 0);
  const residency where = engine::query_residency(kernel, range, placed.asked);
  EXPECT_EQ(where.resident, 64U);
  EXPECT_EQ(where.on_owner, 64U);
  EXPECT_EQ(where.locality(), 1.0);
  EXPECT_EQ(where.exactness, resolution::page);
}
INSTANTIATE_TEST_SUITE_P(PageSizes, PlaceByPageSize,
                         ::testing::Values(4 * kib, 16 * kib, 64 * kib));

TEST(Place, TakesNodesWithAnyNumber) {
  for (const int high : {7, 63, 64, 1000}) {
    fake_kernel kernel({node_id{3}, node_id{high}});
    const auto range = fake_range(10 * 4 * kib);
    const auto placed =
        engine::place_extents(kernel, range, source(blocked({node_id{3}, node_id{high}})), {});
    EXPECT_TRUE(placed.complete());
    kernel.touch(range.data(), range.size(), 3);
    const residency where = engine::query_residency(kernel, range, placed.asked);
    ASSERT_EQ(where.per_node.size(), 2U);
    EXPECT_EQ(where.per_node[1].node, node_id{high});
    EXPECT_EQ(where.per_node[1].pages, 5U);
  }
}

TEST(Place, LeavesPagesAlonThatTheRangeCoversOnlyPartly) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  const auto whole = fake_range(8 * 4 * kib);
  const auto placed =
      engine::place_extents(kernel, whole.subspan(100, 6 * 4 * kib), source(blocked(two)), {});
  EXPECT_EQ(placed.pages, 5U);
  EXPECT_FALSE(kernel.page_policy.contains(reinterpret_cast<std::uintptr_t>(whole.data())));
}

TEST(Place, SaysSoWhereARangeHoldsNoWholePage) {
  fake_kernel kernel({node_id{0}});
  const auto placed =
      engine::place_extents(kernel, fake_range(100), source(blocked({node_id{0}})), {});
  EXPECT_EQ(placed.method, place_method::none);
  EXPECT_THAT(placed.notes, ::testing::SizeIs(1));
}

TEST(Place, MigratesWhereExtentsAreTooManyForPolicies) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  const auto range = fake_range(4001 * 4 * kib);
  const auto placed = engine::place_extents(kernel, range, source(block_cyclic(two, 1)), {});
  EXPECT_EQ(placed.method, place_method::migration);
  EXPECT_EQ(kernel.mbind_calls, 0U);
  EXPECT_LE(kernel.largest_batch, 4096U);
  const residency where = engine::query_residency(kernel, range, placed.asked);
  EXPECT_EQ(where.on_owner, 4001U);
}

TEST(Place, TakesNoMoreThanAQuarterOfMaxMapCountInPolicies) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  kernel.files["/proc/sys/vm/max_map_count"] = "40";
  EXPECT_EQ(engine::policy_extent_limit(kernel), 10U);
  const auto range = fake_range(11 * 4 * kib);
  EXPECT_EQ(engine::place_extents(kernel, range, source(block_cyclic(two, 1)), {}).method,
            place_method::migration);
  const auto shorter = fake_range(10 * 4 * kib, 0x5000'0000'0000);
  EXPECT_EQ(engine::place_extents(kernel, shorter, source(block_cyclic(two, 1)), {}).method,
            place_method::policy);
}

TEST(Place, RoundsEdgesToHugePagesWhereBlocksSpanAtLeastEight) {
  fake_kernel kernel({node_id{0}, node_id{1}}, 4 * kib, 2 * mib);
  const auto range = fake_range(37 * mib);
  const auto placed = engine::place_extents(kernel, range, source(blocked(two)), {});
  EXPECT_EQ(placed.granule_bytes, 2 * mib);
  EXPECT_EQ(placed.asked.at(0).last_page % 512, 0U);
  EXPECT_EQ(placed.asked.at(0).pages(), 9 * 512U);
}

TEST(Place, KeepsBasePagesWhereBlocksAreShort) {
  fake_kernel kernel({node_id{0}, node_id{1}}, 4 * kib, 2 * mib);
  const auto placed = engine::place_extents(kernel, fake_range(31 * mib), source(blocked(two)), {});
  EXPECT_EQ(placed.granule_bytes, 4 * kib);
}

TEST(Place, RoundsToAbsoluteAddressesInAnUnalignedRange) {
  fake_kernel kernel({node_id{0}, node_id{1}}, 4 * kib, 2 * mib);
  const auto range = fake_range(64 * mib, 0x4000'0000'0000 + mib);
  const auto placed = engine::place_extents(kernel, range, source(blocked(two)), {});
  const auto edge =
      reinterpret_cast<std::uintptr_t>(range.data()) + placed.asked.at(0).last_page * 4 * kib;
  EXPECT_EQ(edge % (2 * mib), 0U);
}

TEST(Place, GoesOnAndReportsEachRefusalWhereAskedToPrefer) {
  fake_kernel kernel({node_id{0}});
  const auto placed =
      engine::place_extents(kernel, fake_range(8 * 4 * kib), source(blocked(two)), {});
  EXPECT_EQ(placed.method, place_method::policy);
  EXPECT_FALSE(placed.complete());
  ASSERT_EQ(placed.refused.size(), 1U);
  EXPECT_EQ(placed.refused[0].where, (extent{4, 8, node_id{1}}));
  EXPECT_EQ(placed.refused[0].errno_value, EINVAL);
}

TEST(Place, ThrowsAndLeavesNothingBehindWhereItMust) {
  fake_kernel kernel({node_id{0}});
  const place_options must{strictness::must, page_size::base};
  try {
    (void)engine::place_extents(kernel, fake_range(8 * 4 * kib), source(blocked(two)), must);
    FAIL() << "node 1 does not exist";
  } catch (const error& e) {
    EXPECT_EQ(e.errno_value(), EINVAL);
    EXPECT_THAT(e.asked(), ::testing::HasSubstr("pages 4..8 on node 1"));
    EXPECT_THAT(e.answered(), ::testing::HasSubstr("EINVAL"));
  }
  EXPECT_TRUE(kernel.page_policy.empty());
}

TEST(Place, SaysNoneWhereTheKernelRefusesMbind) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  kernel.refuse["mbind"] = EPERM;
  const auto placed =
      engine::place_extents(kernel, fake_range(8 * 4 * kib), source(blocked(two)), {});
  EXPECT_EQ(placed.method, place_method::none);
  EXPECT_EQ(placed.refused.size(), 2U);
}

TEST(Place, RefusesExtentsThatDoNotCoverTheRange) {
  fake_kernel kernel({node_id{0}});
  const auto hole = [](std::size_t) { return std::vector<extent>{{0, 3, node_id{0}}}; };
  EXPECT_THROW((void)engine::place_extents(kernel, fake_range(8 * 4 * kib), hole, {}), error);
}

TEST(Place, MovesPagesThatAreThereAlready) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  const auto range = fake_range(8 * 4 * kib);
  kernel.touch(range.data(), range.size(), 0);
  const auto placed = engine::place_extents(kernel, range, source(blocked(two)), {});
  EXPECT_TRUE(placed.complete());
  EXPECT_EQ(engine::query_residency(kernel, range, placed.asked).on_owner, 8U);
}

TEST(Place, ReportsPagesThatWouldNotMove) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  const auto range = fake_range(8 * 4 * kib);
  kernel.touch(range.data(), range.size(), 0);
  kernel.stuck = {reinterpret_cast<std::uintptr_t>(range.data()) + 6 * 4 * kib};
  const auto placed = engine::place_extents(kernel, range, source(blocked(two)), {});
  ASSERT_EQ(placed.refused.size(), 1U);
  EXPECT_EQ(placed.refused[0].errno_value, EIO);
}

TEST(Place, CountsInBasePagesOnReservedHugePagesToo) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  const auto range = fake_range(8 * mib);
  const auto placed = engine::place_extents(kernel, range, source(blocked(two)),
                                            {strictness::prefer, page_size::huge_2m});
  EXPECT_EQ(placed.pages, 2048U);
  EXPECT_EQ(placed.granule_bytes, 2 * mib);
  kernel.touch(range.data(), range.size(), 0);
  EXPECT_EQ(engine::query_residency(kernel, range, placed.asked).on_owner, 2048U);
}

TEST(Place, TakesBasePagesWhereAHugePageWouldSwallowBlocks) {
  fake_kernel kernel({node_id{0}, node_id{1}}, 4 * kib, 2 * mib);
  const auto range = fake_range(16 * mib);
  const place_options huge{strictness::prefer, page_size::transparent_huge};
  const auto placed = engine::place_extents(kernel, range, source(block_cyclic(two, 64)), huge);
  EXPECT_EQ(placed.granule_bytes, 4 * kib);
  EXPECT_EQ(placed.asked.size(), 64U);
  EXPECT_THAT(placed.notes, ::testing::ElementsAre(::testing::HasSubstr("base pages instead")));
  EXPECT_THROW((void)engine::place_extents(kernel, range, source(block_cyclic(two, 64)),
                                           {strictness::must, page_size::transparent_huge}),
               error);
}

TEST(GiveBack, UnmapsWhatWasMappedWhateverPagesItHas) {
  const auto range = fake_range(4 * kib);
  const auto start = reinterpret_cast<std::uintptr_t>(range.data());
  for (const std::size_t page : {4 * kib, 2 * mib, 1024 * mib}) {
    for (const std::size_t bytes : {std::size_t{1}, 4 * kib, 3 * mib + 1, 4 * mib, 1025 * mib}) {
      fake_kernel kernel({node_id{0}});
      kernel.mapped_page_bytes = page;
      EXPECT_EQ(engine::give_back(kernel, range.data(), bytes), 0);
      const std::size_t mapped = (bytes + page - 1) / page * page;
      EXPECT_THAT(kernel.unmapped, ::testing::ElementsAre(std::pair(start, mapped)))
          << bytes << " bytes in pages of " << page;
    }
  }
}

TEST(GiveBack, GivesThePagesBackWhereTheAddressesStay) {
  fake_kernel kernel({node_id{0}});
  const auto range = fake_range(64 * kib);
  kernel.touch(range.data(), range.size(), 0);
  kernel.refuse["munmap"] = ENOMEM;
  EXPECT_EQ(engine::give_back(kernel, range.data(), range.size()), ENOMEM);
  EXPECT_TRUE(kernel.page_nodes.empty());
}

TEST(Migrate, BelievesWhereAPageIsAndNotThatItWasBusy) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  const auto range = fake_range(8 * 4 * kib);
  kernel.touch(range.data(), range.size(), 0);
  kernel.called_busy = {reinterpret_cast<std::uintptr_t>(range.data()) + 6 * 4 * kib};
  const migration moved = engine::migrate_extents(kernel, range, blocked(two).extents(8));
  EXPECT_TRUE(moved.refused.empty());
  EXPECT_EQ(moved.moved, 4U);
}

TEST(Migrate, RefusesExtentsThatMakeNoSense) {
  fake_kernel kernel({node_id{0}});
  const auto range = fake_range(8 * 4 * kib);
  for (const extent& wrong : {extent{0, 9, node_id{0}}, extent{3, 2, node_id{0}}, extent{0, 1}}) {
    EXPECT_THROW((void)engine::migrate_extents(kernel, range, std::span(&wrong, 1)), error);
  }
}

TEST(Migrate, MovesWhatIsThereAndCountsTheRest) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  const auto range = fake_range(100 * 4 * kib);
  kernel.touch(range.data(), 80 * 4 * kib, 0);
  const auto start = reinterpret_cast<std::uintptr_t>(range.data());
  kernel.stuck = {start + 60 * 4 * kib, start + 61 * 4 * kib, start + 70 * 4 * kib};
  const migration moved = engine::migrate_extents(kernel, range, blocked(two).extents(100));
  EXPECT_EQ(moved.already_there, 50U);
  EXPECT_EQ(moved.moved, 27U);
  EXPECT_EQ(moved.not_resident, 20U);
  ASSERT_EQ(moved.refused.size(), 2U) << "neighbouring refusals are one";
  EXPECT_EQ(moved.refused[0].where, (extent{60, 62, node_id{1}}));
  EXPECT_EQ(moved.refused[0].errno_value, EBUSY);
  kernel.touch(range.data(), range.size(), 0);
  EXPECT_EQ(kernel.page_nodes[start + 99 * 4 * kib], 1) << "pages touched later follow";
}

TEST(Residency, CountsPagesThatAreNotInMemory) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  const auto range = fake_range(10 * 4 * kib);
  kernel.touch(range.data(), 4 * 4 * kib, 1);
  const auto where = engine::query_residency(kernel, range, blocked(two).extents(10));
  EXPECT_EQ(where.pages, 10U);
  EXPECT_EQ(where.resident, 4U);
  EXPECT_EQ(where.on_owner, 0U);
  EXPECT_EQ(where.locality(), 0.0);
}

TEST(Residency, HasNoLocalityWhereNothingIsInMemory) {
  fake_kernel kernel({node_id{0}});
  EXPECT_FALSE(engine::query_residency(kernel, fake_range(4096), {}).locality().has_value());
}

TEST(Residency, AsksGetMempolicyWhereMovePagesIsRefused) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  kernel.refuse["move_pages"] = EPERM;
  const auto range = fake_range(10 * 4 * kib);
  kernel.touch(range.data(), 4 * 4 * kib, 1);
  const auto where = engine::query_residency(kernel, range, {});
  EXPECT_EQ(where.resident, 4U) << "asking must not bring pages into memory";
  ASSERT_EQ(where.per_node.size(), 1U);
  EXPECT_EQ(where.per_node[0].node, node_id{1});
}

TEST(Residency, CallsThePageOfZerosUnknownWhereMovePagesIsRefused) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  kernel.refuse["move_pages"] = EPERM;
  const auto range = fake_range(4 * 4 * kib);
  kernel.touch(range.data(), range.size(), 0);
  kernel.zeros = {reinterpret_cast<std::uintptr_t>(range.data())};
  const auto where = engine::query_residency(kernel, range, {});
  EXPECT_EQ(where.resident, 4U);
  EXPECT_EQ(where.unknown, 1U);
  ASSERT_EQ(where.per_node.size(), 1U);
  EXPECT_EQ(where.per_node[0].pages, 3U);
}

TEST(Residency, ReadsNumaMapsWithReducedResolutionWhereBothAreRefused) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  kernel.refuse = {{"move_pages", EPERM}, {"get_mempolicy", EPERM}};
  const auto range = fake_range(10 * 4 * kib);
  kernel.touch(range.data(), range.size(), 1);
  kernel.files["/proc/self/maps"] = "400000000000-400000005000 rw-p 00000000 00:00 0\n"
                                    "400000005000-40000000a000 rw-p 00000000 00:00 0\n"
                                    "40000000a000-400000010000 rw-p 00000000 00:00 0\n";
  kernel.files["/proc/self/numa_maps"] =
      "400000000000 prefer:0 anon=5 dirty=5 N0=4 N1=1 kernelpagesize_kB=4\n"
      "400000005000 prefer:1 anon=5 dirty=5 N1=5 kernelpagesize_kB=4\n"
      "40000000a000 default anon=6 dirty=6 N0=6 kernelpagesize_kB=4\n";
  const auto where = engine::query_residency(kernel, range, blocked(two).extents(10));
  EXPECT_EQ(where.exactness, resolution::mapping);
  EXPECT_EQ(where.resident, 10U);
  EXPECT_EQ(where.on_owner, 9U);
}

TEST(Residency, CallsAMappingWithSeveralOwnersUnknownAndOneThatReachesBeyondToo) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  kernel.refuse = {{"move_pages", EPERM}, {"get_mempolicy", EPERM}};
  const auto range = fake_range(10 * 4 * kib);
  kernel.touch(range.data(), range.size(), 1);
  kernel.files["/proc/self/maps"] = "400000000000-40000000a000 rw-p 00000000 00:00 0\n";
  kernel.files["/proc/self/numa_maps"] =
      "400000000000 default anon=10 dirty=10 N1=10 kernelpagesize_kB=4\n";
  const auto whole = engine::query_residency(kernel, range, blocked(two).extents(10));
  EXPECT_EQ(whole.unknown, 10U);
  EXPECT_FALSE(whole.locality().has_value());
  const auto part = engine::query_residency(kernel, range.first(5 * 4 * kib), {});
  EXPECT_EQ(part.exactness, resolution::none);
  EXPECT_EQ(part.unknown, 5U);
}

TEST(Residency, CallsPagesUnknownWhereNothingIsPermitted) {
  fake_kernel kernel({node_id{0}, node_id{1}});
  kernel.refuse = {{"move_pages", EPERM}, {"get_mempolicy", EPERM}};
  const auto range = fake_range(10 * 4 * kib);
  kernel.touch(range.data(), range.size(), 0);
  const auto where = engine::query_residency(kernel, range, {});
  EXPECT_EQ(where.exactness, resolution::none);
  EXPECT_EQ(where.unknown, 10U);
  EXPECT_TRUE(where.per_node.empty()) << "unknown is never node 0";
  EXPECT_FALSE(where.locality().has_value());
}

} // namespace
} // namespace nodewise
