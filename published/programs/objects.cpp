// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Hager and Wellein, problem 8.5: who places the pages of an array of objects, if `operator new[]`
// touches them in a parallel loop? `by-object`: the loop has an iteration an object, as the loop
// that works on them, so chunk k goes to the same thread both times. `by-byte`: the loop has an
// iteration a byte, and a chunk of the same schedule is a few bytes. Region `loop`. The first sweep
// is not in it: it fills the caches as those before fill them later.
//
// usage: objects by-object|by-byte [MiB] [sweeps] [objects a chunk]
#include <cstddef>
#include <cstdlib>
#include <new>
#include <omp.h>
#include <string_view>

#include "measured.h"

namespace {

constexpr std::size_t object_bytes = 1024;

// Its constructor writes nothing: the pages lie where operator new[] touched them.
struct object {
  double values[object_bytes / sizeof(double)];

  object() {} // NOLINT(*-member-init)
  static void* operator new[](std::size_t bytes);
  static void operator delete[](void* memory) { std::free(memory); }
};

bool by_byte = false; // of operator new[], which has no other arguments

void touch_objects(char* memory, std::size_t bytes) {
#pragma omp parallel for schedule(runtime)
  for (std::size_t at = 0; at < bytes; at += sizeof(object)) {
    for (std::size_t j = 0; j < sizeof(object); ++j) {
      memory[at + j] = 0;
    }
  }
}

void touch_bytes(char* memory, std::size_t bytes) {
#pragma omp parallel for schedule(runtime)
  for (std::size_t at = 0; at < bytes; ++at) {
    memory[at] = 0;
  }
}

void* object::operator new[](std::size_t bytes) {
  auto* const memory = static_cast<char*>(std::aligned_alloc(page_bytes, bytes));
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  (by_byte ? touch_bytes : touch_objects)(memory, bytes);
  return memory;
}

void sweep(object* objects, std::size_t n) {
#pragma omp parallel for schedule(runtime)
  for (std::size_t i = 0; i < n; ++i) {
    for (double& value : objects[i].values) {
      value += 1.0;
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"objects", "by-object|by-byte [MiB] [sweeps] [objects a chunk]", argc,
                             argv};
  const std::string_view form = text_at(&line, 1, "");
  by_byte = form == "by-byte";
  if (!by_byte && form != "by-object") {
    refuse(&line, form.data(), "by-object or by-byte");
  }
  const std::size_t bytes = bytes_at(&line, 2, 16);
  const int sweeps = sweeps_at(&line, 3);
  omp_set_schedule(omp_sched_static, static_cast<int>(number_at(&line, 4, 16, 1L << 20)));
  end_at(&line, 4);
  const std::size_t n = bytes / sizeof(object);
  auto* const objects = new object[n];
  sweep(objects, n);
  NODEWISE_MARKER_START("loop");
  for (int s = 0; s < sweeps; ++s) {
    sweep(objects, n);
  }
  NODEWISE_MARKER_STOP("loop");
  say_bytes("loop", 2 * bytes * static_cast<std::size_t>(sweeps));
  printf("values: %g to %g\n", objects[0].values[0], objects[n - 1].values[0]);
  delete[] objects;
}
