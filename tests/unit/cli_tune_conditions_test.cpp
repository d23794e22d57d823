// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/verbs/tune/observed.hpp"

namespace nodewise::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ConditionsOfRuns, ReadsFromDisksAreRemarked) {
  conditions_watch watch(false);
  sys::timed_end run;
  watch.after_run(run);
  run.disk_bytes = 4096; // a page or two
  watch.after_run(run);
  EXPECT_THAT(watch.remarks(), IsEmpty());
  run.disk_bytes = std::uint64_t{3} << 20;
  watch.after_run(run);
  EXPECT_THAT(
      watch.remarks(),
      ElementsAre("1 of 3 runs read from disks, up to 3.00 MiB: their files were not all in "
                  "the page cache"));
}

} // namespace
} // namespace nodewise::cli
