// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Plans, what is not worth the work, and what must hold of any advice.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include <nodewise/error.hpp>

#include "profile/profile.hpp"
#include "support/sanitizers.hpp"
#include "unit/advise_programs.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise {
namespace {

using advise::advice;
using advise::pattern;
using test::found;
using test::four_by_two;
using test::lab_machine;
using test::program_maker;
using test::two_by_four;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t pages = 1024;

TEST(AdvisePlan, BlocksAndTheBindingThatThreadsHave) {
  const advise::proposal made =
      advise::make_plan(test::three_arrays(two_by_four, false), lab_machine("nehalem-2x4"), 0);
  EXPECT_EQ(made.plan.program, "solver");
  EXPECT_EQ(made.plan.build_id, "abcd");
  EXPECT_EQ(made.plan.threads, 8U);
  EXPECT_EQ(made.plan.nodes, 2U);
  EXPECT_EQ(made.plan.bind, bind_policy::close);
  ASSERT_EQ(made.plan.objects.size(), 3U);
  for (const plans::entry& each : made.plan.objects) {
    EXPECT_EQ(each.where.how, placements::kind::blocked);
    EXPECT_EQ(each.which.kind, "heap");
    ASSERT_EQ(each.which.stack.size(), 1U);
    EXPECT_EQ(each.which.least_bytes, 64U << 10); // of every larger input, too
    EXPECT_FALSE(each.which.most_bytes);
    EXPECT_FALSE(each.which.first || each.which.last);
    EXPECT_THAT(each.why, HasSubstr("50 %"));
  }
  EXPECT_NEAR(*made.before.remote, 0.5, 1e-9);
  EXPECT_NEAR(*made.after.remote, 0, 1e-9);
  EXPECT_NEAR(made.worth.ratio, 2, 1e-9);
  EXPECT_LE(made.worth.low, made.worth.ratio);
  EXPECT_GE(made.worth.high, made.worth.ratio);
}

TEST(AdvisePlan, AnUnevenUseGetsAMap) {
  program_maker make(two_by_four);
  // Half of the use is in an eighth of the pages: equal blocks would be on the wrong node.
  constexpr std::uint64_t few = pages / 8;
  make.array(pages, program_maker::all_by(0));
  make.last().uses = {{0, few, {{0, 1e5}}}, {few, pages - few, {{4, 1e5}}}};
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("nehalem-2x4"), 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  EXPECT_EQ(made.plan.objects.front().where.how, placements::kind::map);
  const auto& parts = made.plan.objects.front().where.owners;
  ASSERT_EQ(parts.size(), 2U); // in lowest terms: one part of thread 0, seven of node 1's
  EXPECT_EQ(parts[0], (placements::owner_run{1, 0}));
  EXPECT_EQ(parts[1].parts, 7U);
  EXPECT_NEAR(*made.after.remote, 0, 1e-9);
}

// As a transform along each axis does: a block is its thread's in two sweeps, anyone's in the
// third.
TEST(AdvisePlan, BlocksThatOnePhaseUsesFromEverywhereStayBlocks) {
  for (const char* const on : {"nehalem-2x4", "opteron-4x2"}) {
    const std::vector<int>& nodes = on[0] == 'n' ? two_by_four : four_by_two;
    program_maker make(nodes);
    make.array(pages, program_maker::all_by(0)).used(make.blocked(), 1, 64);
    profile::object& array = make.last();
    for (profile::use_run& run : array.uses) {
      const std::size_t owner = run.by.front().by;
      const double each = run.by.front().amount * 1.6 / static_cast<double>(make.threads());
      for (std::size_t t = 0; t < make.threads(); ++t) {
        if (t != owner) {
          run.by.push_back({t, each});
        }
      }
    }
    const advise::proposal made = advise::make_plan(make.made(), lab_machine(on), 0);
    ASSERT_EQ(made.plan.objects.size(), 1U) << on;
    EXPECT_EQ(made.plan.objects.front().where.how, placements::kind::blocked) << on;
    EXPECT_LT(*made.after.remote, *made.before.remote - 0.1) << on;
  }
}

TEST(AdvisePlan, MapsAreCoarsenedAndSayWhatThatCosts) {
  program_maker make(two_by_four);
  const auto use = [](std::size_t page, std::size_t) { return page / 3 % 2 * 4; };
  make.array(6144, program_maker::all_by(0)).used(use); // 2048 runs
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("nehalem-2x4"), 0);
  for (const plans::entry& each : made.plan.objects) {
    EXPECT_LE(each.where.owners.size(), 600U);
  }
  EXPECT_LE(*made.after.seconds, *made.before.seconds);
}

