// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays of the library, which places them itself: one that is given back, one that stays, and
// one that is too small to be reported.
#include <cstddef>
#include <cstdio>

#include <nodewise/array.hpp>
#include <nodewise/distribution.hpp>

namespace {

using doubles = nodewise::array<double, nodewise::blocked>;

doubles of_mebibytes(std::size_t mebibytes) {
  return {(mebibytes << 20) / sizeof(double), nodewise::blocked({nodewise::node_id{0}})};
}

} // namespace

int main() {
  static const doubles& kept = *new doubles(of_mebibytes(3)); // also at the end
  {
    const doubles gone = of_mebibytes(2);
    const doubles small(8, nodewise::blocked({nodewise::node_id{0}}));
    std::printf("%p %p\n", static_cast<const void*>(kept.data()),
                static_cast<const void*>(gone.data()));
  }
}
