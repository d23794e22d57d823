// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/prediction/counted.hpp"
#include "cli/prediction/predicted.hpp"
#include "model/costs.hpp"
#include "unit/counts_files.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::cli {
namespace {

using testing::HasSubstr;
using traffic::counts_with;
using traffic::phase;

/// Two nodes of two cores, each memory 1 GB/s.
machine two_by_two() {
  machine made = test::grid(2, 2);
  for (const int node : {0, 1}) {
    made.parameters.push_back(
        {"bandwidth", node_id{node}, node_id{node}, 1, "GB/s", "given by the test"});
  }
  return made;
}

priced_traffic priced(const std::string& lines, const traffic_choice& which = {}) {
  return price_of_counts(traffic::read_counts(counts_with(lines)), which,
                         model::costs_of(two_by_two()));
}

TEST(ModelTraffic, ReadsFillsAndWritesTheRest) {
  const priced_traffic found = priced("cell 3 0 use 10 2 3 4\ncell 3 1 init 5 0 0 0\n");
  ASSERT_EQ(found.what.threads.size(), 1U);
  const model::thread_traffic& thread = found.what.threads.front();
  EXPECT_EQ(thread.core, 3U);
  EXPECT_DOUBLE_EQ(thread.read[0], 10 * 64);
  EXPECT_DOUBLE_EQ(thread.written[0], (2 + 3 + 4) * 64); // write-backs, dirty, streams
  EXPECT_DOUBLE_EQ(thread.read[1], 5 * 64);
  EXPECT_DOUBLE_EQ(found.lines, 24);
  EXPECT_DOUBLE_EQ(found.dirty, 3);
  EXPECT_DOUBLE_EQ(priced("cell 3 0 use 10 2 3 4\ncell 3 1 init 5 0 0 0\n",
                          {.when = phase::initialisation, .region = {}})
                       .lines,
                   5);
}

TEST(ModelTraffic, SharesARegionAmongTheProcessorsOfItsNode) {
  const priced_traffic found =
      priced("cell 0 0 use 9 0 0 0\ncell 1 0 use 1 0 0 0\ncell 2 0 use 0 0 0 0\n"
             "region 7 a 0 1 100 20 0\nregion 7 b 0 0 5 0 0\n",
             {.when = {}, .region = "a"});
  ASSERT_EQ(found.what.threads.size(), 2U);
  for (const model::thread_traffic& thread : found.what.threads) {
    EXPECT_DOUBLE_EQ(thread.read[1], 50 * 64);
    EXPECT_DOUBLE_EQ(thread.written[1], 10 * 64);
  }
}

TEST(ModelTraffic, LeavesOutWhatNobodyKnows) {
  const priced_traffic found =
      priced("cell 0 -1 use 7 0 0 0\ncell 1 0 use 3 0 0 0\ncell 9 0 use 5 0 0 0\n");
  EXPECT_DOUBLE_EQ(found.lines, 3);
  EXPECT_DOUBLE_EQ(found.unknown, 12);
  EXPECT_THROW((void)priced("cell 0 -1 use 7 0 0 0\n"), error);
  EXPECT_THROW((void)priced(""), error);
}

TEST(ModelTraffic, PredictsEachRegionAndTheirShares) {
  const traffic::counts counts =
      traffic::read_counts(counts_with("cell 0 0 use 9 0 0 0\ncell 2 1 use 9 0 0 0\n"
                                       "region 7 slow 1 0 30000 0 0\nregion 7 fast 0 0 10000 0 0\n"
                                       "region 7 empty 0 0 0 0 0\n"));
  const auto parts = predict_parts(counts, phase::use, two_by_two());
  ASSERT_EQ(parts.size(), 2U); // of the third there is nothing to tell
  EXPECT_EQ(parts[0].region, "slow");
  EXPECT_NEAR(*parts[0].seconds, 30000 * 64 / 1e9, 1e-12);
  EXPECT_NEAR(parts[0].share, 0.75, 1e-12);
  EXPECT_NEAR(*parts[1].seconds, 10000 * 64 / 1e9, 1e-12);
  EXPECT_THAT(predicted_text(parts, {}), HasSubstr("\n  slow    1.92 ms "));
  const auto relative = predict_parts(counts, phase::use, test::grid(2, 2));
  EXPECT_EQ(relative[0].seconds, std::nullopt);
  EXPECT_THAT(predicted_text(relative, {}), HasSubstr("\n  slow           75.0 % "));
  EXPECT_EQ(predicted_json(relative)[0]["seconds"], "unavailable");
}

TEST(ModelTraffic, ACountIsACountWithoutAPrediction) {
  const traffic::counts counts = traffic::read_counts(counts_with("cell 3 1 use 9 0 0 0\n"));
  EXPECT_TRUE(predict_parts(counts, phase::use, test::grid(1, 2)).empty());
  machine wrong = two_by_two();
  wrong.parameters.front().unit = "miles";
  EXPECT_TRUE(predict_parts(counts, phase::use, wrong).empty());
  EXPECT_EQ(predicted_text({}, {}), "");
}

} // namespace
} // namespace nodewise::cli
