// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Programs whose call chains are told, each with a way of its own to touch memory.
#pragma once

#include <string_view>

namespace nodewise::test {

inline constexpr std::string_view plain = "-O2 -g -fomit-frame-pointer";

inline constexpr std::string_view cpp_program = R"(#include <cstdlib>
#include <memory>
#include <new>
#include <vector>
extern "C" void* untouched(std::size_t bytes);
void* operator new(std::size_t n) { return n < 16384 ? std::malloc(n) : untouched((n + 4095) / 4096 * 4096); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
struct cell { double value; double next; cell() : value(1), next(2) {} };
struct grid {
  std::vector<double> field;
  std::vector<cell> cells;
  grid(std::size_t n)
    : field(n, 1.0),
      cells(n) {}
};
__attribute__((noinline)) void fill(double* raw, std::size_t n) {
  std::uninitialized_fill(raw, raw + n, 2.0);
}
int main() {
  grid* const g = new grid(4096);
  fill(static_cast<double*>(::operator new(32768)), 4096);
  return g->cells.size() == 4096 ? 0 : 1;
}
)";

inline constexpr std::string_view openmp_program = R"(#include <stddef.h>
#include <string.h>
void* untouched(size_t bytes);
__attribute__((noinline)) void init(char* into, int n) {
#pragma omp parallel for schedule(static) num_threads(4)
  for (int i = 0; i < n; ++i)
    memset(into + 4096L * i, 1, 4096);
}
int main(void) {
  init(untouched(1 << 18), 64);
  return 0;
}
)";

inline constexpr std::string_view fortran_program = R"(module grid
  use iso_c_binding
  implicit none
  interface
    type(c_ptr) function untouched(bytes) bind(c)
      import
      integer(c_size_t), value :: bytes
    end function
  end interface
contains
  subroutine init(field)
    real(c_double), intent(inout) :: field(:, :)
    field = 1.0d0
  end subroutine
end module
program solve
  use grid
  real(c_double), pointer :: field(:, :)
  call c_f_pointer(untouched(2097152_c_size_t), field, [512, 512])
  call init(field(1:511, :))
end program
)";

/// A handler of a signal, and machine code that no file has.
inline constexpr std::string_view odd_program = R"(#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
void* untouched(size_t bytes);
void step_begin(void);
void step_end(void);
static volatile char* page;
__attribute__((noinline)) void touch(void) { page[0] = 1; __asm__ volatile(""); }
static void handler(int signal) { (void)signal; touch(); __asm__ volatile(""); }
int main(void) {
  page = untouched(4096);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  page = untouched(4096);
  static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
  void* const made = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(made, code, sizeof code);
  mprotect(made, 4096, PROT_READ | PROT_EXEC);
  ((void (*)(void (*)(void)))made)(touch);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  step_begin();
  clock_gettime(CLOCK_MONOTONIC, &now);
  step_end();
  return 0;
}
)";

/// Leaves by every way a C program has: own loop, library function, library that calls back.
inline constexpr std::string_view c_program = R"(#include <stdlib.h>
#include <string.h>
void* untouched(size_t bytes);
void step_begin(void);
void step_end(void);
static int by_value(const void* a, const void* b) {
  return *(const int*)a < *(const int*)b ? -1 : *(const int*)a > *(const int*)b;
}
__attribute__((noinline)) void own_loop(volatile double* into, int n) {
  for (int i = 0; i < n; ++i) into[i] = i;
}
__attribute__((noinline)) void by_library(char* into, size_t bytes) {
  memset(into, 1, bytes);
  memcpy(into + bytes, into, bytes);
  __asm__ volatile("");  // or else it is a jump, and this function gone by then
}
__attribute__((noinline)) int recursive(int n, char* into) {
  char local[64];
  memset(local, n, sizeof local);
  const int below = n > 0 ? recursive(n - 1, into) : (own_loop((double*)into, 512), 0);
  return below + local[n & 63];
}
int main(int argc, char** argv) {
  (void)argv;
  own_loop(untouched(1 << 14), 2048);
  by_library(untouched(1 << 15), (size_t)argc << 14);
  recursive(10, untouched(1 << 12));
  int numbers[12];
  step_begin();
  for (int i = 0; i < 12; ++i) numbers[i] = rand();
  qsort(numbers, 12, sizeof *numbers, by_value);
  recursive(3, (char*)malloc(1 << 13));
  free(strdup("first call: through the linker"));
  step_end();
  return 0;
}
)";

} // namespace nodewise::test
