// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A program with operators new and delete of its own, the simplest two: the library's other ones
// call them. Each block has a header, so whoever frees one another way is found out.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "check.h"

namespace {

struct header {
  std::size_t bytes;
  std::uint64_t magic;
};
constexpr std::uint64_t alive = 0x616c697665616c69;
std::size_t live_bytes = 0;
std::size_t blocks = 0;

struct with_destructor {
  std::vector<int> values = std::vector<int>(100, 7);
};

void use(std::size_t count) {
  auto* const one = new with_destructor;
  auto* const many = new with_destructor[count];
  auto* const unthrown = new (std::nothrow) int[count];
  unthrown[count - 1] = 7;
  CHECK(one->values[3] + many[count - 1].values[99] + unthrown[count - 1] == 21);
  std::vector<std::string> texts(count, std::string(300, 'x'));
  texts.resize(texts.size() * 3);
  delete one;
  delete[] many;
  ::operator delete[](unthrown, std::nothrow);
}

} // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  auto* const made = static_cast<header*>(std::malloc(bytes + sizeof(header)));
  if (made == nullptr) {
    throw std::bad_alloc();
  }
  *made = {bytes, alive};
  live_bytes += bytes;
  ++blocks;
  return made + 1;
}

[[gnu::noinline]] void operator delete(void* start) noexcept {
  if (start != nullptr) {
    header* const of = static_cast<header*>(start) - 1;
    CHECK(of->magic == alive);
    of->magic = 0;
    live_bytes -= of->bytes;
    std::free(of);
  }
}

int main() {
  for (const std::size_t count : {std::size_t{3}, std::size_t{1000}, std::size_t{60000}}) {
    use(count);
    std::printf("%zu blocks, %zu bytes left\n", blocks, live_bytes);
  }
  return 0;
}
