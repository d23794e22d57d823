// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/style.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace nodewise::report {
namespace {

constexpr style plain{};
constexpr style coloured{.colour = true, .unicode = true, .terminal = true};

/// Sets variables for one test and puts them back.
class environment {
 public:
  environment() {
    for (const char* const name : names) {
      const char* const value = std::getenv(name);
      kept_.push_back(value == nullptr ? std::optional<std::string>{} : std::string(value));
      ::unsetenv(name);
    }
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() {
    for (std::size_t i = 0; i < names.size(); ++i) {
      kept_[i] ? ::setenv(names[i], kept_[i]->c_str(), 1) : ::unsetenv(names[i]);
    }
  }
  void set(const char* name, const char* value) { ::setenv(name, value, 1); }

 private:
  static constexpr std::array names = {"NO_COLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS",
                                       "LC_ALL",   "LC_CTYPE",       "LANG"};
  std::vector<std::optional<std::string>> kept_;
};

class pseudo_terminal {
 public:
  pseudo_terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    ::grantpt(master_);
    ::unlockpt(master_);
    slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
  }
  pseudo_terminal(const pseudo_terminal&) = delete;
  pseudo_terminal& operator=(const pseudo_terminal&) = delete;
  ~pseudo_terminal() {
    ::close(slave_);
    ::close(master_);
  }
  [[nodiscard]] int fd() const { return slave_; }

 private:
  int master_;
  int slave_ = -1;
};

TEST(Style, APipeHasNoColour) {
  environment variables;
  variables.set("TERM", "xterm-256color");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const style how = style::for_stream(ends[1]);
  EXPECT_FALSE(how.colour);
  EXPECT_FALSE(how.terminal);
  EXPECT_EQ(how.width, 80U);
  variables.set("CLICOLOR_FORCE", "1");
  EXPECT_TRUE(style::for_stream(ends[1]).colour);
  variables.set("NO_COLOR", "1");
  EXPECT_FALSE(style::for_stream(ends[1]).colour);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Style, ATerminalHasColourUnlessItIsRefused) {
  environment variables;
  const pseudo_terminal terminal;
  EXPECT_FALSE(style::for_stream(terminal.fd()).colour) << "TERM is not set";
  variables.set("TERM", "dumb");
  EXPECT_FALSE(style::for_stream(terminal.fd()).colour);
  variables.set("TERM", "xterm");
  EXPECT_TRUE(style::for_stream(terminal.fd()).colour);
  EXPECT_TRUE(style::for_stream(terminal.fd()).terminal);
  variables.set("NO_COLOR", "");
  EXPECT_TRUE(style::for_stream(terminal.fd()).colour) << "empty counts as not set";
  variables.set("NO_COLOR", "0");
  EXPECT_FALSE(style::for_stream(terminal.fd()).colour) << "any other value counts as set";
}

TEST(Style, TheLocaleDecidesOnUnicode) {
  environment variables;
  EXPECT_FALSE(style::for_stream(STDOUT_FILENO).unicode);
  variables.set("LANG", "de_DE.utf8");
  EXPECT_TRUE(style::for_stream(STDOUT_FILENO).unicode);
  variables.set("LC_ALL", "C");
  EXPECT_FALSE(style::for_stream(STDOUT_FILENO).unicode) << "LC_ALL beats LANG";
  variables.set("LC_ALL", "C.UTF-8");
  EXPECT_TRUE(style::for_stream(STDOUT_FILENO).unicode);
}

TEST(Style, ColumnsAreBelievedWithinReason) {
  environment variables;
  variables.set("COLUMNS", "132");
  EXPECT_EQ(style::for_stream(STDOUT_FILENO).width, 132U);
  variables.set("COLUMNS", "3");
  EXPECT_EQ(style::for_stream(STDOUT_FILENO).width, 20U);
  variables.set("COLUMNS", "wide");
  EXPECT_GE(style::for_stream(STDOUT_FILENO).width, 20U);
}

TEST(Style, PaintsOnlyWithColour) {
  EXPECT_EQ(paint(plain, tone::bad, "no"), "no");
  EXPECT_EQ(paint(coloured, tone::plain, "text"), "text");
  EXPECT_EQ(paint(coloured, tone::good, "yes"), "\x1b[32myes\x1b[0m");
  EXPECT_EQ(paint_node(plain, 3, "3"), "3");
  EXPECT_EQ(paint_node(coloured, -1, "?"), "?") << "no node, no colour of a node";
  EXPECT_EQ(paint_node(coloured, 9, "x"), paint_node(coloured, 1, "x"));
  EXPECT_NE(paint_node(coloured, 0, "x"), paint_node(coloured, 1, "x"));
}

TEST(Style, WidthCountsCharactersAndNoCodes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("│é█"), 3U);
  EXPECT_EQ(display_width(paint_node(coloured, 5, "ab")), 2U);
  EXPECT_EQ(display_width("\x1b[1;31"), 0U) << "an escape sequence that is cut off";
  EXPECT_EQ(display_width("\x1b"), 0U);
}

TEST(Style, BytesHaveThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(37), "37 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "0.977 KiB");
  EXPECT_EQ(format_bytes(1023), "0.999 KiB");
  EXPECT_EQ(format_bytes(4096), "4.00 KiB");
  EXPECT_EQ(format_bytes(512ULL << 10), "512 KiB");
  EXPECT_EQ(format_bytes((1ULL << 20) - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes(24ULL << 30), "24.0 GiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<unsigned long long>::max()), "16.0 EiB");
}

TEST(Style, OnlyAllIsHundredPercent) {
  EXPECT_EQ(format_percent(0), "0 %");
  EXPECT_EQ(format_percent(1), "100 %");
  EXPECT_EQ(format_percent(0.998), "99.8 %");
  EXPECT_EQ(format_percent(0.999999), "99.9 %");
  EXPECT_EQ(format_percent(0.0000001), "0.1 %");
  EXPECT_EQ(format_percent(0.5), "50.0 %");
  EXPECT_EQ(format_percent(std::nan("")), "unavailable");
}

} // namespace
} // namespace nodewise::report
