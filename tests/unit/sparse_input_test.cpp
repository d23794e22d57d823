// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/sparse_input.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "recorded_machines.hpp"
#include "unit/simulated_teams.hpp"
#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

constexpr std::array every_placement = {input_placement::blocked, input_placement::interleaved,
                                        input_placement::copied};

/// A square matrix with `entries` entries in each row, in the columns that `column(row, k)` gives.
template <class Teams, class Column>
auto square(Teams& teams, std::size_t rows, std::size_t entries, Column&& column) {
  return sparse_matrix<double>::from_rows(
      teams, rows, rows, [=](std::size_t) { return entries; },
      [&](std::size_t row, auto columns, auto values) {
        for (std::size_t k = 0; k < entries; ++k) {
          columns[k] = static_cast<std::int32_t>(column(row, k));
          values[k] = 1;
        }
      });
}

template <class Teams>
auto random_square(Teams& teams, std::size_t rows, std::size_t entries) {
  std::mt19937 random(5);
  return square(teams, rows, entries, [&](std::size_t, std::size_t) { return random() % rows; });
}

template <class Teams>
auto banded_square(Teams& teams, std::size_t rows, std::size_t entries) {
  return square(teams, rows, entries,
                [=](std::size_t row, std::size_t k) { return std::min(row + k, rows - 1); });
}

/// Bytes of the lines that the workers of each node read, by the node that has the line.
using bytes_by_nodes = std::map<std::pair<node_id, node_id>, std::size_t>;

template <class Teams, class Matrix, class Owner>
bytes_by_nodes reads_line_by_line(Teams& teams, const Matrix& a, Owner&& owner_of_line) {
  bytes_by_nodes found;
  for (const worker& me : teams.threads().workers()) {
    const index_range rows = a.partition().rows_of(me.number);
    std::set<std::size_t> lines;
    for (std::size_t row = rows.first; row < rows.last; ++row) {
      for (const auto column : a.row(row).columns) {
        lines.insert(static_cast<std::size_t>(column) / 8);
      }
    }
    for (const std::size_t line : lines) {
      found[{me.node, owner_of_line(me, line)}] += 64;
    }
  }
  return found;
}

void expect_reads(const input_cost& cost, const bytes_by_nodes& expected) {
  std::size_t own = 0;
  std::size_t other = 0;
  for (const input_reads& each : cost.reads) {
    std::size_t near = 0;
    std::size_t far = 0;
    for (const auto& [nodes, bytes] : expected) {
      (nodes.second == each.node ? near : far) += nodes.first == each.node ? bytes : 0;
    }
    EXPECT_EQ(each.own_bytes, near) << to_string(cost.placement);
    EXPECT_EQ(each.other_bytes, far) << to_string(cost.placement);
    own += near;
    other += far;
  }
  EXPECT_DOUBLE_EQ(cost.remote_share(),
                   static_cast<double>(other) / static_cast<double>(own + other));
}

template <class Teams, class Matrix>
void expect_counted(Teams& teams, const Matrix& a) {
  const input_choice choice = choose_input(teams, a);
  const auto& all = teams.threads().teams();
  expect_reads(choice.of(input_placement::blocked),
               reads_line_by_line(teams, a, [&](const worker&, std::size_t line) {
                 return a.partition().owner_of_column(line * 8, a.columns());
               }));
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  expect_reads(choice.of(input_placement::interleaved),
               reads_line_by_line(teams, a, [&](const worker&, std::size_t line) {
                 return all[line * 64 / page % all.size()].node;
               }));
  expect_reads(choice.of(input_placement::copied),
               reads_line_by_line(teams, a, [](const worker& me, std::size_t) { return me.node; }));
  const std::size_t bytes = a.columns() * sizeof(double);
  EXPECT_EQ(choice.of(input_placement::blocked).memory_bytes, bytes);
  EXPECT_EQ(choice.of(input_placement::copied).memory_bytes, bytes * all.size());
  EXPECT_EQ(choice.of(input_placement::blocked).update_bytes, 0U);
  EXPECT_EQ(choice.of(input_placement::copied).update_bytes, bytes * (all.size() - 1));
}

