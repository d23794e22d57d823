// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/invocation.hpp"

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

#include "cli/frame/paths.hpp"
#include "cli/start/flags.hpp"

namespace nodewise::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

invocation parsed(const std::vector<const char*>& words) {
  return parse(words);
}

/// "asked|answered|cure" of the refusal, or "" if there is none.
std::string refusal(const std::vector<const char*>& words) {
  try {
    (void)parse(words);
    return "";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    return e.asked() + "|" + e.answered() + "|" + e.hint();
  }
}

TEST(Parse, NumactlStyle) {
  const invocation given = parsed({"run", "-N", "0", "-m", "1", "./a", "-x", "--json"});
  EXPECT_EQ(given.verb->name, "run");
  EXPECT_EQ(given.text(flags::cpunodebind), "0");
  EXPECT_EQ(given.text(flags::membind), "1");
  EXPECT_FALSE(given.has(flags::json)) << "that is the program's";
  EXPECT_THAT(given.program, ElementsAre("./a", "-x", "--json"));
}

TEST(Parse, TwoDashesEndTheOptions) {
  EXPECT_THAT(parsed({"run", "--quiet", "--", "-odd-name", "--", "x"}).program,
              ElementsAre("-odd-name", "--", "x"));
  EXPECT_THAT(parsed({"lab", "--json", "--", "describe", "4x2"}).operands,
              ElementsAre("describe", "4x2"));
}

TEST(Parse, ValuesInEveryForm) {
  for (const auto& words :
       std::vector<std::vector<const char*>>{{"run", "--cpunodebind", "0-3", "a"},
                                             {"run", "--cpunodebind=0-3", "a"},
                                             {"run", "-N0-3", "a"},
                                             {"run", "-N=0-3", "a"},
                                             {"run", "-N", "0-3", "a"},
                                             {"run", "-qN0-3", "a"},
                                             {"run", "-N", "7", "-N", "0-3", "a"}}) {
    EXPECT_EQ(parsed(words).text(flags::cpunodebind), "0-3");
  }
  EXPECT_TRUE(parsed({"run", "-qlN0", "a"}).has(flags::localalloc));
  EXPECT_EQ(parsed({"run", "--membind=", "a"}).text(flags::membind), "");
  EXPECT_EQ(parsed({"run", "-m", "!0", "a"}).text(flags::membind), "!0");
  EXPECT_EQ(parsed({"run", "--threshold", "-1", "a"}).text(flags::threshold), "-1");
}

TEST(Parse, OptionsOfLabMayFollowItsWords) {
  const invocation given = parsed({"lab", "describe", "4x2", "--json"});
  EXPECT_TRUE(given.has(flags::json));
  EXPECT_THAT(given.operands, ElementsAre("describe", "4x2"));
}

TEST(Parse, AFormByItsNameIsItsOption) {
  const invocation given = parsed({"topo", "--export", "svg"});
  EXPECT_EQ(given.selected_form(), &flags::svg);
  EXPECT_THAT(given.arguments_without({}), ElementsAre("topo", "--svg"));
  EXPECT_THAT(refusal({"topo", "--export", "pdf"}),
              HasSubstr("topo has the formats xml, json, svg"));
  EXPECT_THAT(refusal({"topo", "--export", ""}), HasSubstr("topo has the formats"));
  EXPECT_THAT(refusal({"topo", "--export"}), HasSubstr("its value is missing"));
  EXPECT_THAT(refusal({"doctor", "--export=json"}), HasSubstr("has no such option"));
}

TEST(Parse, HelpExcusesWhatIsMissing) {
  EXPECT_TRUE(parsed({"run", "--help"}).has(flags::help));
  EXPECT_TRUE(parsed({"--help"}).has(flags::help));
  EXPECT_EQ(parsed({"--version"}).verb, nullptr);
  EXPECT_TRUE(parsed({"lab", "-h"}).has(flags::help));
}

TEST(Parse, RefusesWithTheNearestName) {
  EXPECT_THAT(refusal({"rnu"}), HasSubstr("'rnu'|there is no such verb|did you mean run?"));
  EXPECT_THAT(refusal({"intern"}), Not(HasSubstr("did you mean"))) << "not for people";
  EXPECT_THAT(refusal({"run", "--memroy", "x"}),
              HasSubstr("--memroy|run has no such option|did you mean --memory? `nodewise run"));
  EXPECT_THAT(refusal({"run", "-Z", "a"}), HasSubstr("-Z|run has no such option|`nodewise run"));
  for (const char* const counting : {"--on-counts", "--on-no-count"}) {
    EXPECT_THAT(refusal({"measure", counting}), HasSubstr("|measure has no such option|"));
  }
  EXPECT_THAT(refusal({"lab", "lst"}), HasSubstr("did you mean list?"));
  EXPECT_THAT(refusal({"run", "--bind", "clos", "a"}), HasSubstr("did you mean close?"));
}

