// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// vector, cured: an allocator whose elements begin without a value. The constructor then writes
// nothing, and the threads that use the elements write them first, by the same schedule.
//
// Remote share of the use phase: 0.
// Source: Hager and Wellein, section 8.4.2. There the allocator touches the pages itself, in
// parallel; here the program does, with the schedule of its own loops.
//
// usage: vector-cured [MiB] [sweeps]
#include <cstddef>
#include <memory>
#include <new>
#include <omp.h>
#include <utility>
#include <vector>

#include "../shared/command_line.h"
#include "../shared/no_memory.hpp"
#include "../shared/result.h"

// As std::allocator, but an element that is given no value gets none. Pages have one owner, since
// memory begins with a page.
template <typename T>
struct untouched {
  using value_type = T;

  untouched() = default;
  template <typename U>
  explicit untouched(const untouched<U>& /*other*/) {}

  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{page_bytes}));
  }
  void deallocate(T* memory, std::size_t /*n*/) {
    ::operator delete(memory, std::align_val_t{page_bytes});
  }

  template <typename U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U; // not U(), which would write a zero
  }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    std::construct_at(place, std::forward<Arguments>(arguments)...);
  }

  bool operator==(const untouched& /*other*/) const { return true; }
};

int main(int argc, char** argv) {
  const command_line line = {"vector-cured", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / sizeof(double);
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_no_memory("vector-cured: no memory; ask for fewer MiB\n");

  std::vector<double, untouched<double>> v(n); // writes nothing
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    v[i] = 0.0;
  }

  double sum = 0;
  const double start = omp_get_wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) {
      v[i] += static_cast<double>(i % 4);
      sum += v[i];
    }
  }
  print_result(&line, sum, sweeps, omp_get_wtime() - start);
}
