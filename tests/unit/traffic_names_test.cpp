// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A program is compiled and run here, and writes the count of itself: its own mappings and
// addresses.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traffic/summary.hpp"
#include "unit/counts_files.hpp"

namespace nodewise::traffic {
namespace {

namespace fs = std::filesystem;
using testing::StartsWith;

constexpr const char* source_text = R"(#include <stdio.h>
#include <string.h>
int counters[32] = {1};
__attribute__((noinline)) static char* here(void) { return __builtin_return_address(0); }
int main(int argc, char** argv) {
  char line[4096];
  char* first = here() + (argc > 99);
  unsigned long base = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    unsigned long start, end, offset;
    char path[2048] = "-";
    sscanf(line, "%lx-%lx %*s %lx %*s %*s %2047s", &start, &end, &offset, path);
    if (base == 0 && strcmp(path, argv[1]) == 0) base = start;
    printf("mapping 7 0x%lx 0x%lx 0x%lx %s\n", start, end, offset, path);
  }
  printf("object 7 1 0x10 64 heap solver 0x%lx -\n", (unsigned long)first - base);
  printf("object 7 2 0x1000 64 heap libnone.so 0x99 -\n");
  printf("code 7 0x%lx use 1 10\n", (unsigned long)first - 1);
  printf("code 7 0x%lx use 2 20\n", (unsigned long)first - 2);
  printf("code 7 0x%lx init 5 0\n", (unsigned long)first - 2);
  printf("code 7 0x10 use 0 1\n");
  printf("shared 7 0x%lx - 3 3 0-1 - 0 0 0x0\n", (unsigned long)&counters[16]);
  printf("shared 7 0x%lx - 2 2 0-1 - 0 0 0x0\n", (unsigned long)line);
  printf("shared 7 0x1020 2 1 1 0-1 - 0 0 0x0\n");
  return 0;
}
)";

class Names : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "nodewise-names-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::ofstream(folder_ / "solver.c") << source_text;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Of the program compiled so; the compiler sees the source as "solver.c" in some folder.
  [[nodiscard]] summary compiled(const std::string& options) const {
    const std::string program = (folder_ / "solver").string();
    const std::string compile =
        "cc " + options + " -o " + program + " " + (folder_ / "solver.c").string();
    EXPECT_EQ(std::system(compile.c_str()), 0) << compile;
    std::FILE* const pipe = ::popen((program + " " + program).c_str(), "r");
    std::string lines;
    std::array<char, 4096> part{};
    while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe) != nullptr) {
      lines += part.data();
    }
    EXPECT_EQ(pipe == nullptr ? -1 : ::pclose(pipe), 0);
    return summarise(read_counts(counts_with(lines)));
  }

  fs::path folder_;
};

TEST_F(Names, AreSourceLinesWhereThereIsDebugInformation) {
  const summary found = compiled("-g -O1");
  ASSERT_EQ(found.lines.size(), 2U) << "two instructions of one line are one";
  EXPECT_EQ(found.lines[0].name.label, "solver.c:7");
  EXPECT_EQ(found.lines[0].name.function, "main");
  EXPECT_EQ(found.lines[0].fills[index_of(phase::use)].remote, 30U);
  EXPECT_EQ(found.lines[0].fills[index_of(phase::use)].local, 3U);
  EXPECT_EQ(found.lines[0].fills[index_of(phase::initialisation)].local, 5U);
  EXPECT_EQ(found.lines[1].name.label, "0x10");
  ASSERT_EQ(found.sites.size(), 2U);
  const bool first_is_ours = found.sites[0].what.module == "solver";
  const named_site& ours = found.sites[first_is_ours ? 0 : 1];
  EXPECT_EQ(ours.name.label, "solver.c:7") << "the call is before its return";
  EXPECT_EQ(found.sites[first_is_ours ? 1 : 0].name.label, "libnone.so+0x99");
  for (const std::string asked : {"solver.c:7", "solver.c"}) {
    EXPECT_TRUE(ours.answers_to(asked)) << asked;
  }
  EXPECT_TRUE(ours.answers_to((folder_ / "solver.c").string() + ":7"));
  for (const std::string asked : {"solver.c:8", "olver.c", "solver", "main", ""}) {
    EXPECT_FALSE(ours.answers_to(asked)) << asked;
  }
}

TEST_F(Names, OfSharedLinesAreTheVariablesTheyAreIn) {
  const summary found = compiled("-g");
  ASSERT_EQ(found.shared.size(), 3U);
  EXPECT_EQ(found.shared[0].name, "counters+64");
  EXPECT_EQ(found.shared[1].name, "[stack]");
  EXPECT_EQ(found.shared[2].name, "libnone.so+0x99+32");
}

TEST_F(Names, OfAStrippedProgramAreOffsets) {
  const summary found = compiled("-s");
  EXPECT_THAT(found.lines[0].name.label, StartsWith("solver+0x"));
  EXPECT_THAT(found.shared[0].name, StartsWith("solver+0x"));
}

TEST_F(Names, OfAPositionDependentProgramAreSourceLinesToo) {
  const summary found = compiled("-g -no-pie");
  EXPECT_EQ(found.lines[0].name.label, "solver.c:7");
  EXPECT_EQ(found.shared[0].name, "counters+64");
}

TEST(StaticArrays, HaveTheNamesOfTheSource) {
  const summary found =
      summarise(read_counts(counts_with("program 7 7 solver\nobject 7 1 0x1000 64 static - 0 "
                                        "_ZL4grid\nobject 7 2 0x2000 64 static - 0 a\n"
                                        "traffic 7 1 use 0 0 9 0 0\ntraffic 7 2 use 0 0 5 0 0\n")));
  ASSERT_EQ(found.sites.size(), 2U);
  EXPECT_EQ(found.sites[0].name.label, "grid");
  EXPECT_TRUE(found.sites[0].answers_to("grid"));
  EXPECT_EQ(found.sites[1].name.label, "a"); // which the demangler alone would take for a type
}

TEST(StaticArrays, AreFoundByTheShortNameThatTablesHave) {
  const std::string parameter(60, 'x');
  const summary found = summarise(
      read_counts(counts_with("program 7 7 solver\nobject 7 1 0x1000 64 static - 0 _Z5tableI60" +
                              parameter + "iE\ntraffic 7 1 use 0 0 9 0 0\n")));
  ASSERT_EQ(found.sites.size(), 1U);
  const std::string full = "table<" + parameter + ", int>";
  EXPECT_EQ(found.sites[0].name.label, full);
  EXPECT_TRUE(found.sites[0].answers_to(full));
  EXPECT_TRUE(found.sites[0].answers_to("table<...>"));
  EXPECT_FALSE(found.sites[0].answers_to("table"));
}

} // namespace
} // namespace nodewise::traffic
