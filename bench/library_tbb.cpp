// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Loops of tbb_teams beside the same loops written with oneTBB alone, statically partitioned.
#include <array>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include <nodewise/tbb.hpp>

#include "library.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

using range = tbb::blocked_range<std::size_t>;

template <class Body>
void by_hand(Body body) {
  tbb::parallel_for(range(0, elements), body, tbb::static_partitioner());
}

void copy(const pointers& x) {
  by_hand([x](const range& part) {
    for (std::size_t i = part.begin(); i < part.end(); ++i) {
      x.a[i] = x.b[i];
    }
  });
}

void triad(const pointers& x) {
  by_hand([x](const range& part) {
    for (std::size_t i = part.begin(); i < part.end(); ++i) {
      x.a[i] = x.b[i] + factor * x.c[i];
    }
  });
}

void vector_triad(const pointers& x) {
  by_hand([x](const range& part) {
    for (std::size_t i = part.begin(); i < part.end(); ++i) {
      x.a[i] = x.b[i] + x.c[i] * x.d[i];
    }
  });
}

void fill(const pointers& x, std::size_t arrays) {
  const std::array all{x.a, x.b, x.c, x.d};
  for (std::size_t k = 0; k < arrays; ++k) {
    by_hand([to = all[k]](const range& part) {
      for (std::size_t i = part.begin(); i < part.end(); ++i) {
        to[i] = 1;
      }
    });
  }
}

void add_large_loops(tbb_teams& teams) {
  constexpr std::array<loop_by_hand, 3> loops{copy, triad, vector_triad};
  const auto add_one = [](const std::string& name, auto loop) { add(name, loop); };
  add_library_loops(teams, loops, add_one);
  for (const bases where : {bases::congruent, bases::staggered}) {
    add_loops_by_hand(
        where == bases::congruent ? "plain_congruent" : "plain", loops,
        [where] { return std::make_unique<plain_arrays>(where); }, fill, add_one);
  }
}

void add_entries(tbb_teams& teams, array<double>& small) {
  add("entry/library", [&] {
    teams.for_each_owned(small,
                         [](std::span<double> part) { benchmark::DoNotOptimize(part.data()); });
  });
  add("entry/tbb", [] {
    tbb::parallel_for(0, 2, [](int k) { benchmark::DoNotOptimize(k); }, tbb::static_partitioner());
  });
}

} // namespace

int main(int count, char** words) {
  tbb_teams teams;
  add_large_loops(teams);
  array<double> small(2 * base_page / sizeof(double), teams.blocked());
  teams.fill(small, 1.0);
  add_entries(teams, small);
  return run_all(count, words);
}
