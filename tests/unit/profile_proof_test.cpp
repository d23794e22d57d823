// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which of the runs that were counted becomes the plan, and which are worth a run at all.
#include <algorithm>
#include <map>
#include <string>

#include <gmock/gmock.h>

#include "cli/verbs/profile/proof.hpp"

namespace nodewise::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

advise::outcome taking(double seconds, double remote) {
  return {.remote = remote, .seconds = seconds, .binds = {}};
}

plans::plan_file plan_named(const std::string& name) {
  plans::plan_file made;
  made.program = name;
  made.objects.resize(1);
  return made;
}

/// A program that takes 10 s with 70 % remote, and a plan that is to halve that.
class ProfileProof : public ::testing::Test {
 protected:
  ProfileProof() {
    plan_.plan = plan_named("plan");
    plan_.before = taking(10, 0.7);
    plan_.after = taking(5, 0.1);
  }

  void offer(const std::string& name, const advise::outcome& expected,
             bool must_be_nearer = false) {
    others_.push_back({name, plan_named(name), expected, must_be_nearer});
  }
  proof run() {
    return prove(plan_, others_, by_chance_, [&](const plans::plan_file& plan) -> counted_outcome {
      const bool again = by_chance_ && std::ranges::find(ran_, plan.program) != ran_.end();
      ran_.push_back(plan.program);
      const auto found = counted_.find(plan.program + (again ? " again" : ""));
      return found == counted_.end() ? counted_outcome{{}, "it was killed"}
                                     : counted_outcome{found->second, ""};
    });
  }

  advise::proposal plan_;
  std::vector<advise::alternative> others_;
  bool by_chance_ = false;
  std::map<std::string, advise::outcome> counted_;
  std::vector<std::string> ran_;
};

TEST_F(ProfileProof, APlanAsGoodAsPredictedNeedsOneRun) {
  counted_ = {{"plan", taking(5.1, 0.1)}};
  offer("interleave", taking(8, 0.75));
  EXPECT_EQ(run().best, 0U);
  EXPECT_THAT(ran_, ElementsAre("plan"));
}

TEST_F(ProfileProof, WhatIsBetterThanThePlanReplacesIt) {
  counted_ = {
      {"plan", taking(12, 0.8)}, {"blocked", taking(7, 0.3)}, {"interleave", taking(8, 0.75)}};
  offer("interleave", taking(7.5, 0.75));
  offer("blocked", taking(6, 0.3));
  const proof found = run();
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.tried[*found.best].plan.program, "blocked");
  EXPECT_THAT(ran_, ElementsAre("plan", "blocked")); // interleaving can be no better than that
}

// Times are predicted from counts; where they are as good as equal, less remote traffic is better.
TEST_F(ProfileProof, OfWhatTakesAboutAsLongTheNearerIsTaken) {
  plan_.before = taking(5.4, 0.7);
  counted_ = {{"plan", taking(5.1, 0.1)}, {"interleave", taking(5.05, 0.75)}};
  offer("interleave", taking(4.9, 0.75));
  EXPECT_EQ(run().best, 0U);
  EXPECT_THAT(ran_, ElementsAre("plan", "interleave"));
  counted_["interleave"] = taking(4.9, 0.75);
  EXPECT_EQ(run().best, 1U);
}

TEST_F(ProfileProof, NothingThatIsSlowerThanThePlainRunIsTaken) {
  counted_ = {{"plan", taking(30, 0.7)}, {"interleave", taking(11, 0.75)}};
  offer("interleave", taking(9, 0.75));
  const proof found = run();
  EXPECT_EQ(found.tried.size(), 2U);
  EXPECT_FALSE(found.best);
}

TEST_F(ProfileProof, APlanThatChangesNothingIsNotRun) {
  plan_.plan.objects.clear();
  plan_.after = plan_.before;
  counted_ = {{"interleave", taking(4, 0.75)}};
  offer("interleave", taking(4, 0.75));
  offer("blocked", taking(9.9, 0.7)); // not worth a run
  EXPECT_EQ(run().best, 0U);
  EXPECT_THAT(ran_, ElementsAre("interleave"));
}