TEST(Parse, RefusesWhatIsIncomplete) {
  EXPECT_THAT(refusal({"run"}), HasSubstr("the program is missing"));
  EXPECT_THAT(refusal({"run", "--"}), HasSubstr("the program is missing"));
  EXPECT_THAT(refusal({"run", "-N"}), HasSubstr("--cpunodebind|its value is missing"));
  EXPECT_THAT(refusal({"run", "-N", "--", "a"}), HasSubstr("its value is missing"));
  EXPECT_THAT(refusal({"lab"}), HasSubstr("the action is missing"));
  EXPECT_THAT(refusal({"--color", "never"}), HasSubstr("the verb is missing"));
  EXPECT_THAT(refusal({}), HasSubstr("the verb is missing"));
}

TEST(Parse, RefusesWhatIsTooMuch) {
  EXPECT_THAT(refusal({"topo", "--json=yes"}), HasSubstr("--json takes no value"));
  EXPECT_THAT(refusal({"topo", "file.xml"}), HasSubstr("topo takes options only"));
  EXPECT_THAT(refusal({"topo", "-"}), HasSubstr("topo takes options only"));
  EXPECT_THAT(refusal({"-N", "0", "./a"}), HasSubstr("nodewise VERB -N"));
  EXPECT_THAT(refusal({"--", "run"}), HasSubstr("there is no such verb"));
}

TEST(Parse, AnyBytesAreAnswered) {
  for (const char* const word :
       {"", "-", "--", "---", "-=", "--=", "\xff\xfe", "--\xff=", "-\xff"}) {
    EXPECT_NE(refusal({word}), "") << word;
    EXPECT_NE(refusal({"topo", "--", word}), "") << word;
  }
}

TEST(Invocation, Numbers) {
  const auto number = [](const char* text) {
    return parsed({"run", "--threads", text, "a"}).number(flags::threads, 1, 4096);
  };
  EXPECT_EQ(number("8"), 8);
  for (const char* const text : {"0", "4097", "-1", "8x", "", "1e3", "99999999999999999999"}) {
    EXPECT_THROW((void)number(text), error) << text;
  }
  EXPECT_EQ(parsed({"run", "a"}).number(flags::threads), std::nullopt);
}

TEST(Invocation, Bytes) {
  const auto bytes = [](const char* text) {
    return parsed({"run", "--threshold", text, "a"}).bytes(flags::threshold);
  };
  EXPECT_EQ(bytes("0"), 0U);
  EXPECT_EQ(bytes("4096"), 4096U);
  EXPECT_EQ(bytes("4096B"), 4096U);
  EXPECT_EQ(bytes("64K"), 65536U);
  EXPECT_EQ(bytes("64k"), 65536U);
  EXPECT_EQ(bytes("4MiB"), 4U << 20);
  EXPECT_EQ(bytes("1.5G"), 3ULL << 29);
  for (const char* const text :
       {"", "x", "-1", "1KB", "1iB", "1KK", "1e3", "nan", "inf", "1 K", "99999999T", "1Q"}) {
    EXPECT_THROW((void)bytes(text), error) << text;
  }
}

TEST(Invocation, IsWrittenAgainWithoutSomeOptions) {
  const std::array<const flag*, 1> left_out = {&flags::on};
  const invocation given = parsed({"run", "--on", "lab:4x2", "-qN0", "./a", "-x"});
  const std::vector<std::string> words = given.arguments_without(left_out);
  EXPECT_THAT(words, ElementsAre("run", "--quiet", "--cpunodebind=0", "--", "./a", "-x"));
  std::vector<const char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(word.c_str());
  }
  EXPECT_THAT(parsed(pointers).program, ElementsAre("./a", "-x"));
  EXPECT_THAT(parsed({"topo", "--on", "lab:4x2"}).arguments_without(left_out), ElementsAre("topo"));
}

TEST(Invocation, ErrorsOfARoomNameTheOption) {
  try {
    (void)for_option(flags::membind, [] { return node_set::parse("0-"); });
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.asked(), "--membind: the list '0-'");
  }
}

TEST(Paths, FromEitherExecutable) {
  EXPECT_EQ(paths::of_executable("/opt/x/bin/nodewise").prefix, "/opt/x");
  EXPECT_EQ(paths::of_executable("/opt/x/libexec/nodewise/nodewise-tool").prefix, "/opt/x");
  EXPECT_EQ(paths::of_executable("/usr/bin/nodewise").tool(),
            "/usr/libexec/nodewise/nodewise-tool");
  EXPECT_EQ(paths::of_executable("/bin/nodewise").machines(), "/share/nodewise/machines");
}

} // namespace
} // namespace nodewise::cli
