// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs/model/options.hpp"
#include "cli/verbs/model/view.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const report::style terminal{.colour = false, .unicode = true, .terminal = true, .width = 80};

invocation words(std::vector<const char*> of) {
  of.insert(of.begin(), "model");
  return parse(of);
}

struct answered {
  model_question asked;
  model_answer answer;
  model::machine_costs on;

  [[nodiscard]] std::string text(const report::style& how = terminal) const {
    return model_text(asked, answer, on, how);
  }
};

answered ask(machine of, const std::vector<const char*>& options) {
  const invocation given = words(options);
  set_parameters(of, given);
  const topology where(of);
  const model::machine_costs on = model::costs_of(of);
  const loop_description asked = read_loop(given);
  const placed_loop loop = place_loop(asked, where, on);
  return {question_of(asked, of, loop), answer_loop(on, loop), on};
}

TEST(ModelText, FitsATerminalOfEightyColumnsAndTwoScreens) {
  for (const std::vector<const char*>& options : std::vector<std::vector<const char*>>{
           {"--kernel", "triad", "--elements", "2^20"},
           {"--kernel", "schoenauer", "--elements", "2^20", "--memory", "interleave", "--set",
            "bandwidth=12.8", "--set", "latency=80", "--set", "core_bandwidth=9"},
           {"--kernel", "w,r,r,r,r,r,r,rw,n,n", "--elements", "2^20", "--schedule", "dynamic,64",
            "--set", "link_bandwidth:0:1=6", "--memory", "weighted:0=3,1=1", "--stagger"},
           {"--kernel", "copy", "--random", "--set", "latency=90"}}) {
    const std::string text = ask(test::grid(32, 2), options).text();
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_LE(report::display_width(line), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    EXPECT_LE(count, 48U) << text;
  }
}

TEST(ModelText, ASweepFitsEightyColumns) {
  answered one =
      ask(test::grid(12, 2), {"--kernel", "triad", "--elements", "2^20", "--set", "bandwidth=10"});
  const std::string text = model_sweep_text(
      one.asked, "memory", {{"weighted:0=3,1=1", one.answer}, {"serial", one.answer}}, one.on,
      terminal);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(report::display_width(line), 80U) << line;
  }
  EXPECT_THAT(text, HasSubstr("  weighted:0=3,1=1  "));
}

TEST(ModelText, IsAsciiWhereTheLocaleIs) {
  const std::string text =
      ask(test::grid(2, 2), {"--kernel", "load", "--elements", "4096"}).text({});
  EXPECT_EQ(text.find_first_of("\x80\xe2\x1b"), std::string::npos);
}

TEST(ModelText, TellsReadingsOnlyWhereTheyDiffer) {
  const machine two = test::grid(2, 4);
  EXPECT_THAT(ask(two, {"--kernel", "load"}).text(), Not(HasSubstr("by the reading")));
  EXPECT_THAT(ask(two, {"--kernel", "load", "--memory", "interleave"}).text(),
              HasSubstr("by the reading 'mixed'; mixed 1.00 x, in step "));
}

TEST(ModelText, WritesTimesAndBandwidthsInThreeDigits) {
  EXPECT_EQ(format_seconds(1.234), "1.23 s");
  EXPECT_EQ(format_seconds(0.0532), "53.2 ms");
  EXPECT_EQ(format_seconds(0.9999e-3), "1000 us");
  EXPECT_EQ(format_seconds(12e-9), "12.0 ns");
  EXPECT_EQ(format_bandwidth(18.2e9), "18.2 GB/s");
  EXPECT_EQ(short_number(9.996), "10.0");
  EXPECT_EQ(short_number(99.96), "100");
}

