// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plug-in in C++ whose last deletes are calls in tail position: they return into the C library,
// which knows no operator.
#include <cstddef>
#include <new>

namespace {

struct alignas(64) line {
  unsigned char bytes[64];
};

struct sized {
  void* block = ::operator new(24);
  ~sized() { ::operator delete(block, std::size_t{24}); }
};
struct plain {
  void* block = ::operator new(3 << 20);
  ~plain() { ::operator delete(block); }
};
struct array {
  void* block = ::operator new[](100);
  ~array() { ::operator delete[](block, std::size_t{100}); }
};
struct aligned {
  void* block = ::operator new(sizeof(line), std::align_val_t{64});
  ~aligned() { ::operator delete(block, sizeof(line), std::align_val_t{64}); }
};

sized first;
plain second;
array third;
aligned fourth;

} // namespace
