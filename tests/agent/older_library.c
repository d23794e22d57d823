/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Calls the agent as a library of an older version does, and prints the address of its region.
 */
#include <stdio.h>
#include <sys/mman.h>

__attribute__((weak)) void nodewise_agent_region(void* start, size_t bytes);

int main(void) {
  const size_t bytes = (size_t)2 << 20;
  void* const start =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED || nodewise_agent_region == NULL) {
    return 1;
  }
  nodewise_agent_region(start, bytes);
  printf("%p\n", start);
  return 0;
}
