// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "survey/lines.hpp"
#include "unit/survey_jobs.hpp"

namespace nodewise::survey {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

rank_record a_record(int rank = 3) {
  const host_machine on = test::host_grid(4, 8, 2);
  rank_record made = test::bound_rank(on, "n\xc3\xb6 1", rank, 8, {0, 1, 9});
  made.local = 1;
  made.hardware = on;
  made.devices = {{"mlx5_0", "fabric", node_set{node_id{2}}}};
  made.signal = 9;
  made.helpers = 2;
  made.unknown_bytes = 4096;
  made.settings["env.OMP_PLACES"] = "cores";
  return made;
}

struct finding_of_records {
  std::vector<rank_record> records;
  std::vector<std::string> problems;
};

finding_of_records find_in(const std::string& text) {
  finding_of_records found;
  record_finder finder(
      [&](rank_record each, const std::string&) { found.records.push_back(std::move(each)); });
  std::istringstream lines(text);
  finder.read(lines, "out");
  finder.finish();
  found.problems = finder.problems();
  return found;
}

std::string all_lines(const rank_record& of) {
  std::string text;
  for (const std::string& line : lines_of(of)) {
    text += line;
  }
  return text;
}

TEST(SurveyRecord, IsReadAsItWasWritten) {
  const std::string text = record_text(a_record());
  EXPECT_EQ(read_record(text), a_record());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; })) << text;
}

TEST(SurveyRecord, InvalidFieldsAreNamed) {
  const auto refused = [](const std::string& from, const std::string& to) {
    std::string text = record_text(a_record());
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      (void)read_record(text);
    } catch (const error& e) {
      return e.asked() + ": " + e.answered();
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refused(R"("rank":3)", R"("rank":-3)"),
              HasSubstr("rank: the number -3 instead of a whole number"));
  EXPECT_THAT(refused(R"("rank":3,)", ""), HasSubstr("the field 'rank' is missing"));
  EXPECT_THAT(refused(R"("ran":"0")", R"("ran":"0-x")"), HasSubstr("workers[0].ran"));
  EXPECT_THAT(refused("record/1", "record/9"),
              HasSubstr("schema: 'nodewise/survey-record/9' is written by a newer"));
  EXPECT_THAT(refused(R"({"node":1,)", R"({"node":0,)"),
              HasSubstr("hardware.nodes[1].node: the nodes do not ascend"));
  EXPECT_THAT(refused(R"("bytes":{"0")", R"("bytes":{"0-1")"),
              HasSubstr("bytes.0-1: it is not a node"));
  EXPECT_THAT(refused(R"("settings":{)", R"("settings":{"x":1,)"),
              HasSubstr("settings.x: the number 1 instead of a text"));
}

TEST(SurveyRecord, EveryPrefixIsRefusedAndNothingElseHappens) {
  const std::string text = record_text(a_record());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THROW((void)read_record(text.substr(0, length)), error) << length;
  }
}

TEST(SurveyLines, AreShortAndHoldTheRecord) {
  const auto lines = lines_of(a_record());
  EXPECT_GT(lines.size(), 2U);
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), longest_line);
    EXPECT_TRUE(line.ends_with('\n'));
  }
  const auto found = find_in(all_lines(a_record()));
  EXPECT_THAT(found.records, ElementsAre(a_record()));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST(SurveyLines, AreFoundAmongTheOutputOfAllRanks) {
  std::vector<std::string> lines;
  for (int rank = 0; rank < 8; ++rank) {
    for (const std::string& line : lines_of(a_record(rank))) {
      lines.push_back("[1," + std::to_string(rank) + "]<stdout>: residual 0.5 " + line);
      lines.emplace_back("iteration 12 {\"schema\": 1}\n");
    }
  }
  std::shuffle(lines.begin(), lines.end(), std::mt19937(1)); // NOLINT(*-msc51-cpp): repeatable
  std::string text;
  for (const std::string& line : lines) {
    text += line;
  }
  const auto found = find_in(text + text); // each line twice
  EXPECT_THAT(found.records, SizeIs(8));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST(SurveyLines, WholeRecordsOfFilesAreFound) {
  const auto found = find_in(record_text(a_record(0)) + "\n" + record_text(a_record(1)) + "\n");
  EXPECT_THAT(found.records, ElementsAre(a_record(0), a_record(1)));
  EXPECT_THAT(find_in(record_text(a_record()).substr(0, 300)).problems,
              ElementsAre(HasSubstr("out:1: the record of a rank: not JSON: parse error")));
}

TEST(SurveyLines, ADamagedLineLosesItsRecordAloneAndIsNamed) {
  auto lines = lines_of(a_record(1));
  lines[1][lines[1].size() / 2] ^= 1;
  std::string text = all_lines(a_record(0));
  for (const std::string& line : lines) {
    text += line;
  }
  const auto found = find_in(text);
  EXPECT_THAT(found.records, ElementsAre(a_record(0)));
  EXPECT_THAT(found.problems,
              ElementsAre(HasSubstr("a line of a record is damaged"), HasSubstr("1 of ")));
}

TEST(SurveyLines, AnotherRecordOfTheSameRankIsNamed) {
  rank_record other = a_record();
  other.host = "n2";
  const auto found = find_in(all_lines(a_record()) + all_lines(other));
  EXPECT_THAT(found.records, ElementsAre(a_record()));
  EXPECT_FALSE(found.problems.empty());
}

} // namespace
} // namespace nodewise::survey
