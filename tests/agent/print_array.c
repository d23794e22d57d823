/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "blocks.h"

void print_array(const char* name, void* start, size_t bytes, size_t nodes);

void print_array(const char* name, void* start, size_t bytes, size_t nodes) {
  print_blocks(name, start, bytes, nodes);
}
