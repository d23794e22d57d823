// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "fake_kernel.hpp"
#include "grid_machine.hpp"
#include "model_machines.hpp"
#include "place/kernel_weights.hpp"

namespace nodewise::kernel_weights {
namespace {

using test::fake_kernel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string files = folder;

machine two_and_cxl() {
  machine made = test::grid(2, 2);
  made.nodes.push_back(test::memory_only(2));
  test::set(made, "bandwidth", 0, 0, 90, "GB/s");
  test::set(made, "bandwidth", 0, 1, 200, "GB/s"); // more than node 1's own say: not taken
  test::set(made, "bandwidth", 1, 1, 60, "GB/s");
  test::set(made, "bandwidth", 0, 2, 20, "GB/s");
  test::set(made, "bandwidth", 1, 2, 30, "GB/s");
  test::set(made, "latency", 0, 0, 100, "ns");
  return made;
}

/// Linux 6.16 and newer, with its own file beside those of the nodes.
std::map<std::string, std::string> files_of_three(const std::string& automatic = "/auto") {
  return {{files + "/node0", "1"},
          {files + "/node1", "1"},
          {files + "/node2", "5"},
          {files + automatic, "true"}};
}

class kernel_of_three : public fake_kernel {
 public:
  explicit kernel_of_three(const std::string& automatic = "/auto")
      : fake_kernel({node_id{0}, node_id{1}, node_id{2}}) {
    files = files_of_three(automatic);
  }
};

TEST(KernelWeights, AreOfTheOwnProcessorsOrTheBest) {
  const std::vector<weight> found = by_bandwidth(two_and_cxl());
  EXPECT_THAT(found,
              ElementsAre(weight{node_id{0}, 3}, weight{node_id{1}, 2}, weight{node_id{2}, 1}));
  EXPECT_THAT(by_bandwidth(two_and_cxl(), {node_id{0}, node_id{2}}),
              ElementsAre(weight{node_id{0}, 3}, weight{node_id{2}, 1}));
  EXPECT_EQ(shell_lines(found), "echo 3 > /sys/kernel/mm/mempolicy/weighted_interleave/node0\n"
                                "echo 2 > /sys/kernel/mm/mempolicy/weighted_interleave/node1\n"
                                "echo 1 > /sys/kernel/mm/mempolicy/weighted_interleave/node2\n");
}

TEST(KernelWeights, OfWhatNobodyMeasuredAreAnError) {
  machine made = two_and_cxl();
  std::erase_if(made.parameters, [](const parameter& each) { return each.to == node_id{2}; });
  try {
    (void)by_bandwidth(made);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_THAT(e.what(), HasSubstr("no bandwidth of node 2 is measured"));
    EXPECT_THAT(e.hint(), HasSubstr("nodewise measure"));
  }
  EXPECT_THROW((void)by_bandwidth(made, {node_id{9}}), error);
  EXPECT_THAT(by_bandwidth(made, {node_id{1}}), ElementsAre(weight{node_id{1}, 1}));
}

TEST(KernelWeights, AreWritten) {
  kernel_of_three kernel;
  apply_weights(kernel, by_bandwidth(two_and_cxl()));
  EXPECT_THAT(kernel.writes,
              ElementsAre(files + "/node0=3", files + "/node1=2", files + "/node2=1"));
}

TEST(KernelWeights, AreAsBeforeIfOneIsRefused) {
  for (const std::string automatic : {"/auto", "/__auto_type"}) {
    kernel_of_three kernel(automatic);
    const auto before = kernel.files;
    kernel.refuse["write " + files + "/node2"] = EINVAL;
    try {
      apply_weights(kernel, by_bandwidth(two_and_cxl()));
      FAIL();
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::system);
      EXPECT_EQ(e.errno_value(), EINVAL);
      EXPECT_THAT(e.asked(), HasSubstr("weight 1 of node 2"));
      EXPECT_THAT(e.answered(), HasSubstr("all weights are as before"));
    }
    EXPECT_EQ(kernel.files, before);
    EXPECT_EQ(kernel.writes.back(), files + automatic + "=true") << "weights switch it off";
  }
}

TEST(KernelWeights, AreAsBeforeWhereTheKernelCannotComputeThemAgain) {
  kernel_of_three kernel; // as Linux 6.18 answers on a machine without an HMAT
  kernel.refuse["write " + files + "/auto"] = ENODEV;
  kernel.refuse["write " + files + "/node1"] = EINVAL;
  try {
    apply_weights(kernel, by_bandwidth(two_and_cxl()));
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.answered(), HasSubstr("all weights are as before"));
    EXPECT_EQ(kernel.files[files + "/node0"], "1");
  }
}

TEST(KernelWeights, SayWhatCouldNotBePutBack) {
  class stubborn : public fake_kernel {
   public:
    using fake_kernel::fake_kernel;
    int write_file(const char* path, std::string_view text) override {
      return writes.size() == 1 ? EROFS : fake_kernel::write_file(path, text);
    }
  } kernel({node_id{0}});
  kernel.files = {{files + "/node0", "4"}, {files + "/node1", "1"}, {files + "/node2", "5"}};
  try {
    apply_weights(kernel, by_bandwidth(two_and_cxl()));
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.errno_value(), EROFS);
    EXPECT_THAT(e.answered(), HasSubstr("could not be put back: " + files + "/node0 (was 4)"));
    EXPECT_THAT(e.hint(), HasSubstr("outside the container"));
  }
}

TEST(KernelWeights, ThatAreTakenAndNotThereAreTold) {
  class forgetful : public fake_kernel {
   public:
    using fake_kernel::fake_kernel;
    int write_file(const char*, std::string_view) override { return 0; }
  } kernel({node_id{0}});
  kernel.files = files_of_three();
  EXPECT_THROW(apply_weights(kernel, by_bandwidth(two_and_cxl())), error);
}

TEST(KernelWeights, NeedAKernelThatHasThem) {
  fake_kernel old({node_id{0}, node_id{1}});
  try {
    apply_weights(old, by_bandwidth(two_and_cxl()));
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.errno_value(), ENOENT);
    EXPECT_THAT(e.hint(), HasSubstr("Linux 6.9"));
  }
  kernel_of_three without_third;
  without_third.files.erase(files + "/node2");
  EXPECT_THROW(apply_weights(without_third, by_bandwidth(two_and_cxl())), error);
  EXPECT_THAT(without_third.writes, IsEmpty()) << "known before the first is written";
}

TEST(KernelWeights, ForWhoMayNotNameTheCure) {
  kernel_of_three kernel;
  kernel.refuse["write " + files + "/node0"] = EACCES;
  try {
    apply_weights(kernel, by_bandwidth(two_and_cxl()));
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.hint(), HasSubstr("as root"));
    EXPECT_THAT(kernel.writes, IsEmpty());
  }
}

} // namespace
} // namespace nodewise::kernel_weights