class SparseInputOn : public testing::TestWithParam<recorded_machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, SparseInputOn, testing::ValuesIn(recorded_machines()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

TEST_P(SparseInputOn, ReadsAreThoseOfCountingLineByLine) {
  simulated_teams teams(GetParam().load());
  expect_counted(teams, banded_square(teams, 6000, 9));
  expect_counted(teams, random_square(teams, 6001, 4));
  const auto plain = random_matrix<double, std::int32_t, std::int64_t>(500, 3001, 12, 2);
  expect_counted(teams, copy_of(teams, plain)); // with rows that are full or empty
}

TEST_P(SparseInputOn, TheBestIsFastestOfThoseThatMayBeChosen) {
  simulated_teams teams(GetParam().load());
  const auto banded = banded_square(teams, 6000, 9);
  const auto anywhere = random_square(teams, 6000, 30);
  const std::size_t nodes = teams.threads().teams().size();
  for (const double products : {0.01, 1.0, 1e9}) {
    for (const auto* a : {&banded, &anywhere}) {
      const input_choice choice = choose_input(teams, *a, products);
      EXPECT_EQ(choice.of(input_placement::blocked).time, 1.0);
      const bool has_room = (nodes - 1) * a->columns() * 8 <= a->entries() * 12 + a->rows() * 8;
      for (const input_placement how : every_placement) {
        EXPECT_EQ(choice.of(how).placement, how);
        if (how != input_placement::copied || has_room) {
          EXPECT_LE(choice.of(choice.best).time, 1.02 * choice.of(how).time);
        }
      }
      EXPECT_TRUE(choice.best != input_placement::copied || has_room);
      EXPECT_EQ(choice.reason.empty(), false);
    }
  }
  EXPECT_EQ(choose_input(teams, banded).best, input_placement::blocked);
}

TEST(SparseInput, CopiesPayIfEntriesAreAnywhereAndUpdatesAreRare) {
  auto teams = teams_of("4x2");
  const auto a = random_square(teams, 20000, 20);
  const input_choice often = choose_input(teams, a, 100);
  EXPECT_EQ(often.best, input_placement::copied);
  EXPECT_LT(often.of(input_placement::copied).time, 1);
  EXPECT_NEAR(often.of(input_placement::blocked).remote_share(), 0.75, 0.02);
  EXPECT_NEAR(often.of(input_placement::interleaved).remote_share(), 0.75, 0.02);
  EXPECT_EQ(often.of(input_placement::copied).remote_share(), 0);
  EXPECT_EQ(choose_input(teams, a, 0.01).best, input_placement::blocked);
}

TEST(SparseInput, CopiesLargerThanTheMatrixAreNotMade) {
  auto teams = teams_of("8x2");
  const auto a = random_square(teams, 20000, 2); // 32 bytes a row; 7 further copies are 56
  const input_choice choice = choose_input(teams, a, 1000);
  EXPECT_LT(choice.of(input_placement::copied).time, choice.of(choice.best).time);
  EXPECT_NE(choice.best, input_placement::copied);
  EXPECT_NE(choice.reason.find("more memory than the matrix"), std::string::npos);
}

TEST(SparseInput, PagesInTurnPayIfAllRowsReadTheElementsOfOneNode) {
  auto teams = teams_of("8x2");
  std::mt19937 random(5);
  const std::size_t rows = 100'000;
  const auto a = square(teams, rows, 2, [&](std::size_t, std::size_t) { return random() % 8192; });
  const input_choice choice = choose_input(teams, a);
  EXPECT_EQ(choice.best, input_placement::interleaved);
  EXPECT_NE(choice.reason.find("on few nodes"), std::string::npos);
}

TEST(SparseInput, LinesBeyondTheCacheAreReadAgain) {
  auto teams = teams_of("1x1"); // without caches: 1 MiB is assumed
  const std::size_t rows = 20'000;
  const std::size_t entries = 8;
  const std::size_t cached = (std::size_t{1} << 20) / sizeof(double);
  const auto bytes_read = [&](std::size_t columns, auto column) {
    const auto a = sparse_matrix<double>::from_rows(
        teams, rows, columns, [=](std::size_t) { return entries; },
        [&](std::size_t row, auto to, auto) {
          for (std::size_t k = 0; k < entries; ++k) {
            to[k] = static_cast<std::int32_t>(column(row, k));
          }
        });
    return choose_input(teams, a).of(input_placement::blocked).reads.front().own_bytes;
  };
  std::mt19937 random(5);
  const auto anywhere = [&](std::size_t columns) {
    return static_cast<double>(
               bytes_read(columns, [&](auto, auto) { return random() % columns; })) /
           static_cast<double>(64 * rows * entries);
  };
  // Of 4 times the cache a quarter is in it.
  EXPECT_NEAR(anywhere(4 * cached), 0.75 + 0.25 * 0.1, 0.05);
  EXPECT_LT(anywhere(cached / 2), 0.06); // each line once
  // Columns at strides of powers of two, as the planes of a grid have, do not displace each other.
  EXPECT_EQ(
      bytes_read(8 * cached, [&](std::size_t row, std::size_t k) { return row % 8 + k * cached; }),
      64 * entries);
}

TEST(SparseInput, WhatIsAssumedOfCoresIsSaidOnce) {
  auto teams = teams_of("2x2");
  const input_choice choice = choose_input(teams, random_square(teams, 100, 3));
  EXPECT_EQ(std::ranges::count_if(
                choice.unknown,
                [](const std::string& each) { return each.find("core") != std::string::npos; }),
            1);
}

TEST(SparseInput, OneNodeNeedsNoChoice) {
  auto teams = teams_of("1x4");
  const input_choice choice = choose_input(teams, random_square(teams, 5000, 8));
  EXPECT_EQ(choice.best, input_placement::blocked);
  EXPECT_EQ(choice.reason, "all workers are on one node");
  for (const input_cost& each : choice.costs) {
    EXPECT_NEAR(each.time, 1, 1e-9);
    EXPECT_EQ(each.remote_share(), 0);
  }
}

TEST(SparseInput, AMatrixMayHaveNoEntries) {
  auto teams = teams_of("4x2");
  const auto none = sparse_matrix<double>::from_triplets(teams, 5, 3, {});
  const input_choice choice = choose_input(teams, none);
  EXPECT_EQ(choice.best, input_placement::blocked);
  EXPECT_EQ(choice.of(input_placement::blocked).remote_share(), 0);
}

TEST(SparseInput, EachPlacementGivesThePlainProduct) {
  for (const char* machine : {"1x1", "2x2", "4x2", "8x4"}) {
    auto teams = teams_of(machine);
    for (const matrix_shape& shape : shapes) {
      const auto plain = random_matrix<double, std::int32_t, std::int64_t>(
          shape.rows, shape.columns, shape.mean, 2);
      const auto x = random_vector<double>(shape.columns, 3);
      const auto before = random_vector<double>(shape.rows, 4);
      const auto a = copy_of(teams, plain);
      const auto sell = sell_matrix<double>::from(teams, a);
      for (const input_placement how : every_placement) {
        placed_input<double> placed(teams, a, how);
        ASSERT_EQ(placed.size(), shape.columns);
        placed.update(teams, [&](std::size_t first, std::span<double> part) {
          std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(first), part.size(), part.begin());
        });
        std::vector<double> y(shape.rows, std::numeric_limits<double>::quiet_NaN());
        multiply(teams, a, placed, y);
        ASSERT_EQ(y, plain_product(plain, x)) << machine << ' ' << to_string(how);
        y = before;
        multiply_add(teams, -3, a, placed, y);
        ASSERT_EQ(y, plain_product(plain, x, before, -3.0)) << machine << ' ' << to_string(how);
        std::vector<double> by_chunks(shape.rows);
        placed_input<double> chunked(teams, sell, how);
        chunked.update(teams, [&](std::size_t first, std::span<double> part) {
          std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(first), part.size(), part.begin());
        });
        multiply(teams, sell, chunked, by_chunks);
        ASSERT_EQ(by_chunks, plain_product(plain, x)) << machine << ' ' << to_string(how);
      }
    }
  }
}

