// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Figures in the output of programs.
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <nodewise/error.hpp>

#include "tune/figure.hpp"

namespace nodewise::tune {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

figure_source by(const char* pattern) {
  return {pattern, std::nullopt, false};
}

double figure_of(const char* pattern, std::string_view output) {
  return figure_in(by(pattern), output);
}

template <class Call>
std::string refused(Call call, error_kind kind) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

std::string refused_output(const figure_source& source, std::string_view output) {
  return refused([&] { (void)figure_in(source, output); }, error_kind::input);
}

TEST(TuneFigure, IsTheFirstGroupOfTheLastMatch) {
  const char* const output = "start\nrate: 10 MB/s\nrate: 12.5 MB/s (step 2)\ndone\n";
  EXPECT_EQ(figure_of("rate: ([0-9.]+)", output), 12.5);
  EXPECT_EQ(figure_of("rate: ([0-9.]+) MB/s( .step ([0-9]+))?", output), 12.5);
  EXPECT_EQ(figure_of("[0-9.]+", "a 1 b 2 c\n3 4.25 d\n"), 4.25);
  EXPECT_EQ(figure_of("=([0-9]+)", "x=1, y=2, z=3"), 3);
}

TEST(TuneFigure, LinesAreSearchedByThemselves) {
  EXPECT_EQ(figure_of("^([0-9]+)", "1 2 3\n4 5\n"), 4);
  EXPECT_EQ(figure_of("([0-9]+)$", "1 2 3\n4 5\r\n"), 5);
  EXPECT_EQ(figure_of("^([0-9])", "123\n"), 1); // ^ does not match inside the line
  EXPECT_THAT(refused_output(by("a.*b"), "a\nb"), HasSubstr("last line is 'b'"));
  EXPECT_THAT(refused_output(by("a[^x]b"), "a\nb"), HasSubstr("nothing in the output matches"));
}

TEST(TuneFigure, NumbersMayBeWrittenAsInCAndFortran) {
  const auto number = [](const char* text) {
    return figure_of("is (.*)", std::string("it is ") + text);
  };
  EXPECT_EQ(number("1.5e3 "), 1500);
  EXPECT_EQ(number("+7"), 7);
  EXPECT_EQ(number(" .5"), 0.5);
  EXPECT_EQ(number("1.25D+02"), 125);
  EXPECT_EQ(number("0.5d-1"), 0.05);
  for (const char* const bad : {"x", "", "1,5", "1 2", "1.5s", "+-1", "D", "1e", "1e999", "0x10"}) {
    EXPECT_THAT(refused_output(by("is (.*)"), std::string("it is ") + bad),
                HasSubstr("is not a number"))
        << bad;
  }
  for (const char* const bad : {"0", "-0.0", "-3", "inf", "nan", "-nan", "INFINITY", "+inf"}) {
    EXPECT_THAT(refused_output(by("is (.*)"), std::string("it is ") + bad),
                HasSubstr("is not a finite number above 0"))
        << bad;
  }
}

TEST(TuneFigure, GroupsAndMatchesMayBeEmpty) {
  EXPECT_THAT(refused_output(by("a(b)?"), "a"), HasSubstr("'' is not a number"));
  EXPECT_THAT(refused_output(by("x*"), "aaa"), HasSubstr("nothing in the output matches"));
  EXPECT_EQ(figure_of("[0-9.]*", "it took 5 s\nand more\n"), 5);
}

TEST(TuneFigure, WithoutAMatchTheLastLineIsQuoted) {
  EXPECT_THAT(refused_output(by("rate"), "one\n  Killed\x1b[0m \n\n"),
              AllOf(HasSubstr("'Killed\\x1b[0m'"), HasSubstr("matches 'rate'")));
  EXPECT_THAT(refused_output(by("rate"), ""), HasSubstr("the output is empty"));
  EXPECT_THAT(refused_output(by("rate"), "\n \n"), HasSubstr("the output is empty"));
  EXPECT_THAT(refused_output(by("rate"), std::string(1000, 'x')), HasSubstr("xxx...'"));
  EXPECT_THAT(refused_output({"rate", "out.txt", true}, "a"), HasSubstr("the file out.txt"));
}

TEST(TuneFigure, IsTheLastLineWithoutAPattern) {
  const figure_source file{std::nullopt, "figure.txt", false};
  EXPECT_EQ(figure_in(file, "first 3\n 2.5 \n\n"), 2.5);
  EXPECT_THAT(refused_output(file, ""), HasSubstr("the file figure.txt is empty"));
  EXPECT_THAT(refused_output(file, "a 1\n"), HasSubstr("'a 1' is not a number"));
  EXPECT_TRUE(figure_source{}.is_wall_time());
  EXPECT_FALSE(file.is_wall_time());
}

TEST(TuneFigure, PatternsAreChecked) {
  const auto refused_pattern = [](std::string pattern) {
    return refused([&] { check({std::move(pattern), std::nullopt, false}); }, error_kind::usage);
  };
  EXPECT_NO_THROW(check({}));
  EXPECT_NO_THROW(check(by("rate: ([0-9.]+)")));
  EXPECT_THAT(refused_pattern("rate: ([0-9.]+"),
              AllOf(HasSubstr("'rate: ([0-9.]+'"), HasSubstr("Unmatched (")));
  EXPECT_THAT(refused_pattern("[z-a]"), HasSubstr("range"));
  EXPECT_THAT(refused_pattern(""), HasSubstr("empty"));
  EXPECT_THAT(refused_pattern(std::string("a\0b", 3)), HasSubstr("NUL"));
  EXPECT_THAT(refused([] { (void)figure_in(by("("), "a"); }, error_kind::usage),
              Not(HasSubstr("last line")));
}

TEST(TuneFigure, OutputMayHoldAnyByte) {
  EXPECT_EQ(figure_of("t=([0-9]+)", std::string_view("\xff\0t=5\0\x80", 8)), 5);
  EXPECT_EQ(figure_of("t=([0-9]+)", std::string_view("t=6\0\nt=\0\n", 9)), 6);
}

TEST(TuneFigure, OutputMayEndWithoutAnEnd) {
  const std::vector<char> digits(100, '7'); // no byte may be read behind them
  EXPECT_EQ(figure_of("7$", {digits.data(), digits.size()}), 7);
}

TEST(TuneFigure, OutputMayBeLong) {
  constexpr std::size_t long_output = std::size_t{10} << 20;
  std::string one_line = "t=1 " + std::string(long_output, 'x');
  EXPECT_EQ(figure_of("t=([0-9]+)", one_line), 1);
  one_line += " t=2";
  EXPECT_EQ(figure_of("t=([0-9]+)", one_line), 2);
  // Such matches take the library much time and memory.
  const std::string shorter = one_line.substr(0, long_output / 16);
  EXPECT_EQ(figure_of("t=([0-9]+).*", shorter), 1);
  EXPECT_EQ(figure_of("t=([0-9]+)(x| )*", shorter), 1);
  std::string lines = "t=3\n";
  while (lines.size() < long_output) {
    lines += "step\n";
  }
  EXPECT_EQ(figure_of("^t=([0-9]+)$", lines), 3);
  EXPECT_THAT(refused_output(by("z"), std::string(long_output, '\n')), HasSubstr("is empty"));
  std::string many; // AddressSanitizer measures the line for each match
  while (many.size() < long_output / 64) {
    many += "t=4 ";
  }
  EXPECT_EQ(figure_of("t=([0-9]+)", many), 4);
}

} // namespace
} // namespace nodewise::tune
