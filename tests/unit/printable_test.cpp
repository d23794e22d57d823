// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "base/text.hpp"
#include "report/style.hpp"

namespace nodewise {
namespace {

TEST(Printable, TextWithoutControlCharactersIsUnchanged) {
  for (const std::string text : {"", "solver.c:41", "größe", "日本", "\xF0\x9F\x98\x80", "a\\b"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, ControlCharactersBecomeEscapes) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b[2J\x07\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J"),
            "\\xc2\\x9b2J"); // U+009B is what ESC [ is
  EXPECT_EQ(printable("\xE2\x80\xAE"), "\\xe2\\x80\\xae");
}

TEST(Printable, BytesThatAreNotUtf8BecomeEscapes) {
  EXPECT_EQ(printable("\x9B"
                      "2J"),
            "\\x9b2J");
  EXPECT_EQ(printable("\xC3"), "\\xc3");
  EXPECT_EQ(printable("\xC0\x9B"), "\\xc0\\x9b");          // an overlong form
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80"); // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xE2\x82"
                      "a"),
            "\\xe2\\x82"
            "a");
}

TEST(Printable, NoByteOfAControlCharacterIsLeft) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      for (const char c : printable(text)) {
        const auto byte = static_cast<unsigned char>(c);
        EXPECT_TRUE(byte >= 0x20 && byte != 0x7F) << first << ' ' << second;
      }
    }
  }
}

TEST(Printable, WhatIsKeptOnRequest) {
  EXPECT_EQ(printable("a\n\tb", kept_controls::newlines), "a\n\\tb");
  EXPECT_EQ(printable("\x1b[1mb\x1b[0m\n", kept_controls::newlines), "\\x1b[1mb\\x1b[0m\n");
  const std::string page = "\x1b[1;31ma\x1b[0m\n\t\x1b[38;5;33mb\x1b[0m\n";
  EXPECT_EQ(printable(page, kept_controls::newlines_colours), page);
  EXPECT_EQ(printable("\x1b[2J\x1b]0;t\x07\x1b[1", kept_controls::newlines_colours),
            "\\x1b[2J\\x1b]0;t\\x07\\x1b[1");
}

TEST(Printable, ErrorsAndWarningsHoldNoControlCharacters) {
  const report::style plain;
  const error e(error_kind::input, "the file 'a\x1b[2J'", "\x1b]0;title\x07", "\r\x9b");
  EXPECT_EQ(report::error_text(e, plain),
            "nodewise: the file 'a\\x1b[2J': \\x1b]0;title\\x07\n    hint: \\r\\x9b\n");
  EXPECT_EQ(report::warning_text("a\x1b", plain), "nodewise: warning: a\\x1b\n");
}

} // namespace
} // namespace nodewise
