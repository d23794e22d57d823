/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A program whose blocks are freed by code that finds other functions than the program does.
 *
 *   past_host deepbind|pointers|namespace|namespace_leaves PLUGIN
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>

#include "check.h"

enum { count = 24, done = 7 };

static struct {
  void (*free)(void*);
  void* (*realloc)(void*, size_t);
  size_t (*usable)(void*);
  void* (*malloc)(size_t);
  int (*works)(void);
  void (*leave)(int);
} their;

static void find(void* module, const char* name, void* into) {
  void* const found = dlsym(module, name);
  CHECK(found != NULL);
  memcpy(into, &found, sizeof found);
}

static void load(const char* plugin, int in_namespace) {
  void* const module = in_namespace ? dlmopen(LM_ID_NEWLM, plugin, RTLD_NOW)
                                    : dlopen(plugin, RTLD_NOW | RTLD_DEEPBIND);
  if (module == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  find(module, "plugin_free", &their.free);
  find(module, "plugin_realloc", &their.realloc);
  find(module, "plugin_usable", &their.usable);
  find(module, "plugin_malloc", &their.malloc);
  find(module, "plugin_works", &their.works);
  find(module, "plugin_leave", &their.leave);
}

static void load_pointers(void) {
  void* const library = dlopen("libc.so.6", RTLD_NOW);
  CHECK(library != NULL);
  find(library, "free", &their.free);
  find(library, "realloc", &their.realloc);
  find(library, "malloc_usable_size", &their.usable);
  find(library, "malloc", &their.malloc);
}

static size_t bytes_of(unsigned i) {
  return 70000 + (size_t)i * 9000;
}

static unsigned char* make(unsigned i) {
  void* block = NULL;
  switch (i % 4) {
  case 0:
    block = malloc(bytes_of(i));
    break;
  case 1:
    block = calloc(1, bytes_of(i));
    break;
  case 2:
    CHECK(posix_memalign(&block, (size_t)1 << (12 + i % 11), bytes_of(i)) == 0);
    break;
  default:
    block = realloc(malloc(100), bytes_of(i));
  }
  CHECK(block != NULL);
  fill(seen(block), bytes_of(i), i);
  return block;
}

/* Blocks of ours that they free, resize and measure, and the other way round. */
static void cross(void) {
  unsigned char* block[count];
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < count; ++i) {
      block[i] = make(i);
      CHECK(their.usable(block[i]) >= bytes_of(i));
      CHECK(malloc_usable_size(block[i]) >= bytes_of(i));
    }
    for (unsigned i = 0; i < count; ++i) {
      unsigned char* moved = block[i];
      if ((i + round) % 3 == 0) {
        moved = their.realloc(moved, 2 * bytes_of(i));
      } else if ((i + round) % 3 == 1) {
        moved = realloc(moved, 2 * bytes_of(i));
      }
      CHECK(moved != NULL && holds(moved, bytes_of(i), i));
      ((i + round) % 2 == 0 ? their.free : free)(moved);
    }
    for (unsigned i = 0; i < count; ++i) {
      block[i] = their.malloc(bytes_of(i) + (i % 2) * 4096);
      CHECK(block[i] != NULL);
      fill(block[i], bytes_of(i), i);
    }
    for (unsigned i = 0; i < count; ++i) {
      CHECK(holds(block[i], bytes_of(i), i));
      (i % 2 == 0 ? their.free : free)(block[i]);
    }
  }
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  if (strcmp(argv[1], "pointers") == 0) {
    load_pointers();
    cross();
  } else if (strcmp(argv[1], "deepbind") == 0) {
    load(argv[2], 0);
    cross();
    CHECK(their.works());
  } else {
    load(argv[2], 1);
    unsigned char* const block = make(1);
    CHECK(their.works());
    CHECK(holds(block, bytes_of(1), 1));
    free(block);
    if (strcmp(argv[1], "namespace_leaves") == 0) {
      their.leave(done);
    }
  }
  return done;
}
