// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Sets of numbers against std::set, on random sets from a fixed seed.
#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

namespace nodewise::test {

namespace {

std::set<int> random_numbers(std::mt19937& random) {
  std::set<int> numbers;
  const int highest = std::uniform_int_distribution(0, 1100)(random);
  const int count = std::uniform_int_distribution(0, 40)(random);
  for (int i = 0; i < count; ++i) {
    const int first = std::uniform_int_distribution(0, highest)(random);
    const int length = std::uniform_int_distribution(0, 70)(random) / 10;
    for (int number = first; number <= first + length; ++number) {
      numbers.insert(number);
    }
  }
  return numbers;
}

node_set set_of(const std::set<int>& numbers) {
  node_set set;
  for (const int number : numbers) {
    set.insert(node_id{number});
  }
  return set;
}

std::set<int> numbers_of(const node_set& set) {
  std::set<int> numbers;
  for (const node_id id : set) {
    numbers.insert(to_int(id));
  }
  return numbers;
}

TEST(IdSet, BehavesAsASetOfNumbers) {
  std::mt19937 random(20240607);
  for (int round = 0; round < 400; ++round) {
    const auto a = random_numbers(random);
    const auto b = random_numbers(random);
    std::set<int> both;
    std::set<int> either = a;
    std::set<int> only_a;
    either.insert(b.begin(), b.end());
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(),
                        std::inserter(only_a, only_a.end()));
    EXPECT_EQ(numbers_of(set_of(a) | set_of(b)), either);
    EXPECT_EQ(numbers_of(set_of(a) & set_of(b)), both);
    EXPECT_EQ(numbers_of(set_of(a) - set_of(b)), only_a);
    EXPECT_EQ(set_of(a).size(), a.size());
    EXPECT_EQ(set_of(a).intersects(set_of(b)), !both.empty());
    EXPECT_EQ(set_of(a).includes(set_of(b)), only_a.size() + b.size() == a.size());
    EXPECT_EQ(set_of(a).highest(), a.empty() ? -1 : *a.rbegin());
  }
}

TEST(IdSet, PrintsWhatItParses) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const auto numbers = random_numbers(random);
    const std::string list = set_of(numbers).to_string();
    EXPECT_EQ(numbers_of(node_set::parse(list)), numbers) << list;
    EXPECT_EQ(node_set::parse(list).to_string(), list);
  }
}

TEST(IdSet, KeepsNoTraceOfWhatWasErased) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    const auto numbers = random_numbers(random);
    node_set set = set_of(numbers);
    set.insert(node_id{5000});
    set.erase(node_id{5000});
    EXPECT_EQ(set, set_of(numbers));
    EXPECT_EQ(set.words().size(), set_of(numbers).words().size());
    for (const int number : numbers) {
      set.erase(node_id{number});
    }
    EXPECT_TRUE(set.empty());
    EXPECT_EQ(set, node_set{});
  }
}

TEST(IdSet, HoldsTheNodesAroundWordEdges) {
  for (const int number : {0, 7, 63, 64, 127, 128, 255, 1000, max_id}) {
    const node_set set{node_id{number}};
    EXPECT_EQ(set.size(), 1U);
    EXPECT_EQ(to_int(set.first()), number);
    EXPECT_EQ(set.highest(), number);
    EXPECT_EQ(set.to_string(), std::to_string(number));
    EXPECT_EQ(set.words().size(), static_cast<std::size_t>(number) / node_set::word_bits + 1);
    EXPECT_FALSE(set.contains(node_id{number + 1}));
    EXPECT_FALSE(set.contains(unknown_node));
  }
}

TEST(IdSet, RefusesWhatIsNoList) {
  for (const char* const list :
       {"a", "1,", ",1", "1,,2", "3-1", "1-", "-1", "1 2", " 1", "1\n", "0x3", "1048576",
        "4294967296", "99999999999999999999", "1-2-3", "!0"}) {
    EXPECT_THROW((void)node_set::parse(list), error) << list;
  }
}

} // namespace

} // namespace nodewise::test
