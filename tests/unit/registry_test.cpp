// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/registry.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "cli/frame/help.hpp"
#include "cli/frame/invocation.hpp"
#include "cli/manual/manual.hpp"
#include "cli/start/flags.hpp"

namespace nodewise::cli {
namespace {

using testing::HasSubstr;

/// The words after "nodewise" of a line without quotes, as a shell would give them.
std::vector<std::string> words_after_command(std::string_view line) {
  std::istringstream in{std::string(line)};
  std::vector<std::string> words;
  std::string word;
  while (in >> word && word != "nodewise") {
  }
  while (in >> word && word != "&&") {
    words.push_back(word);
  }
  return words;
}

invocation parse_words(const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(word.c_str());
  }
  return parse(pointers);
}

TEST(Registry, EveryVerbIsDocumented) {
  std::set<std::string_view> names;
  for (const verb& v : all_verbs()) {
    SCOPED_TRACE(v.name);
    EXPECT_TRUE(names.insert(v.name).second);
    for (const std::string_view alias : v.aliases) {
      EXPECT_TRUE(names.insert(alias).second) << alias;
    }
    EXPECT_FALSE(v.summary.empty());
    EXPECT_FALSE(v.summary.ends_with('.'));
    EXPECT_FALSE(v.usage.empty());
    EXPECT_FALSE(v.description.empty());
    EXPECT_FALSE(v.examples.empty());
    for (const verb_exit& each : v.exit_codes) {
      EXPECT_TRUE(std::ranges::any_of(exit_codes, [&](auto& row) { return row.code == each.code; }))
          << each.code;
    }
    for (const verb_flag_text& each : v.flag_texts) {
      EXPECT_TRUE(std::ranges::find(v.flags, each.of) != v.flags.end()) << each.of->name;
      EXPECT_FALSE(each.help.empty()) << each.of->name;
    }
    for (const auto& [a, b] : v.excludes) {
      EXPECT_TRUE(find_flag(v.flags, a->name) == a && find_flag(v.flags, b->name) == b) << a->name;
    }
  }
}

TEST(Registry, EveryFlagIsDocumentedAndThereOnce) {
  for (const verb& v : all_verbs()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const flag* const f : v.flags) {
      SCOPED_TRACE(std::string(v.name) + " --" + std::string(f->name));
      EXPECT_TRUE(names.insert(f->name).second);
      EXPECT_TRUE(f->letter == '\0' || letters.insert(f->letter).second) << f->letter;
      EXPECT_FALSE(f->help.empty());
      EXPECT_EQ(f->value.empty(), f->kind == flag_kind::toggle);
    }
  }
}

TEST(Registry, OneNameIsOneMeaning) {
  std::map<std::string_view, const flag*> known;
  known["all"] = nullptr;    // numactl's word in `run`; elsewhere everything instead of a choice
  known["export"] = nullptr; // each verb lists its own formats
  known["figure"] = nullptr; // a number that a program prints, in `report` a picture
  for (const verb& v : all_verbs()) {
    for (const flag* const f : v.flags) {
      const flag* const first = known.try_emplace(f->name, f).first->second;
      EXPECT_TRUE(first == f || first == nullptr) << f->name;
    }
  }
}

TEST(Registry, EveryExampleParses) {
  for (const verb& v : all_verbs()) {
    for (const example& e : v.examples) {
      SCOPED_TRACE(e.command);
      const std::vector<std::string> words = words_after_command(e.command);
      invocation given;
      ASSERT_NO_THROW(given = parse_words(words));
      EXPECT_EQ(given.verb, &v);
      EXPECT_FALSE(e.meaning.empty());
    }
  }
}

void expect_fits(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(report::display_width(line), width) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

std::string with_roff_dashes(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    text += letter == '-' ? "\\-" : std::string(1, letter);
  }
  return text;
}

TEST(Help, FitsEightyColumnsAndNamesEverything) {
  const report::style plain{};
  expect_fits(command_help(plain), 80);
  expect_fits(short_help(plain), 80);
  for (const verb& v : all_verbs()) {
    const std::string text = verb_help(v, plain);
    expect_fits(text, 80);
    for (const flag* const f : v.flags) {
      EXPECT_THAT(text, HasSubstr(flag_heading(*f)));
    }
    for (const std::string_view alias : v.aliases) {
      EXPECT_THAT(text, HasSubstr("alias: nodewise " + std::string(alias) + "\n"));
      EXPECT_THAT(verb_manual(v), HasSubstr("nodewise " + with_roff_dashes(alias)));
    }
    if (!v.hidden) {
      EXPECT_THAT(command_help(plain), HasSubstr(v.summary));
    }
  }
  for (const exit_code_row& row : exit_codes) {
    EXPECT_THAT(command_help(plain), HasSubstr(row.meaning));
  }
}

TEST(Help, AVerbMayReplaceGeneralTexts) {
  const report::style plain{};
  const verb& drops = *find_verb("drop-cache");
  EXPECT_THAT(verb_help(drops, plain), HasSubstr("3      a named file was not dropped"));
  EXPECT_THAT(verb_manual(drops), HasSubstr("a named file was not dropped"));
  EXPECT_THAT(verb_help(*find_verb("doctor"), plain),
              HasSubstr("exit with code 1 if there is a warning"));
  EXPECT_THAT(verb_manual(*find_verb("doctor")),
              HasSubstr("exit with code 1 if there is a warning"));
  EXPECT_EQ(flag_text(flags::bind, find_verb("run")), flag_text(flags::bind, nullptr));
  EXPECT_TRUE(flag_text(flags::bind, find_verb("model")).ends_with("(default: spread)"));
}

TEST(Help, AVerbThatRunsInAMachineListsItsExitCodes) {
  for (const verb& v : all_verbs()) {
    // To `tune`, the end of one run's machine is the end of one setting.
    if (v.name == "tune" || std::ranges::find(v.flags, &flags::on) == v.flags.end()) {
      continue;
    }
    for (const int code : {exit_code::refused, exit_code::time_limit, exit_code::not_started,
                           exit_code::signal_base}) {
      EXPECT_TRUE(std::ranges::any_of(v.exit_codes, [&](auto& each) { return each.code == code; }))
          << v.name << code;
    }
  }
}

TEST(Help, ColourChangesNoColumn) {
  const report::style colour{.colour = true};
  for (const verb& v : all_verbs()) {
    expect_fits(verb_help(v, colour), 80);
  }
}

TEST(Manual, HasAPageForEveryVerb) {
  const std::string all = command_manual();
  for (const verb& v : all_verbs()) {
    const std::string page = verb_manual(v);
    EXPECT_THAT(page, HasSubstr(".SH EXAMPLES"));
    EXPECT_EQ(std::ranges::count(page, '`'), 0);
    if (!v.hidden) {
      EXPECT_THAT(all, HasSubstr("nodewise\\-" + with_roff_dashes(v.name)));
    }
  }
}

TEST(Nearest, FindsTypingErrorsAndNothingElse) {
  const std::vector<std::string_view> names = {"memory", "membind", "bind", "threads"};
  EXPECT_EQ(nearest("memroy", names), "memory");
  EXPECT_EQ(nearest("mem", names), "memory");
  EXPECT_EQ(nearest("thread", names), "threads");
  EXPECT_EQ(nearest("x", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("something-else", names), "");
  EXPECT_EQ(nearest("memory", {}), "");
}

} // namespace
} // namespace nodewise::cli
