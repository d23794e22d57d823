// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What arrays are called.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "profile/profile.hpp"

namespace nodewise::profile {
namespace {

using ::testing::ElementsAre;

frame at(const std::string& file, int line) {
  return {"solver", 0x1000 + static_cast<std::uint64_t>(line), "f", file, line, false};
}
frame in_library(const std::string& module) {
  return {module, 0x10, "malloc", "", 0, false};
}

std::vector<std::string> names_by(std::vector<call_chain> chains) {
  program one;
  for (call_chain& each : chains) {
    one.objects.emplace_back();
    one.objects.back().made_at = std::move(each);
  }
  return names_of(one);
}

TEST(ProfileNames, AnArrayIsCalledByTheLineThatAllocatesIt) {
  EXPECT_THAT(
      names_by({{in_library("libnodewise-agent.so"), at("solver.c", 41), at("solver.c", 90)},
                {at("solver.c", 42), at("solver.c", 90)}}),
      ElementsAre("solver.c:41", "solver.c:42"));
}

TEST(ProfileNames, WhatAWrapperAllocatesIsCalledByItsCallers) {
  const frame wrapper = at("grid.hpp", 12);
  EXPECT_THAT(
      names_by(
          {{wrapper, at("solver.cpp", 90)}, {wrapper, at("solver.cpp", 91)}, {at("io.cpp", 5)}}),
      ElementsAre("solver.cpp:90 (through grid.hpp:12)", "solver.cpp:91 (through grid.hpp:12)",
                  "io.cpp:5"));
}

// Templates call each other in one line of a header.
TEST(ProfileNames, CallsThatAllHaveInCommonSayNothing) {
  const frame wrapper = at("grid.hpp", 12);
  const frame again = at("grid.hpp", 12);
  const frame outer = at("grid.hpp", 30);
  EXPECT_THAT(
      names_by({{wrapper, again, outer, at("solver.cpp", 90)},
                {wrapper, again, outer, at("solver.cpp", 91)}}),
      ElementsAre("solver.cpp:90 (through grid.hpp:12)", "solver.cpp:91 (through grid.hpp:12)"));
}

// Where the library is linked into the program its code is in the program's module.
TEST(ProfileNames, WhatTheLibraryAllocatesIsCalledByItsCaller) {
  const auto in = [](const std::string& function, int line) {
    frame made = at("a.cpp", line);
    made.function = function;
    return made;
  };
  const frame library = in("void nodewise::v0::(anonymous namespace)::fill<double>(int)", 3);
  const frame array = in("nodewise::v0::array<double>::array(unsigned long)", 4);
  const frame user = in("nodewise::v0::array<double> (anonymous namespace)::make<double>(int)", 5);
  EXPECT_THAT(names_by({{library, array, user}}), ElementsAre("a.cpp:5"));
}

TEST(ProfileNames, RowsOfOneArrayHaveOneName) {
  const call_chain row = {at("solver.c", 41), at("solver.c", 90)};
  EXPECT_THAT(names_by({row, row, row}), ElementsAre("solver.c:41", "solver.c:41", "solver.c:41"));
}

// As of `double *a = make(n), *b = make(n);`
TEST(ProfileNames, CallsInOneLineAreNumbered) {
  const frame first = at("solver.c", 41);
  frame second = first;
  second.offset += 9;
  const frame main = at("solver.c", 90);
  EXPECT_THAT(names_by({{second, main}, {first, main}, {second, main}, {at("io.c", 5)}}),
              ElementsAre("solver.c:41 #1", "solver.c:41 #2", "solver.c:41 #1", "io.c:5"));
  const frame wrapper = at("grid.h", 12);
  EXPECT_THAT(
      names_by({{wrapper, first, main}, {wrapper, second, main}, {wrapper, at("io.c", 5), main}}),
      ElementsAre("solver.c:41 (through grid.h:12) #1", "solver.c:41 (through grid.h:12) #2",
                  "io.c:5 (through grid.h:12)"));
}

TEST(ProfileNames, WithoutLinesAnArrayIsCalledByWhatIsKnown) {
  program one;
  one.objects.resize(6);
  one.objects[4].name = "_ZL5table";
  one.objects[5].name = "_ZN4grid5fieldE";
  one.objects[0].name = "__fields_MOD_pressure";
  one.objects[1].name = "/data/input.bin";
  one.objects[2].made_at = {in_library("libc.so.6")};
  EXPECT_THAT(names_of(one), ElementsAre("fields::pressure", "input.bin", "malloc", "heap memory",
                                         "table", "grid::field"));
}

} // namespace
} // namespace nodewise::profile
