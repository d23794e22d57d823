/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Not every allocator that can be preloaded has a pvalloc() (jemalloc has none): then the C
 * library's block would go to another library's free(), with or without the agent.
 */
#ifndef NODEWISE_TESTS_AGENT_PVALLOC_H
#define NODEWISE_TESTS_AGENT_PVALLOC_H

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>

/* pvalloc(), or what comes nearest to it. */
static inline void* whole_pages(size_t bytes) {
  Dl_info of_pvalloc;
  Dl_info of_free;
  if (dladdr(dlsym(RTLD_DEFAULT, "pvalloc"), &of_pvalloc) != 0 &&
      dladdr(dlsym(RTLD_DEFAULT, "free"), &of_free) != 0 &&
      of_pvalloc.dli_fbase == of_free.dli_fbase) {
    return pvalloc(bytes);
  }
  return memalign(4096, (bytes + 4095) / 4096 * 4096);
}

#endif
