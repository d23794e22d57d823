// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "page_report.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static uintptr_t page_bytes(void) {
  return (uintptr_t)sysconf(_SC_PAGESIZE);
}

static int my_node(void) {
  unsigned cpu = 0;
  unsigned node = 0;
  syscall(SYS_getcpu, &cpu, &node, NULL);
  return (int)node;
}

// The node of one page, or -1.
static int node_of(uintptr_t address) {
  void* page = (void*)(address / page_bytes() * page_bytes());
  int status = -1;
  const long failed = syscall(SYS_move_pages, 0, 1UL, &page, NULL, &status, 0);
  return failed == 0 ? status : -1;
}

static void print(const char* name, size_t there, size_t all) {
  printf("%s %.2f\n", name, all == 0 ? 0.0 : 100.0 * (double)there / (double)all);
  fflush(stdout);
}

void use_array(double* array, size_t elements) {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < elements; ++i) {
    array[i] += 1;
  }
}

void report_array(const char* name, const void* array, size_t elements, size_t element_bytes) {
  size_t there = 0;
  size_t all = 0;
  const uintptr_t page = page_bytes();
#pragma omp parallel for schedule(static) reduction(+ : there, all)
  for (size_t i = 0; i < elements; ++i) {
    const uintptr_t address = (uintptr_t)array + i * element_bytes;
    if (address % page == 0) {
      ++all;
      there += node_of(address) == my_node();
    }
  }
  print(name, there, all);
}

void report_rows(const char* name, void* const* rows, size_t count, size_t row_bytes) {
  size_t there = 0;
#pragma omp parallel for schedule(static) reduction(+ : there)
  for (size_t i = 0; i < count; ++i) {
    const uintptr_t first = (uintptr_t)rows[i];
    there += node_of(first) == my_node() && node_of(first + row_bytes - 1) == my_node();
  }
  print(name, there, count);
}

void report_cyclic(const char* name, const void* array, size_t bytes, size_t granule, int nodes) {
  const uintptr_t page = page_bytes();
  const uintptr_t start = ((uintptr_t)array + page - 1) / page * page;
  size_t there = 0;
  size_t all = 0;
  for (uintptr_t at = start; at + page <= (uintptr_t)array + bytes; at += page) {
    ++all;
    there += node_of(at) == (int)((at - start) / granule % (uintptr_t)nodes);
  }
  print(name, there, all);
}