TEST(AdvisePlan, ObjectsThatBringNothingAreLeft) {
  program_maker make(two_by_four);
  make.array(pages, program_maker::all_by(0)).used(make.blocked(), 0, 1000);
  make.array(pages, program_maker::all_by(0)).used(make.blocked(), 0, 1); // a thousandth
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("nehalem-2x4"), 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  EXPECT_EQ(made.plan.objects.front().which.source, "solver.c:20");
}

TEST(AdvisePlan, SitesWithTheSameCallerAreToldByWhoCalledThat) {
  program_maker make(two_by_four);
  for (int k = 0; k < 2; ++k) {
    make.array(pages, program_maker::all_by(0));
    make.last().made_at.insert(make.last().made_at.begin(),
                               {"solver", 0x500, "xmalloc", "memory.c", 3, false});
  }
  make.program().objects[0].uses = {{0, pages, {{0, 10}}}}; // of the main thread alone
  make.used(make.blocked());
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("nehalem-2x4"), 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  EXPECT_THAT(made.plan.objects.front().which.stack,
              ElementsAre(plans::code_place{"solver", 0x500}, plans::code_place{"solver", 0x1010}));
  EXPECT_EQ(made.plan.objects.front().name, "solver.c:21 (through memory.c:3)");
  EXPECT_EQ(made.plan.objects.front().name, profile::names_of(make.made().programs[0])[1]);
}

TEST(AdvisePlan, AProgramThatThereIsNotIsRefused) {
  EXPECT_THROW((void)advise::make_plan(test::three_arrays(two_by_four, false),
                                       lab_machine("nehalem-2x4"), 1),
               error);
}

// Black-Scholes: all pages on one node, used from all, but hundreds of instructions for each line.
TEST(Advise, ComputingProgramsAreLeftAlone) {
  profile::profile slow = test::three_arrays(two_by_four, false);
  for (profile::thread& each : slow.programs.front().threads) {
    each.instructions = 3 * pages / 8 * 64 * 1000;
  }
  const advice told = advise::advise(slow, lab_machine("nehalem-2x4"));
  EXPECT_THAT(found(told), IsEmpty());
  EXPECT_THAT(told.plans, IsEmpty());
  ASSERT_EQ(told.not_worth.size(), 1U);
  EXPECT_EQ(told.not_worth.front().what, pattern::serial_initialisation);
  EXPECT_EQ(told.not_worth.front().objects.size(), 3U);
  EXPECT_THAT(told.not_worth.front().reason, HasSubstr("own work"));
}

TEST(Advise, LittleTrafficIsNotWorthIt) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked(), 0, 10000);
  make.array(pages, program_maker::all_by(0))
      .touched_at("load", "load.c", 7, profile::touch_kind::kernel)
      .used(make.blocked(), 0, 64);
  const advice told = advise::advise(make.made(), lab_machine("nehalem-2x4"));
  EXPECT_THAT(found(told), IsEmpty());
  ASSERT_EQ(told.not_worth.size(), 1U);
  EXPECT_EQ(told.not_worth.front().what, pattern::serial_file_read);
  EXPECT_THAT(told.not_worth.front().reason, HasSubstr("of the program's traffic"));
}

TEST(Advise, WithoutUsesGainsAreBounds) {
  profile::profile unseen = test::three_arrays(two_by_four, false);
  unseen.seen.counts = false;
  profile::program& program = unseen.programs.front();
  program.use_from = profile::use_source::none;
  program.use_unit_bytes = 0;
  for (profile::object& each : program.objects) {
    each.uses.clear();
  }
  const advice told = advise::advise(unseen, lab_machine("nehalem-2x4"));
  ASSERT_THAT(found(told), ElementsAre(pattern::serial_initialisation));
  const advise::gain& worth = told.findings.front().worth;
  EXPECT_EQ(worth.how, advise::gain::kind::at_most);
  EXPECT_FALSE(worth.before_s);
  EXPECT_THAT(worth.note, HasSubstr("not observed"));
  ASSERT_EQ(told.plans.size(), 1U);
  EXPECT_EQ(told.plans.front().plan.objects.front().where.how, placements::kind::blocked);
  EXPECT_THAT(told.plans.front().plan.objects.front().why, HasSubstr("assumed"));
  const auto asked = [&](pattern what) {
    return std::ranges::any_of(told.not_asked,
                               [&](const advise::unexamined& each) { return each.what == what; });
  };
  EXPECT_TRUE(asked(pattern::dynamic_schedule));
  EXPECT_TRUE(asked(pattern::false_sharing));
  EXPECT_FALSE(asked(pattern::serial_initialisation));
}

