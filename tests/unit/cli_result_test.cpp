// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/result.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nodewise::cli {
namespace {

namespace fs = std::filesystem;

class ReplaceFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string text_of(const fs::path& file) {
    std::ifstream from(file);
    return {std::istreambuf_iterator<char>(from), {}};
  }
  [[nodiscard]] std::size_t files() const {
    const fs::directory_iterator all(folder_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  fs::path folder_ = testing::TempDir() + "nodewise-replace-" + std::to_string(::getpid());
  fs::path result_ = folder_ / "result.json";
};

TEST_F(ReplaceFile, WritesItWholeAndLeavesNothingBeside) {
  const mode_t before = ::umask(027);
  EXPECT_EQ(replace_file(result_, "first"), 0);
  ::umask(before);
  EXPECT_EQ(text_of(result_), "first");
  EXPECT_EQ(fs::status(result_).permissions(), fs::perms{0640}) << "as the umask says";
  EXPECT_EQ(replace_file(result_, std::string(1 << 20, 'x')), 0);
  EXPECT_EQ(fs::file_size(result_), 1U << 20);
  EXPECT_EQ(files(), 1U);
}

// In a folder of all users another one may have laid out links of names that he can guess.
TEST_F(ReplaceFile, FollowsNoLinkOfANameThatCanBeGuessed) {
  const fs::path victim = folder_ / "victim";
  std::ofstream(victim) << "the victim's";
  for (const std::string& guess :
       {".unfinished-" + std::to_string(::getpid()), std::string(".unfinished"),
        std::string(".tmp"), std::string("~")}) {
    fs::create_symlink(victim, result_.string() + guess);
  }
  const std::size_t before = files();
  EXPECT_EQ(replace_file(result_, "mine"), 0);
  EXPECT_EQ(text_of(victim), "the victim's");
  EXPECT_EQ(text_of(result_), "mine");
  EXPECT_FALSE(fs::is_symlink(result_));
  EXPECT_EQ(files(), before + 1);
}

TEST_F(ReplaceFile, SaysWhyNothingWasWritten) {
  EXPECT_EQ(replace_file(folder_ / "not there" / "result.json", ""), ENOENT);
  fs::create_directory(result_);
  EXPECT_EQ(replace_file(result_, "text"), EISDIR);
  EXPECT_EQ(files(), 1U) << "the unfinished file is gone";
}

} // namespace
} // namespace nodewise::cli
