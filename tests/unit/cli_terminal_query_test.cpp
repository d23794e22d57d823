// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/terminal_query.hpp"

#include <string>

#include <gtest/gtest.h>

namespace nodewise::cli {
namespace {

TEST(CliTerminalQuery, AnswersAreFoundAmongTypedKeys) {
  const terminal_answers found =
      read_answers("ls\n\x1b]11;rgb:ffff/ffff/dddd\x1b\\x\x1b[A\x1b_Gi=31;OK\x1b\\\x1b[?62;22;4cq");
  EXPECT_TRUE(found.kitty);
  EXPECT_TRUE(found.sixel);
  EXPECT_EQ(found.dark, false);
}

TEST(CliTerminalQuery, WhatATerminalDoesNotAnswerIsUnknown) {
  const terminal_answers found = read_answers("\x1b_Gi=31;ENOTSUPPORTED:x\x1b\\\x1b[?64;1;2;44c");
  EXPECT_FALSE(found.kitty);
  EXPECT_FALSE(found.sixel) << "44 is not 4";
  EXPECT_EQ(found.dark, std::nullopt);
}

TEST(CliTerminalQuery, ColoursHaveOneToFourDigits) {
  const auto dark = [](const std::string& colour) {
    return read_answers("\x1b]11;rgb:" + colour + "\a").dark;
  };
  EXPECT_EQ(dark("0/0/0"), true);
  EXPECT_EQ(dark("f/f/f"), false);
  EXPECT_EQ(dark("000/fff/000"), false) << "green is light";
  EXPECT_EQ(dark("0000/0000/ffff"), true) << "blue is dark";
  for (const char* const wrong :
       {"", "/", "//", "0/0", "0/0/0/0", "00000/0/0", "-1/0/0", "g/0/0"}) {
    EXPECT_EQ(dark(wrong), std::nullopt) << wrong;
  }
}

TEST(CliTerminalQuery, APartOfAnAnswerIsNoAnswer) {
  const std::string colour = "\x1b]11;rgb:ffff/ffff/ffff";
  for (std::size_t length = 0; length <= colour.size(); ++length) {
    EXPECT_EQ(read_answers(colour.substr(0, length)).dark, std::nullopt) << length;
  }
  const std::string attributes = "\x1b[?62;4";
  for (std::size_t length = 0; length <= attributes.size(); ++length) {
    EXPECT_FALSE(read_answers(attributes.substr(0, length)).sixel) << length;
  }
}

} // namespace
} // namespace nodewise::cli
