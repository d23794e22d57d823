// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/verbs/lab/flags.hpp"
#include "cli/verbs/lab/traffic_check.hpp"
#include "unit/counts_files.hpp"

namespace nodewise::cli {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::StartsWith;
using traffic::counts_file;

const std::string& folder() {
  static const std::string path = std::filesystem::current_path().string();
  return path;
}

/// Three quarters of its traffic in use are remote; all of it is in the memory of node 0.
traffic::summary remote_program() {
  traffic::summary found = traffic::summarise(traffic::read_counts(counts_file("first-touch-4x2")));
  found.lines.front().name = {"solver.c:41", folder() + "/src/./so lver#1.c", 41, "solve"};
  return found;
}

/// The only run of the log.
ordered_json run_of(const traffic::summary& found, const traffic_limits& asked,
                    const std::string& program = "./a program") {
  const machine on;
  const ordered_json settings;
  const traffic_verdict verdict = judge_traffic(found, asked);
  const std::string text = check_sarif({found, on, settings, asked, verdict, program});
  const ordered_json log = ordered_json::parse(text);
  EXPECT_EQ(log.at("version"), "2.1.0");
  EXPECT_EQ(log.at("runs").size(), 1U);
  return log.at("runs").at(0);
}

traffic_limits local_share(double share) {
  traffic_limits asked;
  asked.min_local = share;
  return asked;
}

const ordered_json& place_of(const ordered_json& result) {
  return result.at("locations").at(0).at("physicalLocation");
}

TEST(TrafficSarif, ACheckThatPassesHasNoResults) {
  const ordered_json run = run_of(remote_program(), local_share(0.25));
  EXPECT_EQ(run.at("results"), ordered_json::array());
  EXPECT_EQ(run.at("tool").at("driver").at("name"), "Nodewise");
}

TEST(TrafficSarif, AFailureIsAtItsSourceLine) {
  const ordered_json run = run_of(remote_program(), local_share(0.95));
  ASSERT_EQ(run.at("results").size(), 1U);
  const ordered_json& result = run.at("results").at(0);
  EXPECT_EQ(result.at("level"), "error");
  const std::string text = result.at("message").at("text");
  EXPECT_THAT(text, StartsWith("Of all traffic in use, 25.0 % of the cache lines were local; at "
                               "least 95.0 % is required. solver.c:41: "));
  EXPECT_EQ(place_of(result).at("artifactLocation").at("uri"), "src/so%20lver%231.c");
  EXPECT_EQ(place_of(result).at("region").at("startLine"), 41);
  EXPECT_EQ(result.at("properties").at("found"), 0.25);
  EXPECT_EQ(result.at("properties").at("atLeast"), 0.95);
  const std::string base = run.at("originalUriBaseIds").at("%SRCROOT%").at("uri");
  EXPECT_THAT(base, StartsWith("file:///"));
  EXPECT_TRUE(base.ends_with('/')) << base;
}

TEST(TrafficSarif, EachResultRefersToItsRule) {
  traffic_limits asked = local_share(0.95);
  asked.max_imbalance = 1.5;
  const ordered_json run = run_of(remote_program(), asked);
  ASSERT_EQ(run.at("results").size(), 2U);
  const ordered_json& rules = run.at("tool").at("driver").at("rules");
  for (const ordered_json& result : run.at("results")) {
    const ordered_json& rule = rules.at(result.at("ruleIndex").get<std::size_t>());
    EXPECT_EQ(rule.at("id"), result.at("ruleId"));
    for (const char* const part : {"shortDescription", "fullDescription", "help"}) {
      EXPECT_FALSE(rule.at(part).at("text").get<std::string>().empty());
    }
  }
  const std::string text = run.at("results").at(1).at("message").at("text");
  EXPECT_THAT(text, HasSubstr("4.00 times the mean of all memories in use; at most 1.50"));
}

TEST(TrafficSarif, AnObjectIsAtTheLineThatAllocatesIt) {
  traffic::summary found = remote_program();
  found.sites.front().name = {"mesh.c:7", folder() + "/mesh.c", 7};
  traffic_limits asked = local_share(0.95);
  asked.objects = {"mesh.c:7"};
  const ordered_json run = run_of(found, asked);
  ASSERT_EQ(run.at("results").size(), 1U);
  EXPECT_EQ(place_of(run.at("results").at(0)).at("artifactLocation").at("uri"), "mesh.c");
  EXPECT_EQ(place_of(run.at("results").at(0)).at("region").at("startLine"), 7);
}

TEST(TrafficSarif, AFileOfTheCurrentFolderComesBeforeAWorseOneElsewhere) {
  traffic::summary found = remote_program();
  ASSERT_GE(found.lines.size(), 2U);
  std::swap(found.lines[0].name, found.lines[1].name);
  found.lines[0].name = {"lib.c:3", "/usr/src/a lib/lib.c", 3};
  const ordered_json run = run_of(found, local_share(0.95));
  const ordered_json& result = run.at("results").at(0);
  EXPECT_EQ(place_of(result).at("artifactLocation").at("uri"), "src/so%20lver%231.c");
  const ordered_json& elsewhere = result.at("relatedLocations").at(0).at("physicalLocation");
  EXPECT_EQ(elsewhere.at("artifactLocation").at("uri"), "file:///usr/src/a%20lib/lib.c");
  EXPECT_FALSE(elsewhere.at("artifactLocation").contains("uriBaseId"));
}

TEST(TrafficSarif, WithoutSourceLinesThePlaceIsTheProgram) {
  traffic::summary found = remote_program();
  found.lines.front().name = {"0x401000"};
  const ordered_json run = run_of(found, local_share(0.95));
  const ordered_json& place = place_of(run.at("results").at(0));
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "a%20program");
  EXPECT_FALSE(place.contains("region"));
  EXPECT_FALSE(run_of(found, local_share(0.95), "a").at("results").at(0).contains("locations"));
}

TEST(TrafficSarif, TooLittleTrafficIsAFailureWithoutAFigure) {
  const auto nothing = traffic::summarise(traffic::read_counts(counts_file("nothing-2x2")));
  const ordered_json run = run_of(nothing, local_share(0.5));
  ASSERT_EQ(run.at("results").size(), 1U);
  const std::string text = run.at("results").at(0).at("message").at("text");
  EXPECT_THAT(text, HasSubstr("was not judged"));
  EXPECT_EQ(run.at("results").at(0).at("properties").at("found"), "unavailable");
}

TEST(TrafficSarif, ANameIsNoMarkup) {
  traffic::summary found = remote_program();
  found.lines.front().name = {"[a](http://b){0}\n\x1b", folder() + "/a.c", 1};
  const ordered_json run = run_of(found, local_share(0.95));
  const std::string text = run.at("results").at(0).at("message").at("text");
  EXPECT_THAT(text, HasSubstr(" [a] (http://b){{0}}\\n\\x1b: "));
}

} // namespace
} // namespace nodewise::cli
