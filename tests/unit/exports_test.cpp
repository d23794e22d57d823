// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A profile in the formats of other tools. Files for pprof are read back by a small reader.
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>

#include <nodewise/error.hpp>

#include "advise/advise.hpp"
#include "exports/gzip.hpp"
#include "exports/pprof.hpp"
#include "exports/remote_uses.hpp"
#include "exports/trace.hpp"
#include "unit/advise_programs.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise {
namespace {

using test::program_maker;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;

using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Optional;

constexpr std::size_t array_pages = 1024;
constexpr double page_lines = 64;

/// One array on node 0, used in blocks by these threads.
program_maker on_the_first_node(std::vector<int> nodes) {
  program_maker make(std::move(nodes));
  make.array(array_pages, program_maker::all_by(0)).used(make.blocked(), 0, page_lines);
  make.last().used_at.front().amount = array_pages * page_lines;
  return make;
}

/// What a file for pprof holds, without its places.
struct read_file {
  std::vector<std::string> texts;
  std::vector<std::string> types;
  std::vector<std::vector<std::int64_t>> values; ///< by sample
  std::vector<std::size_t> depths;               ///< of the stacks, by sample
  std::vector<std::map<std::string, std::string>> labels;

  [[nodiscard]] std::int64_t sum(std::size_t type) const {
    return std::transform_reduce(values.begin(), values.end(), std::int64_t{0}, std::plus<>(),
                                 [&](const auto& each) { return each[type]; });
  }
};

std::array<std::uint64_t, 2> first_two(protozero::pbf_reader from) {
  std::array<std::uint64_t, 2> numbers{};
  while (from.next()) {
    numbers.at(from.tag() - 1) = from.get_uint64();
  }
  return numbers;
}

read_file read_pprof(const std::string& message) {
  read_file made;
  protozero::pbf_reader texts(message);
  while (texts.next(6)) {
    made.texts.push_back(texts.get_string());
  }
  protozero::pbf_reader all(message);
  while (all.next()) {
    if (all.tag() == 1) {
      made.types.push_back(made.texts.at(first_two(all.get_message())[0]));
    } else if (all.tag() == 2) {
      protozero::pbf_reader sample = all.get_message();
      made.labels.emplace_back();
      while (sample.next()) {
        if (sample.tag() == 1) {
          const auto places = sample.get_packed_uint64();
          made.depths.push_back(static_cast<std::size_t>(places.size()));
        } else if (sample.tag() == 2) {
          const auto values = sample.get_packed_int64();
          made.values.emplace_back(values.begin(), values.end());
        } else {
          const auto [key, text] = first_two(sample.get_message());
          made.labels.back()[made.texts.at(key)] = made.texts.at(text);
        }
      }
    } else {
      all.skip();
    }
  }
  return made;
}

TEST(ExportsRemoteUses, AreThoseOfOtherNodesThreads) {
  program_maker make = on_the_first_node({0, 1});
  const auto uses = exports::remote_uses_of(make.last(), profile::thread_places(make.program()));
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].by, 1U);
  EXPECT_EQ(uses[0].from, node_id{0});
  EXPECT_DOUBLE_EQ(uses[0].amount, array_pages * page_lines / 2);
}

TEST(ExportsRemoteUses, OfAThreadThatMovedAreDividedByItsNodes) {
  program_maker make = on_the_first_node({0, 1});
  make.program().threads[1].stays = {
      {node_id{0}, 74}, {node_id{1}, 25}, {node_id{2}, 1}, {unknown_node, 50}};
  make.last().write_share = 0.5;
  const auto uses = exports::remote_uses_of(make.last(), profile::thread_places(make.program()));
  ASSERT_EQ(uses.size(), 1U);
  // A quarter of what thread 1 used, and half of it again that was written back. The stay on node 2
  // is too short to count.
  EXPECT_DOUBLE_EQ(uses[0].amount, array_pages * page_lines / 2 * 1.5 * 25 / 99);
}

TEST(ExportsRemoteUses, OfUnknownNodesAreLeftOut) {
  program_maker make = on_the_first_node({0, 1});
  make.last().where = {{0, array_pages, unknown_node}};
  EXPECT_THAT(exports::remote_uses_of(make.last(), profile::thread_places(make.program())),
              IsEmpty());
  make.on_node(0);
  make.program().threads[1].stays.clear();
  EXPECT_THAT(exports::remote_uses_of(make.last(), profile::thread_places(make.program())),
              IsEmpty());
}

TEST(ExportsRemoteUses, OfARunWithPagesOnSeveralNodesAreDividedByThem) {
  program_maker make = on_the_first_node({0, 1});
  make.last().uses = {{0, 4, {{1, 100}}}, {8, 4, {{0, 10}}}};
  make.last().where = {{0, 1, node_id{0}}, {1, 2, node_id{1}}, {3, 6, node_id{2}}};
  const auto uses = exports::remote_uses_of(make.last(), profile::thread_places(make.program()));
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_DOUBLE_EQ(uses[0].amount, 2.5); // thread 0, of node 2
  EXPECT_DOUBLE_EQ(uses[1].amount, 25);  // thread 1, of node 0
  EXPECT_DOUBLE_EQ(uses[2].amount, 25);  // thread 1, of node 2
}

TEST(ExportsWholeParts, HaveTheRoundedSum) {
  using exports::whole_parts;
  EXPECT_THAT(whole_parts(std::array{1.5, 2.25, 0.25}), ElementsAre(2, 2, 0));
  EXPECT_THAT(whole_parts(std::array{0.3, 0.3, 0.3}), ElementsAre(1, 0, 0));
  EXPECT_THAT(whole_parts(std::array{7.0}), ElementsAre(7));
  EXPECT_THAT(whole_parts({}), IsEmpty());
}

