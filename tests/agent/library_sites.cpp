// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Memory of the library, each piece from a line of its own, compiled without optimisation. Prints
// the line and the address of each.
#include <cstddef>
#include <cstdio>

#include <nodewise.h>
#include <nodewise/array.hpp>
#include <nodewise/distribution.hpp>
#include <nodewise/region.hpp>

namespace {

constexpr std::size_t bytes = std::size_t{2} << 20;

void print(int line, const void* start) {
  std::printf("%d %p\n", line, start);
}

} // namespace

int main() {
  const nodewise::blocked on_first({nodewise::node_id{0}});

  const nodewise::array<double> first(bytes / sizeof(double), on_first);
  print(__LINE__ - 1, first.data());

  const nodewise::array<double> second(bytes / sizeof(double), on_first);
  print(__LINE__ - 1, second.data());

  const nodewise::region third(bytes, on_first);
  print(__LINE__ - 1, third.data());

  const int nodes[] = {0};
  nodewise_distribution* by = nullptr;
  nodewise_region* fourth = nullptr;
  if (nodewise_blocked(&by, nodes, 1) != 0 ||
      nodewise_region_make(&fourth, bytes, by, NODEWISE_PREFER) != 0) {
    return 1;
  }
  print(__LINE__ - 3, nodewise_region_data(fourth));
  nodewise_region_free(fourth);
  nodewise_distribution_free(by);
}
