// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which pages are on the node of the thread that uses them, asked of the kernel by the program that
// uses them. One line an array: "NAME SHARE", the share in percent.
#ifndef NODEWISE_TESTS_PAGE_REPORT_H
#define NODEWISE_TESTS_PAGE_REPORT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of a contiguous array that a schedule(static) loop goes through.
void report_array(const char* name, const void* array, size_t elements, size_t element_bytes);
// Of rows that lie anywhere: the bytes of each row, by the thread that a static loop gives it.
void report_rows(const char* name, void* const* rows, size_t count, size_t row_bytes);
// Of granules that are dealt round over `nodes` nodes 0, 1, ...: by granule, not by thread.
void report_cyclic(const char* name, const void* array, size_t bytes, size_t granule, int nodes);
// Sweeps over the array in parallel, so that it is used as a program uses it.
void use_array(double* array, size_t elements);

#ifdef __cplusplus
}
#endif

#endif
