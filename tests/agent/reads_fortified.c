/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * The same reads as distributions build them: by the checking forms of the C library's functions,
 * into arrays of a size that the compiler knows.
 */
#define FIXED
#include "reads.c"
