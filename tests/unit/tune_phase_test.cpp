// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Times of regions in the file that libnodewise-marks.so writes.
#include <string>

#include <gmock/gmock.h>

#include <nodewise/error.hpp>

#include "tune/phase.hpp"

namespace nodewise::tune {
namespace {

using testing::HasSubstr;

std::string phase_file(const std::string& lines) {
  std::string contents = "nodewise mark times 1 complete\n";
  contents.append(97, '\0');
  return contents + lines + std::string(256, '\0');
}

const std::string two_processes = phase_file("12      - 000000000003 000000001.500000000 sweep\n"
                                             "12      - 000000000001 000000000.250000000 in it\n"
                                             "13      - 000000000003 000000002.000000001 sweep\n"
                                             "13      + 000000000001 000000000.000000000 open\n"
                                             "13      - 000000000001 000000000.000000000 empty\n");

std::string refused_phase(const std::string& contents, std::string_view name) {
  try {
    (void)phase_seconds(contents, name);
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(TunePhase, TheLongestTimeOfAProcessCounts) {
  EXPECT_EQ(phase_seconds(two_processes, "sweep"), 2.000000001);
  EXPECT_EQ(phase_seconds(two_processes, "in it"), 0.25);
}

TEST(TunePhase, NamesAreComparedAsTheyAreWritten) {
  const std::string written =
      phase_file("1       - 000000000001 000000000.500000000 a?b" + std::string(60, 'x') + "\n");
  EXPECT_EQ(phase_seconds(written, "a\nb" + std::string(90, 'x')), 0.5);
}

TEST(TunePhase, AMissingRegionIsRefusedWithThoseThatOccur) {
  EXPECT_THAT(refused_phase(two_processes, "swee"),
              HasSubstr("opened only 'empty', 'in it', 'open', 'sweep'"));
  EXPECT_THAT(refused_phase(phase_file(""), "sweep"), HasSubstr("opened no region"));
}

TEST(TunePhase, ARegionWithoutATimeIsRefused) {
  EXPECT_THAT(refused_phase(two_processes, "open"), HasSubstr("ended inside the region"));
  EXPECT_THAT(refused_phase(two_processes, "empty"), HasSubstr("took no time"));
}

TEST(TunePhase, IncompleteAndForeignFilesAreRefused) {
  EXPECT_THAT(refused_phase("", "sweep"), HasSubstr("took no times"));
  EXPECT_THAT(refused_phase(std::string(512, '\0'), "sweep"), HasSubstr("took no times"));
  std::string lost = two_processes;
  lost.replace(lost.find("complete"), 8, "lost    ");
  EXPECT_THAT(refused_phase(lost, "sweep"), HasSubstr("more regions"));
  for (const char* line : {"text\n", "1       * 000000000001 000000000.500000000 sweep\n",
                           "1       - 000000000001 00000000x.500000000 sweep\n",
                           "1       - 000000000001 000000000.5"}) {
    EXPECT_THAT(refused_phase(phase_file(line), "sweep"), HasSubstr("not a time"));
    EXPECT_THAT(refused_phase(line, "sweep"), HasSubstr("not a time"));
  }
}

} // namespace
} // namespace nodewise::tune
