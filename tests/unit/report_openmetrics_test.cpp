// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/openmetrics.hpp"

#include <gtest/gtest.h>

namespace nodewise::report {
namespace {

constexpr metric_family memory{"x_bytes", metric_type::gauge, "bytes", "Memory."};

TEST(ReportOpenMetrics, AFamilyIsDescribedOnceBeforeItsMetrics) {
  exposition made;
  made.begin(memory);
  made.add({{"node", "0"}}, 4096);
  made.add({{"node", "1"}, {"pid", "7"}}, 0.25);
  made.begin({"moves", metric_type::counter, {}, "Moves."});
  made.add({}, 3);
  EXPECT_EQ(made.text(), "# TYPE x_bytes gauge\n# UNIT x_bytes bytes\n# HELP x_bytes Memory.\n"
                         "x_bytes{node=\"0\"} 4096\nx_bytes{node=\"1\",pid=\"7\"} 0.25\n"
                         "# TYPE moves counter\n# HELP moves Moves.\nmoves_total 3\n# EOF\n");
}

TEST(ReportOpenMetrics, AFamilyWithoutMetricsIsLeftOut) {
  exposition made;
  made.begin(memory);
  EXPECT_EQ(made.text(), "# EOF\n");
}

TEST(ReportOpenMetrics, ANameEndsNeitherItsLabelNorItsLine) {
  exposition made;
  made.begin(memory);
  made.add({{"command", "a\"} 1\n# EOF\\\xff"}}, 1);
  EXPECT_TRUE(made.text().ends_with("{command=\"a\\\"} 1\\\\n# EOF\\\\\\\\xff\"} 1\n# EOF\n"))
      << made.text();
}

} // namespace
} // namespace nodewise::report
