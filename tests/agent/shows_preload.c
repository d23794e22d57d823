/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Shows what is to be preloaded into the programs that it starts, and ends with 7.
 */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const char* const preload = getenv("LD_PRELOAD");
  puts(preload == NULL ? "nothing" : preload);
  return 7;
}
