// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace nodewise::traffic {

/// A file of tests/data/counts.
inline std::string counts_file(const std::string& name) {
  std::ifstream file(std::string(NODEWISE_TEST_COUNTS) + "/" + name + ".txt");
  EXPECT_TRUE(file.is_open()) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The least that a count has, `lines` in it. Two nodes of two processors; lines 1 to 10 are the
/// head, what is given begins with line 11.
inline std::string counts_with(const std::string& lines) {
  return "nodewise-counts 1\nselftest 4 17\nline_bytes 64\npage_bytes 4096\n"
         "processor 0 0\nprocessor 1 0\nprocessor 2 1\nprocessor 3 1\nmemory 0\nmemory 1\n" +
         lines + "complete\n";
}

} // namespace nodewise::traffic
