/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A program in C whose plug-ins are C++: it has no C++ library of its own.
 *
 *   cxx_plugin_host PLUGIN...     each is loaded plainly, then with RTLD_DEEPBIND, and again
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "check.h"

static unsigned (*work)(unsigned);

static void* in_thread(void* sum) {
  *(unsigned*)sum = work(5);
  return NULL;
}

static void load(const char* name, int flags) {
  void* const plugin = dlopen(name, flags);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  void* const found = dlsym(plugin, "plugin_work");
  CHECK(found != NULL);
  memcpy(&work, &found, sizeof work);
  pthread_t thread;
  unsigned sum = 0;
  CHECK(pthread_create(&thread, NULL, in_thread, &sum) == 0 && pthread_join(thread, NULL) == 0);
  printf("%u %u\n", work(3), sum);
  CHECK(dlclose(plugin) == 0);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    load(argv[i], RTLD_NOW);
    load(argv[i], RTLD_NOW | RTLD_DEEPBIND);
    load(argv[i], RTLD_LAZY | RTLD_GLOBAL);
  }
  return 0;
}
