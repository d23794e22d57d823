// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plug-in in C++ for programs in C: it brings the C++ library along.
#include <cstddef>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "check.h"

namespace {

struct alignas(256) wide {
  unsigned char bytes[1024];
};

/// Whether the library's own operator has the last word where there is no memory.
bool throws_when_there_is_none() {
  try {
    volatile std::size_t too_many = PTRDIFF_MAX;
    delete[] static_cast<char*>(seen(new char[too_many]));
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

} // namespace

extern "C" __attribute__((visibility("default"))) unsigned plugin_work(unsigned seed) {
  std::map<std::string, std::vector<unsigned>> lists;
  for (unsigned i = 0; i < 300; ++i) {
    lists[std::to_string(i * seed % 211)].assign(std::size_t{i} * 40 + 1, i);
  }
  auto* const array = new std::string[20000];
  array[19999] = std::string(3000000, 'y');
  auto* const aligned = new wide[300];
  CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
  unsigned sum = static_cast<unsigned>(array[19999].size());
  for (const auto& [name, values] : lists) {
    sum = sum * 31 + values.back() + static_cast<unsigned>(values.size() + name.size());
  }
  delete[] array;
  delete[] aligned;
  delete static_cast<int*>(seen(new (std::nothrow) int(3)));
  CHECK(throws_when_there_is_none());
  return sum;
}
