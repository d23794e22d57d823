/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * plugin_host NODES TIMES PLUGIN...: loads and unloads each plug-in so many times. Each time a
 * thread is started, or the plug-in enters a parallel region, before its static array is touched.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "check.h"

static size_t nodes;
static void (*touch)(size_t);

static void* work(void* unused) {
  touch(nodes);
  return unused;
}

static void use(const char* file) {
  void* const plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  CHECK(plugin != NULL);
  int (*threads)(void) = (int (*)(void))dlsym(plugin, "plugin_threads");
  touch = (void (*)(size_t))dlsym(plugin, "plugin_touch");
  CHECK(threads != NULL && touch != NULL);
  const int in_region = threads();
  CHECK(in_region == 0 || in_region == 3);
  if (in_region != 0) {
    touch(nodes);
  } else {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
  }
  CHECK(dlclose(plugin) == 0);
}

int main(int argc, char** argv) {
  CHECK(argc >= 4);
  nodes = strtoul(argv[1], NULL, 10);
  for (unsigned long i = strtoul(argv[2], NULL, 10); i > 0; --i) {
    for (int file = 3; file < argc; ++file) {
      use(argv[file]);
    }
  }
  return 0;
}
