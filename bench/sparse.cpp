// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Products with sparse matrices beside the plain OpenMP loop, Eigen and MKL, in one process. Prints
// one line of JSON for each matrix: the seconds of each party in each round, whose order is random.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <nodewise/openmp.hpp>
#include <nodewise/sparse.hpp>

#include "sparse_peer.hpp"

namespace {

using nodewise::bench::crs;

void end_row(crs& a) {
  a.starts.push_back(static_cast<int>(a.columns.size()));
}

/// The neighbours of each point of a grid, at most one step away in each axis.
crs stencil(int edge, int dimensions) {
  crs made;
  const int points = dimensions == 2 ? edge * edge : edge * edge * edge;
  const int far = dimensions == 2 ? 0 : 1;
  for (int point = 0; point < points; ++point) {
    const int x = point % edge;
    const int y = point / edge % edge;
    const int z = point / (edge * edge);
    const auto inside = [&](int at) { return at >= 0 && at < edge; };
    for (int c = -far; c <= far; ++c) {
      for (int b = -1; b <= 1; ++b) {
        for (int a = -1; a <= 1; ++a) {
          if (inside(x + a) && inside(y + b) && (far == 0 || inside(z + c))) {
            made.columns.push_back(point + a + edge * (b + edge * c));
            made.values.push_back(1.0);
          }
        }
      }
    }
    end_row(made);
  }
  return made;
}

/// `length(row)` entries at random columns within `band` of the diagonal; all columns where the
/// length is that of a full row.
crs random_rows(int rows, int band, const std::function<int(int)>& length) {
  std::mt19937 random(1);
  crs made;
  for (int row = 0; row < rows; ++row) {
    const auto entries = static_cast<std::ptrdiff_t>(length(row));
    if (entries == rows) {
      made.columns.resize(made.columns.size() + static_cast<std::size_t>(rows));
      std::iota(made.columns.end() - rows, made.columns.end(), 0);
      made.values.resize(made.columns.size(), 1.0);
      end_row(made);
      continue;
    }
    const int first = std::clamp(row - band / 2, 0, rows - band);
    for (std::ptrdiff_t k = 0; k < entries; ++k) {
      made.columns.push_back(first + static_cast<int>(random() % static_cast<unsigned>(band)));
      made.values.push_back(1.0);
    }
    std::sort(made.columns.end() - entries, made.columns.end());
    end_row(made);
  }
  return made;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct party {
  std::string name;
  std::function<void()> product;
  std::vector<double> times;
};

void race(std::vector<party>& parties, std::size_t entries, int rounds) {
  std::mt19937 random(2);
  const auto repetitions = std::max<std::size_t>(20'000'000 / entries, 1);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(parties.begin(), parties.end(), random);
    for (party& each : parties) {
      each.product(); // its matrix comes into the cache, as far as it fits
      const double begin = seconds();
      for (std::size_t k = 0; k < repetitions; ++k) {
        each.product();
      }
      each.times.push_back((seconds() - begin) / static_cast<double>(repetitions));
    }
  }
}

/// In eight chains, so that additions do not wait for each other, and asked for ahead: 0.5 to 0.9
/// of the time of the loop alone.
double sum_of(std::span<const double> numbers) {
  double sums[8] = {};
  for (std::size_t k = 0; k + 8 <= numbers.size(); k += 8) {
    __builtin_prefetch(numbers.data() + k + 1024);
    for (std::size_t lane = 0; lane < 8; ++lane) {
      sums[lane] += numbers[k + lane];
    }
  }
  return std::accumulate(sums, sums + 8, 0.0);
}

void measure(nodewise::openmp_teams& teams, const std::string& name, const crs& plain, int rounds) {
  const std::size_t rows = plain.rows();
  const auto a = nodewise::sparse_matrix<double, int, int>::copy(teams, rows, plain.starts,
                                                                 plain.columns, plain.values);
  const auto sell = nodewise::sell_matrix<double>::from(teams, a);
  const std::vector<double> plain_x(rows, 1.0);
  std::vector<double> plain_y(rows);
  auto x = a.input_vector();
  auto y = a.output_vector();
  teams.fill(x, 1.0);
  std::vector<nodewise::cache_aligned<double>> sums(a.partition().workers());
  std::vector<party> parties{
      {"openmp",
       [&] { nodewise::bench::plain_product(plain, plain_x.data(), plain_y.data()); },
       {}},
      {"crs", [&] { nodewise::multiply(teams, a, x, y); }, {}},
      {"sell", [&] { nodewise::multiply(teams, sell, x, y); }, {}},
      {"read", // what the memory gives: the bytes of the values, read by their owners
       [&] {
         teams.on_each_worker([&](const nodewise::worker& me) {
           const auto mine = nodewise::arithmetic::blocked(me.number, plain.values.size(),
                                                           a.partition().workers());
           sums[me.number].value = sum_of(a.values().subspan(mine.first, mine.size()));
         });
       },
       {}}};
#ifdef NODEWISE_WITH_EIGEN
  parties.push_back({"eigen",
                     [&] { nodewise::bench::eigen_product(plain, plain_x.data(), plain_y.data()); },
                     {}});
#endif
  if (const char* const library = std::getenv("NODEWISE_BENCH_MKL"); library != nullptr) {
    if (auto product = nodewise::bench::mkl_product(plain, library)) {
      parties.push_back({"mkl", [&, product] { product(plain_x.data(), plain_y.data()); }, {}});
    }
  }
  race(parties, plain.values.size(), rounds);
  std::printf("{\"matrix\": \"%s\", \"rows\": %zu, \"entries\": %zu, \"occupancy\": %.3f, \"s\": {",
              name.c_str(), rows, plain.values.size(), sell.occupancy());
  for (const party& each : parties) {
    std::printf("%s\"%s\": [", &each == parties.data() ? "" : ", ", each.name.c_str());
    for (std::size_t k = 0; k < each.times.size(); ++k) {
      std::printf("%s%.3e", k == 0 ? "" : ", ", each.times[k]);
    }
    std::printf("]");
  }
  std::printf("}}\n");
}

} // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::max(std::atoi(words[1]), 1) : 15;
  nodewise::openmp_teams teams;
  const auto bound = teams.runtime().keep_bound();
  measure(teams, "2-D stencil, 9 points", stencil(1000, 2), rounds);
  measure(teams, "3-D stencil, 27 points", stencil(70, 3), rounds);
  measure(teams, "16 entries a row in a band", random_rows(500'000, 1000, [](int) { return 16; }),
          rounds);
  measure(teams, "3 entries a row in a band", random_rows(2'500'000, 40, [](int) { return 3; }),
          rounds);
  measure(teams, "16 entries a row anywhere", random_rows(500'000, 500'000, [](int) { return 16; }),
          rounds);
  measure(teams, "4 entries a row anywhere",
          random_rows(4'000'000, 4'000'000, [](int) { return 4; }), rounds);
  measure(teams, "power law",
          random_rows(400'000, 100'000,
                      [random = std::mt19937(3)](int) mutable {
                        const double u = static_cast<double>(random() % 100'000 + 1) / 1e5;
                        return static_cast<int>(std::min(2 / u, 20'000.0));
                      }),
          rounds);
  measure(teams, "8 entries a row in a band, 5 full rows",
          random_rows(400'000, 1000, [](int row) { return row % 80'000 == 40'000 ? 400'000 : 8; }),
          rounds);
  measure(teams, "every second row empty",
          random_rows(500'000, 1000, [](int row) { return row % 2 == 0 ? 24 : 0; }), rounds);
  measure(teams, "2-D stencil in the cache", stencil(100, 2), rounds);
}
