// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is done to the process before the program takes its place.
#include "launch/start.hpp"

#include <cerrno>
#include <cstdlib>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "launch/plan.hpp"
#include "support/kept_variables.hpp"
#include "unit/fake_kernel.hpp"

namespace nodewise::launch {
namespace {

using testing::HasSubstr;

class refusing_kernel : public test::fake_kernel {
 public:
  refusing_kernel() : fake_kernel({node_id{0}, node_id{1}}) {}
  int set_mempolicy(sys::policy, const node_set&) override { return policy_answer; }
  int policy_answer = 0;
  int disable_huge_pages(bool disabled) override {
    huge_pages_disabled = disabled;
    return huge_answer;
  }
  std::optional<bool> huge_pages_disabled;
  int huge_answer = 0;
};

class Apply : public testing::Test {
 protected:
  refusing_kernel kernel;
  plan what;
};

TEST_F(Apply, RefusalsNameTheCallTheErrnoAndACure) {
  what.memory = memory_policy{sys::policy::bind, {node_id{1}}};
  kernel.policy_answer = EPERM;
  try {
    apply(what, "", kernel);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::system);
    EXPECT_EQ(e.errno_value(), EPERM);
    EXPECT_THAT(e.what(), HasSubstr("bound to node 1"));
    EXPECT_THAT(e.answered(), HasSubstr("set_mempolicy was refused: EPERM"));
    EXPECT_THAT(e.hint(), HasSubstr("seccomp"));
  }
}

TEST_F(Apply, HugePagesChangeOnlyIfRequested) {
  apply(what, "", kernel);
  EXPECT_FALSE(kernel.huge_pages_disabled);
  what.huge_pages = true;
  apply(what, "", kernel);
  EXPECT_EQ(kernel.huge_pages_disabled, false);
  what.huge_pages = false;
  kernel.huge_answer = EINVAL;
  EXPECT_THROW(apply(what, "", kernel), error);
  EXPECT_EQ(kernel.huge_pages_disabled, true);
}

TEST_F(Apply, SetsAndRemovesVariables) {
  const test::kept_variables kept{"NODEWISE_TEST_OLD", "NODEWISE_TEST_NEW"};
  ::setenv("NODEWISE_TEST_OLD", "1", 1);
  what.variables = {{"NODEWISE_TEST_OLD", std::nullopt}, {"NODEWISE_TEST_NEW", "2"}};
  apply(what, "", kernel);
  EXPECT_EQ(std::getenv("NODEWISE_TEST_OLD"), nullptr);
  EXPECT_STREQ(std::getenv("NODEWISE_TEST_NEW"), "2");
}

} // namespace
} // namespace nodewise::launch
