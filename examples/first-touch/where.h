// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The proof: the kernel is asked where the pages are and compared with where the threads are.
#ifndef NODEWISE_EXAMPLES_WHERE_H
#define NODEWISE_EXAMPLES_WHERE_H

#include <stddef.h>

// Prints, for one array that an OpenMP `schedule(static)` loop works on, how many of its pages each
// node holds and how many are on the node of the thread that uses them. Also called from Fortran.
void print_where(const char* name, const void* array, size_t elements, size_t element_bytes);

#endif
