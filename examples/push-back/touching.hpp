// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An allocator that touches what it gives in parallel, by the schedule of the loops that will use
// it. It knows the capacity that is asked for, not how much of it will be used.
#ifndef NODEWISE_EXAMPLES_TOUCHING_HPP
#define NODEWISE_EXAMPLES_TOUCHING_HPP

#include <cstddef>
#include <new>

#include "../shared/command_line.h"

template <typename T>
struct touching {
  using value_type = T;

  touching() = default;
  template <typename U>
  explicit touching(const touching<U>& /*other*/) {}

  T* allocate(std::size_t n) {
    auto* memory =
        static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{page_bytes})); // made
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) {
      memory[i] = T(); // touch
    }
    return memory;
  }
  void deallocate(T* memory, std::size_t /*n*/) {
    ::operator delete(memory, std::align_val_t{page_bytes});
  }

  bool operator==(const touching& /*other*/) const { return true; }
};

#endif
