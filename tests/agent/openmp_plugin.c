/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * The same library built with OpenMP: it enters a parallel region of its own.
 */
#include "static_plugin.c"
