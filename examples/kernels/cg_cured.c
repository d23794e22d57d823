/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * The same kernel with its initialisation in parallel.
 */
#define CURED
#include "cg.c"
