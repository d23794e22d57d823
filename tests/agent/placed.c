/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * placed NODES MIB: initialises an array by one thread, asks the kernel where its pages are, and
 * checks that node k has the k-th of NODES equal parts. Under an agent whose owners are
 * 0,1,...,NODES-1 that is so; a part's edges may be off by some huge pages where huge pages are in
 * force.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  CHECK(argc == 3);
  const size_t nodes = strtoul(argv[1], NULL, 10);
  const size_t bytes = strtoul(argv[2], NULL, 10) << 20;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t pages = bytes / page;
  const size_t slack = bytes / nodes >= (size_t)16 << 20 ? ((size_t)8 << 20) / page : 4;
  unsigned char* const array = malloc(bytes);
  CHECK(array != NULL && nodes != 0);
  memset(array, 1, bytes);
  size_t wrong = 0;
  for (size_t i = 0; i < pages; ++i) {
    void* const address = array + i * page;
    int node = -1;
    CHECK(syscall(SYS_move_pages, 0, 1UL, &address, NULL, &node, 0) == 0);
    const size_t block = pages / nodes;
    const size_t low = i < slack ? 0 : (i - slack) / block;
    const size_t high = (i + slack) / block;
    wrong += node < 0 || (size_t)node < (low < nodes ? low : nodes - 1) || (size_t)node > high;
  }
  if (wrong != 0) {
    fprintf(stderr, "%zu of %zu pages are on another node\n", wrong, pages);
    return 1;
  }
  free(array);
  puts("ok");
  return 0;
}