TEST_F(ProfileProof, WhatTheModelIsNotSureOfMustHaveLessRemoteTraffic) {
  plan_.plan.objects.clear();
  plan_.after = plan_.before;
  offer("bold", taking(4, 0.2), true);
  counted_ = {{"bold", taking(4, 0.9)}};
  EXPECT_FALSE(run().best);
  counted_ = {{"bold", taking(4, 0.2)}};
  EXPECT_EQ(run().best, 0U);
}

TEST_F(ProfileProof, APlanThatCannotBeCountedStaysAndTheReasonIsSaid) {
  offer("interleave", taking(4, 0.75));
  const proof found = run();
  EXPECT_EQ(found.best, 0U);
  EXPECT_EQ(found.tried.front().result.problem, "it was killed");
  EXPECT_THAT(ran_, ElementsAre("plan"));
}

TEST_F(ProfileProof, WithoutBandwidthsRemoteTrafficDecides) {
  plan_.before.seconds = plan_.after.seconds = std::nullopt;
  counted_ = {{"plan", {.remote = 0.9, .seconds = {}, .binds = {}}}};
  EXPECT_FALSE(run().best);
  counted_ = {{"plan", {.remote = 0.12, .seconds = {}, .binds = {}}}};
  EXPECT_EQ(run().best, 0U);
}

// As with oneTBB's threads, which take other parts of a loop each time.
TEST_F(ProfileProof, WhatDoesNotComeOutAsPredictedWillNotAgain) {
  counted_ = {
      {"plan", taking(6, 0.5)}, {"blocked", taking(5, 0.1)}, {"interleave", taking(8, 0.75)}};
  offer("interleave", taking(8, 0.75));
  offer("blocked", taking(7, 0.3));
  const proof found = run();
  EXPECT_THAT(ran_, ElementsAre("plan", "blocked", "interleave"));
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.tried[*found.best].name, "interleave");
  EXPECT_FALSE(found.tried[0].is_repeatable());
}

// Of what is left after most is near, more depends on what caches held.
TEST_F(ProfileProof, WhereChanceDealsOutWorkTheBestIsCountedTwice) {
  by_chance_ = true;
  plan_.plan.objects.front().where.how = placements::kind::blocked;
  counted_ = {{"plan", taking(5, 0.1)}, {"plan again", taking(5, 0.1)}};
  EXPECT_EQ(run().best, 0U);
  EXPECT_THAT(ran_, ElementsAre("plan", "plan"));
  ran_.clear();
  counted_ = {{"plan", taking(5, 0.1)}, {"plan again", taking(9, 0.6)}};
  const proof found = run();
  EXPECT_FALSE(found.best);
  EXPECT_FALSE(found.tried.front().is_repeatable());
  ran_.clear();
  plan_.plan.objects.front().where.how = placements::kind::interleave;
  EXPECT_EQ(run().best, 0U);
  EXPECT_THAT(ran_, ElementsAre("plan")) << "which thread uses what does not matter";
}

TEST_F(ProfileProof, ACountNearThePredictionIsRepeatable) {
  using candidate = proof::candidate;
  const auto is = [](double before, double predicted, double counted) {
    return candidate{"plan", {}, taking(1, predicted), {taking(1, counted), ""}, before}
        .is_repeatable();
  };
  EXPECT_TRUE(is(0.75, 0.60, 0.618));
  EXPECT_FALSE(is(0.75, 0.60, 0.56));
  EXPECT_TRUE(is(0.75, 0.06, 0.105));
  EXPECT_FALSE(is(0.75, 0.06, 0.115));
  EXPECT_TRUE(is(0.74, 0.75, 0.768)); // pages in turn over the nodes
}

TEST_F(ProfileProof, ThePlanItselfIsNoAlternative) {
  counted_ = {{"plan", taking(6, 0.1)}};
  others_.push_back({"placement by array", plan_.plan, taking(5, 0.1), true});
  (void)run();
  EXPECT_THAT(ran_, ElementsAre("plan"));
}

} // namespace
} // namespace nodewise::cli