TEST(SparseInput, AnUpdateReachesEachElementOnceAndAllCopies) {
  auto teams = teams_of("4x2");
  const auto a = random_square(teams, 3001, 5);
  for (const input_placement how : every_placement) {
    placed_input<double> x(teams, a, how);
    std::vector<int> times(x.size());
    for (int round = 1; round <= 2; ++round) {
      x.update(teams, [&](std::size_t first, std::span<double> part) {
        for (std::size_t k = 0; k < part.size(); ++k) {
          ++times[first + k];
          part[k] += static_cast<double>(first + k);
        }
      });
    }
    EXPECT_TRUE(std::ranges::all_of(times, [](int each) { return each == 2; }));
    const auto right = [](std::span<const double> elements) {
      for (std::size_t k = 0; k < elements.size(); ++k) {
        if (elements[k] != 2.0 * static_cast<double>(k)) {
          return false;
        }
      }
      return true;
    };
    x.visit([&](const auto& memory) {
      if constexpr (requires { memory.copies(); }) {
        for (std::size_t team = 0; team < memory.copies(); ++team) {
          EXPECT_TRUE(right(memory.copy(team))) << team;
        }
      } else {
        EXPECT_TRUE(right({memory.data(), memory.size()})) << to_string(how);
      }
    });
    EXPECT_FALSE(x.strip().empty());
  }
}

TEST(SparseInputErrors, NameOtherTeamsAndCountsOutOfRange) {
  auto teams = teams_of("2x2");
  auto others = teams_of("4x1");
  const auto a = random_square(teams, 100, 3);
  EXPECT_THROW((void)choose_input(others, a), error);
  EXPECT_THROW(placed_input<double>(others, a, input_placement::copied), error);
  placed_input<double> x(teams, a, input_placement::blocked);
  EXPECT_THROW(x.update(others, [](std::size_t, std::span<double>) {}), error);
  for (const double products : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)choose_input(teams, a, products), error);
  }
  using wide = sparse_matrix<double, std::int64_t>;
  const auto too_wide = wide::from_triplets(teams, 4, std::size_t{1} << 62, {});
  EXPECT_THROW((void)choose_input(teams, too_wide), error);
}

} // namespace
} // namespace nodewise::test
