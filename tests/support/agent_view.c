/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the agent: exports a view of one object, which `nodewise pages` is to find and name
 * by the line that allocated it. AGENT_VIEW_BUSY leaves the table as if a writer were at work. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/protocol.h"

struct object {
  uint64_t start;
  uint64_t unused;
  uint64_t bytes;
  uint64_t sequence;
  uint64_t caller;
  uint32_t kind;
};

enum { slots = 8, used = 5, bytes = 8 << 20 };
static uint64_t keys[slots];
static struct object objects[slots];

__attribute__((visibility("default"))) struct nodewise_agent_view nodewise_agent_view;

__attribute__((noinline)) static void record(char* start) {
  keys[used] = (uint64_t)(uintptr_t)start;
  objects[used] = (struct object){
      .start = (uint64_t)(uintptr_t)start,
      .bytes = bytes,
      .sequence = 7,
      .caller = (uint64_t)(uintptr_t)__builtin_return_address(0),
      .kind = NODEWISE_AGENT_HEAP,
  };
}

__attribute__((constructor)) static void begin(void) {
  char* start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    abort();
  memset(start, 1, bytes / 2);
  record(start); /* the line that `pages` is to name */
  nodewise_agent_view = (struct nodewise_agent_view){
      .magic = NODEWISE_AGENT_VIEW_MAGIC,
      .version = 2,
      .all = {(uint64_t)(uintptr_t)keys, (uint64_t)(uintptr_t)objects, slots},
      .object_bytes = sizeof(struct object),
      .at_start = offsetof(struct object, start),
      .at_bytes = offsetof(struct object, bytes),
      .at_sequence = offsetof(struct object, sequence),
      .at_caller = offsetof(struct object, caller),
      .at_kind = offsetof(struct object, kind),
      .changes = getenv("AGENT_VIEW_BUSY") != NULL ? 3 : 2,
  };
}
