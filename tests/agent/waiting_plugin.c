/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Its constructor waits for a thread that maps memory and sets a limit: under the loader's lock.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "check.h"

static void* map_and_unmap(void* unused) {
  void* const made = mmap(NULL, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(made != MAP_FAILED && munmap(made, large) == 0);
  free(seen(malloc(large)));
  struct rlimit cores;
  CHECK(getrlimit(RLIMIT_CORE, &cores) == 0 && setrlimit(RLIMIT_CORE, &cores) == 0);
  return unused;
}

__attribute__((constructor)) static void wait_for_thread(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, map_and_unmap, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}