TEST(Advise, SamplesWidenTheRange) {
  const profile::profile counted = test::three_arrays(two_by_four, false);
  profile::profile sampled = counted;
  sampled.programs.front().use_from = profile::use_source::hinting_faults;
  sampled.programs.front().use_unit_bytes = 0;
  for (profile::object& object : sampled.programs.front().objects) {
    for (profile::use_run& run : object.uses) {
      run.by.front().amount = 1;
    }
  }
  const topology on = lab_machine("nehalem-2x4");
  const advise::gain exact = advise::advise(counted, on).findings.front().worth;
  const advise::gain rough = advise::advise(sampled, on).findings.front().worth;
  EXPECT_GT(rough.high - rough.low, exact.high - exact.low);
  EXPECT_FALSE(rough.before_s);
}

TEST(Advise, UnknownMachineFiguresGiveRatiosOnly) {
  const topology on(test::grid(2, 4));
  const advice told = advise::advise(test::three_arrays(two_by_four, false), on);
  ASSERT_THAT(found(told), ElementsAre(pattern::serial_initialisation));
  EXPECT_FALSE(told.findings.front().worth.before_s);
  EXPECT_THAT(told.remarks, ::testing::Contains(HasSubstr("ratios")));
}

TEST(AdvisePlan, NearIsNotGivenUpForBalanceWhereLinksAreUnknown) {
  program_maker make(four_by_two);
  make.array(pages, program_maker::all_by(0)).used([](std::size_t page, std::size_t all) {
    return std::min<std::size_t>(7, page * 10 / all); // the last thread uses most
  });
  const advice told = advise::advise(make.made(), topology(test::grid(4, 2)));
  ASSERT_EQ(told.plans.size(), 1U);
  EXPECT_NEAR(*told.plans.front().after.remote, 0, 0.005);
}

TEST(Advise, FarTrafficIsToldThoughTheModelHasUnknownLinksForNothing) {
  program_maker make(four_by_two);
  make.array(pages, make.in_turn(16)).used(make.blocked());
  const advice told = advise::advise(make.made(), topology(test::grid(4, 2)));
  ASSERT_THAT(found(told), ElementsAre(pattern::different_schedules));
  EXPECT_EQ(told.findings.front().worth.how, advise::gain::kind::unavailable);
  EXPECT_THAT(told.findings.front().worth.note, HasSubstr("links"));
  ASSERT_EQ(told.plans.size(), 1U);
  EXPECT_NEAR(*told.plans.front().after.remote, 0, 0.005);
}

TEST(Advise, ContradictionsAreShown) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked()).on_node(0);
  make.made().seen.pages_moved = 512;
  const advice told = advise::advise(make.made(), lab_machine("nehalem-2x4"));
  ASSERT_THAT(found(told), ElementsAre(pattern::different_schedules));
  EXPECT_THAT(told.findings.front().remarks,
              ::testing::Contains(HasSubstr("the kernel moved 512 pages")));
}

TEST(Advise, RanksOfAJobAreToldTogether) {
  profile::profile job;
  for (int rank = 0; rank < 2; ++rank) {
    profile::profile one = test::three_arrays({rank, rank, rank, rank}, false);
    job.seen = one.seen;
    one.programs.front().rank = rank;
    for (profile::object& each : one.programs.front().objects) {
      each.where = {{0, pages, node_id{0}}}; // rank 1's memory is on the wrong node
    }
    job.programs.push_back(one.programs.front());
  }
  const advice told = advise::advise(job, lab_machine("nehalem-2x4"));
  ASSERT_EQ(told.findings.size(), 1U);
  EXPECT_NEAR(told.findings.front().worth.ratio, 2, 1e-6);
}

// What must hold of any profile.