TEST(ExportsWholeParts, OfNoSensibleAmountAreInTheirBounds) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THAT(exports::whole_parts(std::array{infinite, 1e300, std::nan(""), -5.0}),
              ElementsAre(std::int64_t{1} << 53, std::int64_t{1} << 53, 0, 0));
}

TEST(ExportsPprof, CountsRemoteLinesAndFirstTouches) {
  program_maker make = on_the_first_node({0, 0, 1, 1});
  const read_file read = read_pprof(exports::pprof_message(make.made(), {"two", "two"}));
  EXPECT_THAT(read.types, ElementsAre("remote_lines", "first_touched_pages"));
  EXPECT_EQ(read.texts.front(), "");
  EXPECT_EQ(read.sum(0), array_pages * page_lines / 2);
  EXPECT_EQ(read.sum(1), array_pages);
  EXPECT_THAT(read.depths, ElementsAre(3, 3, 2)); // two remote threads, and the first touch
  EXPECT_EQ(read.labels[0].at("array"), "solver.c:20");
  EXPECT_EQ(read.labels[0].at("code"), "counted");
  EXPECT_EQ(read.labels[1].at("thread_node"), "1");
  EXPECT_EQ(read.labels[1].at("memory_node"), "0");
}

TEST(ExportsPprof, ThePredictedWaitIsDividedByRemoteUses) {
  program_maker make = on_the_first_node({0, 1, 1});
  const read_file read = read_pprof(exports::pprof_message(make.made(), {"two", "two", {0.25}}));
  ASSERT_THAT(read.types, ElementsAre("remote_lines", "predicted_wait", "first_touched_pages"));
  EXPECT_EQ(read.sum(1), 250'000'000);
  EXPECT_NEAR(static_cast<double>(read.values[0][1]), 125e6, 1e6);
  EXPECT_EQ(
      read_pprof(exports::pprof_message(make.made(), {"two", "two", {std::nullopt}})).types.size(),
      2U);
}

TEST(ExportsPprof, SamplesAreNamedSo) {
  program_maker make = on_the_first_node({0, 1});
  make.program().use_from = profile::use_source::hinting_faults;
  EXPECT_THAT(read_pprof(exports::pprof_message(make.made(), {})).types,
              ElementsAre("remote_samples", "first_touched_pages"));
}

TEST(ExportsPprof, NamesAreEscaped) {
  program_maker make = on_the_first_node({0, 1});
  make.program().name = "a\nb\x1b[1m\xff";
  const read_file read = read_pprof(exports::pprof_message(make.made(), {}));
  EXPECT_THAT(read.texts, Contains("a\\nb\\x1b[1m\\xff"));
}

TEST(ExportsPprof, WithoutEvidenceIsRefused) {
  program_maker make({0, 1});
  make.program().use_from = profile::use_source::none;
  EXPECT_THROW((void)exports::pprof(make.made(), {}), error);
}

TEST(ExportsPprof, IsCompressed) {
  const std::string large(3'000'000, 'x');
  const std::string packed = exports::gzip(large);
  EXPECT_TRUE(packed.starts_with("\x1f\x8b"));
  EXPECT_LT(packed.size(), large.size() / 100);
  EXPECT_EQ(packed, exports::gzip(large));
  EXPECT_GT(exports::gzip("").size(), 10U);
}

TEST(ExportsWait, IsBelowTheTimeOfTheRunAndNeedsFigures) {
  program_maker make = on_the_first_node(test::two_by_four);
  const topology on = test::lab_machine("nehalem-2x4");
  const double run = *advise::outcome_of_run(make.made(), on, 0).seconds;
  EXPECT_THAT(advise::remote_waits_s(make.made(), on),
              ElementsAre(Optional(AllOf(Gt(0.0), Lt(run)))));
  program_maker local(test::two_by_four);
  local.array(array_pages, local.blocked()).used(local.blocked());
  EXPECT_THAT(advise::remote_waits_s(local.made(), on), ElementsAre(Optional(0.0)));
  make.program().use_unit_bytes = 0; // only shares
  EXPECT_THAT(advise::remote_waits_s(make.made(), on), ElementsAre(std::nullopt));
}

TEST(ExportsTrace, HasNumbersOfItsOwnForProcessesAndThreads) {
  program_maker make = on_the_first_node({0, 1});
  make.made().programs.push_back(make.program()); // exec keeps the number
  const nlohmann::ordered_json trace = exports::trace(make.made(), "two");
  std::map<std::string, int> tracks;
  for (const auto& each : trace["traceEvents"]) {
    if (each["ph"] == "M") {
      ++tracks[each["name"].get<std::string>() + each["pid"].dump() + ":" + each["tid"].dump()];
    }
  }
  EXPECT_EQ(tracks.size(), 2U + 2 * 3);
  EXPECT_THAT(tracks, Each(testing::Pair(testing::_, 1)));
  EXPECT_EQ(trace["otherData"]["arrays_without_times"], 2);
}

TEST(ExportsTrace, CountersGoUpAndDownWithTheArrays) {
  program_maker make = on_the_first_node({0, 1});
  make.last().allocated_s = 1;
  make.last().freed_s = 3;
  std::vector<std::pair<double, std::uint64_t>> counted;
  const nlohmann::ordered_json trace = exports::trace(make.made(), "two");
  for (const auto& each : trace["traceEvents"]) {
    if (each["ph"] == "C") {
      counted.emplace_back(each["ts"], each["args"]["node 0"]);
    }
  }
  EXPECT_THAT(counted, ElementsAre(std::pair(1e6, array_pages * 4096), std::pair(3e6, 0)));
}

} // namespace
} // namespace nodewise
