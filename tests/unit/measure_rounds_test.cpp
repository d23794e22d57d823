// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which point is visited next, on clocks that are made up.
#include "measure/session.hpp"

#include <vector>

#include <gmock/gmock.h>

namespace nodewise::measure {
namespace {

using namespace std::chrono_literals;
using testing::DoubleNear;
using testing::ElementsAre;

/// Visits as they are asked for, each of so much time and one sample.
struct visitor {
  rounds order;
  std::vector<outcome> found;
  std::chrono::nanoseconds now{};
  std::vector<std::size_t> visited = {};

  visitor(std::size_t points, limits until) : order(points, until), found(points) {}

  bool visit(std::chrono::nanoseconds takes, double sample, std::size_t samples = 1) {
    const auto next = order.next(now, found);
    if (!next) {
      return false;
    }
    now += takes;
    visited.push_back(*next);
    found[*next].samples.insert(found[*next].samples.end(), samples, sample);
    found[*next].visits.push_back(samples);
    return true;
  }
};

TEST(Rounds, GoThroughAllPointsAgainAndAgainUntilTimeIsUp) {
  visitor all(3, {.time = 2s});
  for (double sample = 1; all.visit(1s, sample); ++sample) { // never sure
  }
  EXPECT_THAT(all.visited, ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(Rounds, VisitEveryPointOnceHoweverLongThatTakes) {
  visitor all(3, {.time = 1ns});
  while (all.visit(1s, 1)) {
  }
  EXPECT_THAT(all.visited, ElementsAre(0, 1, 2));
}

TEST(Rounds, LeaveOutWhatIsSureAndWhatIsUnavailable) {
  visitor all(3, {.time = 1h, .visits = 2, .most_samples = 4});
  all.found[1].unavailable = "refused";
  for (const double sample : {5, 1, 1, 5, 2, 3, 4, 5}) {
    all.visit(1s, sample);
  }
  // 0 is sure with two, 1 is asked in the first round only, 2 varies and ends with its fourth.
  EXPECT_THAT(all.visited, ElementsAre(0, 1, 2, 0, 2, 2, 2));
}

TEST(Rounds, GoOnUntilThereAreEnoughVisitsHoweverManySamplesTheyTook) {
  visitor all(1, {.time = 1h, .visits = 6, .most_samples = 10});
  for (double sample = 1; all.visit(1s, sample, 20); ++sample) {
  }
  EXPECT_EQ(all.visited.size(), 6U);
}

TEST(Rounds, EndEarlyWhereEveryPointIsSure) {
  visitor all(2, {.time = 1h, .visits = 3});
  while (all.visit(1s, 5)) {
  }
  EXPECT_THAT(all.visited, ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(Rounds, HaveNothingToDoWithoutPoints) {
  EXPECT_FALSE(visitor(0, {.time = 1s}).visit(1s, 1));
}

TEST(Rounds, TellHowMuchOfTheTimeIsOver) {
  visitor quick(4, {.time = 10s});
  EXPECT_EQ(quick.order.share_done(0s), 0);
  quick.visit(1s, 1);
  quick.visit(1s, 2);
  EXPECT_THAT(quick.order.share_done(quick.now), DoubleNear(2.0 / 40, 1e-9));

  visitor slow(4, {.time = 100ms}); // a round takes longer than there is time
  slow.visit(1s, 1);
  slow.visit(1s, 2);
  (void)slow.order.next(slow.now, slow.found);
  EXPECT_THAT(slow.order.share_done(slow.now), DoubleNear(0.5, 1e-9));
}

TEST(Limits, GiveEachVisitItsShare) {
  EXPECT_EQ((limits{.time = 4s, .visits = 6}.time_of_a_visit()), 500ms);
}

} // namespace
} // namespace nodewise::measure