profile::profile random_profile(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  std::vector<int> nodes;
  const std::size_t threads = 1 + below(9);
  for (std::size_t t = 0; t < threads; ++t) {
    nodes.push_back(static_cast<int>(below(5))); // node 4 is not there
  }
  program_maker make(nodes);
  const auto any = [&](std::size_t, std::size_t) { return below(threads); };
  const std::size_t objects = below(6);
  for (std::size_t k = 0; k < objects; ++k) {
    make.array(1 + below(200), below(2) == 0 ? make.blocked() : any);
    switch (below(5)) {
    case 0:
      make.used(make.blocked(), 0.5);
      break;
    case 1:
      make.used(any, 1);
      break;
    case 2:
      make.used_by_all(1);
      break;
    case 3:
      make.used_by_chance();
      break;
    default:
      break;
    }
    profile::object& one = make.last();
    if (below(3) == 0) {
      one.where.clear();
    }
    if (below(4) == 0) {
      one.touched.clear();
    }
    if (below(4) == 0) {
      one.kind = static_cast<profile::object_kind>(below(7));
    }
    if (below(4) == 0) {
      one.made_at = {{"solver", 0x77, "", "", 0, false}};
    }
    if (below(8) == 0) {
      one.pages = 0;
    }
    if (below(8) == 0) {
      one.contested = {{0, 5000, 3, false}};
    }
  }
  for (profile::thread& each : make.program().threads) {
    if (below(5) == 0) {
      each.stays.clear();
    } else if (below(4) == 0) {
      each.stays.push_back({node_id{static_cast<int>(below(4))}, 80});
    }
    each.instructions = below(3) == 0 ? below(1U << 20U) : 0;
  }
  if (below(3) == 0) {
    make.made().memory = {{node_id{0}, below(1U << 20U), below(1U << 18U), below(1U << 20U)}};
  }
  if (below(5) == 0) {
    make.program().use_from = static_cast<profile::use_source>(below(3));
  }
  return make.made();
}

bool same(const advise::gain& a, const advise::gain& b) {
  return a.ratio == b.ratio && a.low == b.low && a.high == b.high && a.how == b.how;
}

TEST(Advise, NoProfileCrashesAndNoPlanIsSlowerByTheModel) {
  const std::uint32_t profiles = test::cases(200U, 20U);
  for (std::uint32_t seed = 0; seed < profiles; ++seed) {
    SCOPED_TRACE(seed);
    const profile::profile what = random_profile(seed);
    const topology on = lab_machine(seed % 2 == 0 ? "opteron-4x2" : "nehalem-2x4");
    const advice told = advise::advise(what, on);
    for (const advise::finding& each : told.findings) {
      ASSERT_TRUE(each.worth.how == advise::gain::kind::unavailable ||
                  each.worth.ratio >= advise::least_gain);
      ASSERT_LE(each.worth.low, each.worth.ratio);
      ASSERT_GE(each.worth.high, each.worth.ratio);
    }
    ASSERT_TRUE(std::ranges::is_sorted(told.findings, {}, [](const advise::finding& each) {
      return std::pair(each.what != advise::pattern::nameless, -std::round(each.worth.ratio * 100));
    }));
    const advise::proposal plan = advise::make_plan(what, on, 0);
    if (plan.before.seconds && plan.after.seconds) {
      ASSERT_LE(*plan.after.seconds, *plan.before.seconds * (1 + 1e-9));
    }
    for (const plans::entry& each : plan.plan.objects) {
      ASSERT_LE(each.where.owners.size(), 600U);
      if (each.where.how == placements::kind::thread) {
        ASSERT_LT(each.where.owners.front().owner, std::max<std::size_t>(plan.plan.threads, 1));
      }
    }
    const advice again = advise::advise(what, on);
    ASSERT_EQ(again.findings.size(), told.findings.size());
    for (std::size_t k = 0; k < told.findings.size(); ++k) {
      ASSERT_EQ(again.findings[k].title, told.findings[k].title);
      ASSERT_TRUE(same(again.findings[k].worth, told.findings[k].worth));
    }
  }
}

/// The same machine and program with node n called 3 n + 1.
TEST(Advise, NodesMayHaveAnyNumbers) {
  const auto renamed = [](int node) { return 3 * node + 1; };
  machine other = lab_machine("nehalem-2x4").machine();
  for (memory_node& each : other.nodes) {
    each.id = node_id{renamed(to_int(each.id))};
  }
  for (parameter& each : other.parameters) {
    each.from = node_id{renamed(to_int(each.from))};
    each.to = node_id{renamed(to_int(each.to))};
  }
  std::vector<int> nodes = two_by_four;
  std::ranges::transform(nodes, nodes.begin(), renamed);
  const advice plain =
      advise::advise(test::three_arrays(two_by_four, false), lab_machine("nehalem-2x4"));
  const advice told = advise::advise(test::three_arrays(nodes, false), topology(other));
  ASSERT_EQ(told.findings.size(), plain.findings.size());
  EXPECT_EQ(told.findings.front().worth.ratio, plain.findings.front().worth.ratio);
  EXPECT_EQ(told.findings.front().worth.binds_before, "memory of node 1");
  ASSERT_EQ(told.plans.size(), 1U);
  EXPECT_EQ(told.plans.front().plan.bind, plain.plans.front().plan.bind);
}

} // namespace
} // namespace nodewise
