/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A parent and its child keep separate copies of a large object; vfork, exec of itself, dlopen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void wait_for(pid_t child, int expected) {
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

static void fork_copies(void) {
  unsigned char* const p = malloc(8 * large);
  fill(p, 8 * large, 1);
  const pid_t child = fork();
  if (child == 0) {
    CHECK(holds(p, 8 * large, 1));
    fill(p, 8 * large, 2);
    unsigned char* const grown = realloc(p, 12 * large);
    CHECK(holds(grown, 8 * large, 2));
    free(grown);
    free(seen(malloc(2 * large)));
    exit(3);
  }
  wait_for(child, 3);
  CHECK(holds(p, 8 * large, 1));
  free(p);
}

static void vfork_shares(void) {
  void* const p = seen(malloc(2 * large));
  const pid_t child = vfork();
  if (child == 0) {
    _exit(4);
  }
  wait_for(child, 4);
  free(p);
}

static void loads_a_plugin(const char* name) {
  for (int i = 0; i < 3; ++i) {
    void* const plugin = dlopen(name, RTLD_NOW);
    CHECK(plugin != NULL);
    void* const found = dlsym(plugin, "plugin_make");
    CHECK(found != NULL);
    unsigned char* (*make)(void);
    memcpy(&make, &found, sizeof make);
    unsigned char* const p = make();
    CHECK(p[5] == 42);
    CHECK(dlclose(plugin) == 0);
    free(p); /* its caller is no longer loaded */
  }
}

int main(int argc, char** argv) {
  if (argc > 2) {
    free(seen(malloc(4 * large)));
    puts("ok");
    return 0;
  }
  CHECK(argc == 2);
  fork_copies();
  vfork_shares();
  loads_a_plugin(argv[1]);
  fflush(stdout);
  void* const never_freed = seen(malloc(3 * large));
  CHECK(never_freed != NULL);
  execl("/proc/self/exe", argv[0], argv[1], "again", (char*)NULL);
  return 1;
}
