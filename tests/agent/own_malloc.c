/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A program with a malloc of its own, which comes before that of any preloaded library.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static unsigned char arena[32 << 20];
static size_t used;

void* malloc(size_t bytes);
void free(void* start);
void* calloc(size_t count, size_t bytes);
void* realloc(void* old, size_t bytes);

void* malloc(size_t bytes) {
  unsigned char* const start = arena + used;
  used += (bytes + 15) & ~(size_t)15;
  return used <= sizeof arena ? start : NULL;
}
void free(void* start) {
  (void)start;
}
void* calloc(size_t count, size_t bytes) {
  return malloc(count * bytes);
}
void* realloc(void* old, size_t bytes) {
  unsigned char* const start = malloc(bytes);
  if (old != NULL && start != NULL) {
    memmove(start, old, bytes); /* reads past the old end, inside the arena: good enough here */
  }
  return start;
}

int main(void) {
  volatile unsigned char* const p = malloc(2 << 20);
  p[7] = 1;
  return write(STDOUT_FILENO, "ok\n", 3) == 3 ? 0 : 1;
}
