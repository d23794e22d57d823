// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// first-touch with the library, in C: a layout of threads, a distribution with a block for each of
// them, and arrays that have it. One thread fills them as before: the policy beats the touch.
//
// usage: first-touch-library-c [MiB per array] [sweeps]
#include <nodewise.h>

#include "../shared/library.h"
#include "arguments.h"

static void print_strip(const char* name, const nodewise_region* memory) {
  char text[128];
  require(nodewise_strip(memory, 48, text, sizeof text));
  printf("%s  %s\n", name, text);
}

int main(int argc, char** argv) {
  const struct arguments arguments = parse_arguments(argc, argv);
  const size_t n = arguments.elements;

  nodewise_layout* team = NULL;
  nodewise_distribution* by = NULL;
  require(nodewise_layout_make(&team, NODEWISE_CLOSE, 0)); // a thread a core
  require(nodewise_blocked_by_threads(&by, team));
  omp_set_num_threads((int)nodewise_layout_threads(team));
#pragma omp parallel
  require(nodewise_bind_thread(team, (size_t)omp_get_thread_num()));

  nodewise_region* memory[3] = {NULL, NULL, NULL};
  for (int k = 0; k < 3; ++k) {
    require(nodewise_region_make(&memory[k], n * sizeof(float), by, NODEWISE_PREFER));
  }
  float* a = nodewise_region_data(memory[0]);
  float* b = nodewise_region_data(memory[1]);
  float* c = nodewise_region_data(memory[2]);
  for (size_t i = 0; i < n; ++i) {
    a[i] = 0.0F;
    b[i] = 1.0F;
    c[i] = 2.0F;
  }

  const double start = seconds();
  for (int sweep = 0; sweep < arguments.sweeps; ++sweep) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; ++i) {
      a[i] += b[i] * c[i];
    }
  }
  print_result(arguments, seconds() - start, a[0], a[n - 1]);

  print_strip("a", memory[0]);
  print_strip("b", memory[1]);
  print_strip("c", memory[2]);
  for (int k = 0; k < 3; ++k) {
    nodewise_region_free(memory[k]);
  }
  nodewise_distribution_free(by);
  nodewise_layout_free(team);
  return 0;
}
