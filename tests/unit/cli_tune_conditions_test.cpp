// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs/tune/observed.hpp"

namespace nodewise::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ConditionsOfRuns, ReadsFromDisksAreRemarked) {
  conditions_watch watch;
  watch.after_run(0);
  watch.after_run(4096); // a page or two
  EXPECT_THAT(watch.remarks(), IsEmpty());
  watch.after_run(std::uint64_t{3} << 20);
  EXPECT_THAT(
      watch.remarks(),
      ElementsAre("1 of 3 runs read from disks, up to 3.00 MiB: their files were not all in "
                  "the page cache"));
}

} // namespace
} // namespace nodewise::cli
