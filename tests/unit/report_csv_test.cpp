// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/csv.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace nodewise::report {
namespace {

TEST(ReportCsv, QuotesWhatWouldEndAField) {
  EXPECT_EQ(csv_line({"a b", "a,b", "say \"a\"", ""}), "a b,\"a,b\",\"say \"\"a\"\"\",\n");
}

TEST(ReportCsv, ANameNeverEndsTheLine) {
  EXPECT_EQ(csv_line({std::string("a\nb\r\x1b[2J")}), "a\\nb\\r\\x1b[2J\n");
}

TEST(ReportCsv, WhatIsUnknownIsAnEmptyField) {
  EXPECT_EQ(csv_line({std::optional<double>(), std::numeric_limits<double>::infinity(),
                      std::numeric_limits<double>::quiet_NaN(), std::optional<std::string>()}),
            ",,,\n");
}

TEST(ReportCsv, NumbersAreReadAgainAsTheSame) {
  EXPECT_EQ(csv_line({0.1, 40.0, std::size_t{7}, -1, true, std::optional(0.25)}),
            "0.1,40,7,-1,true,0.25\n");
}

} // namespace
} // namespace nodewise::report
