// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/chain.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

namespace {

using nodewise::measure::follow;
using nodewise::measure::link_chain;

struct alignas(64) line {
  std::byte bytes[64];
};

std::span<std::byte> bytes_of(std::vector<line>& lines) {
  return std::as_writable_bytes(std::span(lines));
}

/// The numbers of the lines in the order of the chain, beginning with line 0.
std::vector<std::size_t> order(std::span<const std::byte> buffer, std::size_t line_bytes) {
  std::vector<std::size_t> visited;
  const void* at = buffer.data();
  do {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(at) - buffer.data());
    EXPECT_EQ(offset % line_bytes, 0U);
    visited.push_back(offset / line_bytes);
    at = follow(at, 1);
  } while (at != buffer.data() && visited.size() <= buffer.size() / line_bytes);
  return visited;
}

TEST(MeasureChain, TheCycleVisitsEveryLineOnce) {
  for (const std::size_t line_bytes : {8UL, 64UL, 128UL, 192UL, 4096UL}) {
    for (const std::size_t lines : {1UL, 2UL, 3UL, 7UL, 64UL, 1000UL, 65536UL}) {
      std::vector<line> memory(lines * line_bytes / sizeof(line) + 1);
      const auto buffer = bytes_of(memory).first(lines * line_bytes);
      link_chain(buffer, line_bytes, 1);
      auto visited = order(buffer, line_bytes);
      ASSERT_EQ(visited.size(), lines) << line_bytes;
      std::sort(visited.begin(), visited.end());
      for (std::size_t i = 0; i < lines; ++i)
        ASSERT_EQ(visited[i], i) << line_bytes;
    }
  }
}

TEST(MeasureChain, FollowTakesExactlySoManySteps) {
  std::vector<line> memory(1009);
  link_chain(bytes_of(memory), sizeof(line), 5);
  const auto visited = order(bytes_of(memory), sizeof(line));
  for (const std::size_t steps :
       {0UL, 1UL, 2UL, 63UL, 64UL, 65UL, 127UL, 128UL, 1008UL, 1009UL, 1010UL, 5000UL})
    EXPECT_EQ(follow(memory.data(), steps), &memory[visited[steps % 1009]]) << steps;
}

TEST(MeasureChain, TheOrderIsTheSeedsAndIsNotThatOfTheAddresses) {
  std::vector<line> memory(4096);
  std::vector<std::vector<std::size_t>> orders;
  for (const std::uint64_t seed : {1U, 1U, 2U}) {
    link_chain(bytes_of(memory), sizeof(line), seed);
    orders.push_back(order(bytes_of(memory), sizeof(line)));
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[2]);
  // Of a random cycle about 4096 * 63 / 4095 steps stay within a page, and one goes to the next
  // line: nearly Poisson's distribution of mean 63, which is 20 or less, or 130 or more, with
  // 3e-10, and of mean 1, which is 14 or more with 5e-12.
  std::size_t within_a_page = 0;
  std::size_t next_line = 0;
  for (std::size_t i = 1; i < orders[0].size(); ++i) {
    within_a_page += orders[0][i] / 64 == orders[0][i - 1] / 64 ? 1U : 0U;
    next_line += orders[0][i] == orders[0][i - 1] + 1 ? 1U : 0U;
  }
  EXPECT_GT(within_a_page, 20U);
  EXPECT_LT(within_a_page, 130U);
  EXPECT_LT(next_line, 14U);
}

TEST(MeasureChain, WritesPointersAndNothingElse) {
  std::vector<line> memory(65);
  const auto bytes = bytes_of(memory);
  std::memset(bytes.data(), 0x5A, bytes.size());
  link_chain(bytes.first(64 * 64 + 63), sizeof(line), 3); // the last is no line
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (i % 64 >= sizeof(void*) || i >= 64 * 64) {
      ASSERT_EQ(bytes[i], std::byte{0x5A}) << i;
    }
}

TEST(MeasureChain, RefusesABufferWithoutALine) {
  std::vector<line> memory(2);
  const auto bytes = bytes_of(memory);
  EXPECT_THROW(link_chain(bytes.first(0), 64, 1), nodewise::error);
  EXPECT_THROW(link_chain(bytes.first(63), 64, 1), nodewise::error);
  EXPECT_THROW(link_chain(bytes, 0, 1), nodewise::error);
  EXPECT_THROW(link_chain(bytes, 12, 1), nodewise::error);
  EXPECT_THROW(link_chain(bytes.subspan(4), 64, 1), nodewise::error);
}

} // namespace
