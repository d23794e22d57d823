/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A program in C that loads plug-ins and keeps them until it ends.
 *
 *   last_delete_host FLAGS PLUGIN...     FLAGS: local, deepbind or global
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const int flags = strcmp(argv[1], "deepbind") == 0 ? RTLD_NOW | RTLD_DEEPBIND
                    : strcmp(argv[1], "global") == 0 ? RTLD_NOW | RTLD_GLOBAL
                                                     : RTLD_NOW;
  for (int i = 2; i < argc; ++i) {
    if (dlopen(argv[i], flags) == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
  }
  puts("loaded");
  return 0;
}
