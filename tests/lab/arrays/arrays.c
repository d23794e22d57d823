// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Arrays as C programs make them, all filled by the first thread and used by all.
// usage: arrays [cyclic NODES]
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "page_report.h"

enum { elements = 2 << 20, rows = 16384, row_bytes = 528 };

static double in_bss[elements];
static double second_in_bss[elements / 2];

static void fill(double* array, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    array[i] = 1;
  }
}

static void** make_rows(void) {
  void** const made = malloc(rows * sizeof *made);
  for (size_t i = 0; i < rows; ++i) {
    made[i] = malloc(row_bytes);
    memset(made[i], 1, row_bytes);
  }
  return made;
}

static double* grown_by_realloc(void) {
  double* array = NULL;
  for (size_t count = 1 << 16; count <= elements; count *= 2) {
    array = realloc(array, count * sizeof *array);
    fill(array, count);
  }
  return array;
}

static double* mapped(size_t bytes) {
  double* const array =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return array == MAP_FAILED ? NULL : array;
}

static double* grown_by_mremap(void) {
  double* array = mapped(elements * 2);
  fill(array, elements / 4);
  array = mremap(array, elements * 2, elements * sizeof *array, MREMAP_MAYMOVE);
  if (array == MAP_FAILED) {
    return NULL;
  }
  fill(array, elements);
  return array;
}

int main(int argc, char** argv) {
  const int nodes = argc == 3 && strcmp(argv[1], "cyclic") == 0 ? atoi(argv[2]) : 0;
  struct {
    const char* name;
    double* array;
    size_t count;
  } arrays[] = {
      {"malloc", malloc(elements * sizeof(double)), elements},
      {"calloc", calloc(elements, sizeof(double)), elements},
      {"aligned_alloc", aligned_alloc(4096, elements * sizeof(double)), elements},
      {"realloc", grown_by_realloc(), elements},
      {"mmap", mapped(elements * sizeof(double)), elements},
      {"mremap", grown_by_mremap(), elements},
      {"static", in_bss, elements},
      {"second_static", second_in_bss, elements / 2},
  };
  const size_t count = sizeof arrays / sizeof arrays[0];
  for (size_t i = 0; i < count; ++i) {
    if (arrays[i].array == NULL) {
      return 1;
    }
    fill(arrays[i].array, arrays[i].count);
  }
  void** const first = make_rows();
  void** const second = make_rows();
  for (size_t i = 0; i < count; ++i) {
    use_array(arrays[i].array, arrays[i].count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (nodes != 0) {
      report_cyclic(arrays[i].name, arrays[i].array, arrays[i].count * sizeof(double), 65536,
                    nodes);
    } else {
      report_array(arrays[i].name, arrays[i].array, arrays[i].count, sizeof(double));
    }
  }
  if (nodes == 0) {
    report_rows("rows", first, rows, row_bytes);
    report_rows("more_rows", second, rows, row_bytes);
  }
  return 0;
}