TEST(ModelOptions, ReadsALoop) {
  const loop_description loop =
      read_loop(words({"--kernel", "rw,n,r", "--elements", "3^4", "--element-bytes", "4",
                       "--schedule", "tasks,16", "--shape", "triangular", "--chunk-start", "0.5",
                       "--free", "0,2=1G,1=512M", "-N", "1", "-C", "2-3"}));
  ASSERT_EQ(loop.arrays.size(), 3U);
  EXPECT_TRUE(loop.arrays[0].read && loop.arrays[0].written && !loop.arrays[0].streaming);
  EXPECT_TRUE(!loop.arrays[1].read && loop.arrays[1].written && loop.arrays[1].streaming);
  EXPECT_TRUE(loop.arrays[2].read && !loop.arrays[2].written);
  EXPECT_EQ(loop.elements, 81U);
  EXPECT_EQ(loop.how.kind, model::schedule_kind::random);
  EXPECT_EQ(loop.schedule_text(), "tasks,16");
  EXPECT_DOUBLE_EQ(*loop.given_chunk_start_s, 0.5e-9);
  ASSERT_EQ(loop.free.size(), 2U);
  EXPECT_EQ(loop.free[0].first, "0,2");
  EXPECT_EQ(loop.free[1].second, std::uint64_t{512} << 20);
  EXPECT_FALSE(loop.cpu_nodes);
  EXPECT_EQ(loop.cpus, "2-3");
}

TEST(ModelOptions, RefusesWhatIsNoNumber) {
  for (const char* const wrong :
       {"", "0", "-1", "1.5", "2^", "^2", "2^2^2", "nan", "inf", "1e99"}) {
    EXPECT_THROW((void)read_loop(words({"--kernel", "load", "--elements", wrong})), error) << wrong;
  }
  for (const char* const wrong : {"", ",", "r,", "x", "r,,r", "wr"}) {
    EXPECT_THROW((void)read_loop(words({"--kernel", wrong})), error) << wrong;
  }
}

TEST(ModelOptions, SetsAFigureOfOneNodeOrAll) {
  machine of = test::grid(3, 1);
  set_parameters(
      of, words({"--set", "bandwidth=10", "--set", "bandwidth:2=5", "--set", "latency:0:1=120"}));
  ASSERT_EQ(of.parameters.size(), 4U); // what was given for node 2 first is replaced
  EXPECT_EQ(of.parameters[2].from, node_id{2});
  EXPECT_DOUBLE_EQ(of.parameters[2].value, 5);
  EXPECT_EQ(of.parameters[3].to, node_id{1});
  EXPECT_EQ(of.parameters[3].unit, "ns");
}

/// Of the first array, by page.
std::vector<std::size_t> nodes_of_pages(const machine& of,
                                        const std::vector<const char*>& options) {
  const model::machine_costs on = model::costs_of(of);
  const placed_loop loop = place_loop(read_loop(words(options)), topology(of), on);
  std::vector<std::size_t> nodes;
  for (std::size_t page = 0; page < loop.what.pages(); ++page) {
    nodes.push_back(loop.what.maps.front().node_of(page));
  }
  return nodes;
}

TEST(ModelMemory, PagesAreWhereThePlacementSays) {
  using nodes = std::vector<std::size_t>;
  const machine two = test::grid(2, 1);
  const auto pages = [&](const char* memory) { // 8 of them
    return nodes_of_pages(two, {"--kernel", "load", "--elements", "4096", "--memory", memory});
  };
  EXPECT_EQ(pages("local"), (nodes{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(pages("serial"), nodes(8, 0));
  EXPECT_EQ(pages("bind:1"), nodes(8, 1));
  EXPECT_EQ(pages("interleave"), (nodes{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(pages("weighted:0=1,1=3"), (nodes{0, 1, 1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(pages("cyclic:8K"), (nodes{0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(ModelMemory, FirstTouchFollowsTheChunks) {
  using nodes = std::vector<std::size_t>;
  const machine two = test::grid(2, 1);
  const auto pages = [&](const char* schedule) { // of 512 elements
    return nodes_of_pages(two, {"--kernel", "load", "--elements", "4096", "--schedule", schedule});
  };
  EXPECT_EQ(pages("static,512"), (nodes{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(pages("static,1024"), (nodes{0, 0, 1, 1, 0, 0, 1, 1}));
  // Who touches the first element of a page has it: elements 0, 512, 1024, ... over 768, odd chunks
  // are those of the second thread.
  EXPECT_EQ(pages("static,768"), (nodes{0, 0, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(pages("static,8"), nodes(8, 0));
}

} // namespace
} // namespace nodewise::cli
