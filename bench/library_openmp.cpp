// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Loops of openmp_teams beside the same loops written with OpenMP alone. The loops by hand find
// their threads bound to the same processors.
#include <array>
#include <functional>

#include <omp.h>

#include <nodewise/openmp.hpp>

#include "library.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

constexpr std::size_t page = base_page / sizeof(double);

int threads(openmp_teams& teams) {
  return static_cast<int>(teams.threads().workers().size());
}

void copy(const pointers& x) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < elements; ++i) {
    x.a[i] = x.b[i];
  }
}

void triad(const pointers& x) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < elements; ++i) {
    x.a[i] = x.b[i] + factor * x.c[i];
  }
}

void vector_triad(const pointers& x) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < elements; ++i) {
    x.a[i] = x.b[i] + x.c[i] * x.d[i];
  }
}

void fill(const pointers& x, std::size_t arrays) {
  const std::array all{x.a, x.b, x.c, x.d};
  for (std::size_t k = 0; k < arrays; ++k) {
    double* const to = all[k];
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < elements; ++i) {
      to[i] = 1;
    }
  }
}

/// A benchmark whose threads are bound before it begins: nothing of that is in a short loop's time.
template <class Loop>
void add_bound(openmp_teams& teams, const std::string& name, Loop loop) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [&teams, loop](benchmark::State& state) {
                                 const auto held = teams.runtime().keep_bound();
                                 teams.on_each_worker([](const worker&) {});
                                 loop();
                                 for (auto _ : state) {
                                   loop();
                                 }
                               })
      ->MeasureProcessCPUTime()
      ->UseRealTime()
      ->MinTime(repetition)
      ->Unit(benchmark::kMicrosecond);
}

void add_large_loops(openmp_teams& teams) {
  constexpr std::array<loop_by_hand, 3> by_hand{copy, triad, vector_triad};
  const auto bound = [&teams](const std::string& name, auto loop) { add_bound(teams, name, loop); };
  add_library_loops(teams, by_hand, bound);
  for (const bases where : {bases::congruent, bases::staggered}) {
    add_loops_by_hand(
        where == bases::congruent ? "plain_congruent" : "plain", by_hand,
        [where] { return std::make_unique<plain_arrays>(where); }, fill, bound);
  }
  add_loops_by_hand(
      "malloc", by_hand, [] { return std::make_unique<malloc_arrays>(); }, fill, bound);
}

double sum(std::span<const double> of) {
  double all = 0;
#pragma omp simd reduction(+ : all)
  for (std::size_t i = 0; i < of.size(); ++i) {
    all += of[i];
  }
  return all;
}

void add_reductions(openmp_teams& teams, array<double>& of) {
  add("reduce/library",
      [&] { benchmark::DoNotOptimize(teams.reduce_owned(of, 0.0, sum, std::plus<>())); });
  add_bound(teams, "reduce/openmp", [data = of.data()] {
    double all = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : all)
    for (std::size_t i = 0; i < elements; ++i) {
      all += data[i];
    }
    benchmark::DoNotOptimize(all);
  });
}

/// Chunks of one page each: next to no work, so that handing them out is what takes time.
void add_chunks(openmp_teams& teams, array<double>& of) {
  add_bound(teams, "chunks/library", [&] {
    teams.for_each_owned(
        of, [](std::span<double> part) { benchmark::DoNotOptimize(part.data()); },
        schedule::local_first(1));
  });
  add_bound(teams, "chunks/openmp", [data = of.data()] {
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t k = 0; k < elements / page; ++k) {
      benchmark::DoNotOptimize(data + k * page);
    }
  });
  add_bound(teams, "chunks/openmp_elements", [data = of.data()] {
#pragma omp parallel for schedule(dynamic, page)
    for (std::size_t i = 0; i < elements; ++i) {
      benchmark::DoNotOptimize(data + i);
    }
  });
  add_bound(teams, "chunks/library_elements", [&] {
    teams.for_each_owned(
        of,
        [](std::span<double> part) {
          for (double& each : part) {
            benchmark::DoNotOptimize(&each);
          }
        },
        schedule::local_first(1));
  });
}

void add_entries(openmp_teams& teams, array<double>& small, array<double, block_cyclic>& cyclic) {
  const auto nothing = [](std::span<double> part) { benchmark::DoNotOptimize(part.data()); };
  add("entry/library", [&, nothing] { teams.for_each_owned(small, nothing); });
  add_bound(teams, "entry/library_held", [&, nothing] { teams.for_each_owned(small, nothing); });
  add_bound(teams, "entry/library_held_cyclic",
            [&, nothing] { teams.for_each_owned(cyclic, nothing); });
  add_bound(teams, "entry/openmp", [&teams] {
#pragma omp parallel num_threads(threads(teams))
    {
      int here = 0;
      benchmark::DoNotOptimize(here);
    }
  });
}

} // namespace

int main(int count, char** words) {
  openmp_teams teams;
  add_large_loops(teams);
  array<double> large(elements, teams.blocked());
  teams.fill(large, 1.0);
  add_reductions(teams, large);
  add_chunks(teams, large);
  array<double> small(2 * base_page / sizeof(double), teams.blocked());
  teams.fill(small, 1.0);
  // A node that is not there is refused, and the extents are as many as asked for all the same.
  const node_id here = teams.threads().teams().front().node;
  array<double, block_cyclic> cyclic(elements,
                                     block_cyclic({here, node_id{to_int(here) + 1000}}, 1));
  add_entries(teams, small, cyclic);
  return run_all(count, words);
}
