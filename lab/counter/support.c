// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "support.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool parallel;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

_Noreturn void give_up(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("traffic counter: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  _Exit(1);
}

void* allocate(size_t bytes) {
  void* made = calloc(1, bytes);
  if (!made)
    give_up("no memory for %zu bytes", bytes);
  return made;
}

void* make_room(void* array, size_t count, size_t bytes_of_one) {
  if (has_several(count))
    return array;
  const size_t bytes = (count ? 2 * count : 1) * bytes_of_one; // grows at 0, 1, 2, 4, ...
  void* made = realloc(array, bytes);
  if (!made)
    give_up("no memory for %zu bytes", bytes);
  return made;
}

void* reserve(size_t bytes) {
  void* made =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    give_up("no address space for %zu bytes", bytes);
  return made;
}

char* copy_text(const char* text) {
  size_t bytes = strlen(text) + 1;
  return memcpy(allocate(bytes), text, bytes);
}

bool is_plain(char byte) {
  // Not isalnum(), which depends on the locale.
  return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || byte == '-' || byte == '.' || byte == '/';
}

static size_t home_of(const struct table* table, uint64_t key) {
  return (key * UINT64_C(0x9E3779B97F4A7C15)) >> 20 & (table->slots - 1);
}

// The slot of the key, or the empty slot where it belongs.
static size_t slot_of(const struct table* table, uint64_t key) {
  size_t at = home_of(table, key);
  while (table->keys[at] != 0 && table->keys[at] != key)
    at = (at + 1) & (table->slots - 1);
  return at;
}

static void put(struct table* table, uint64_t key, void* value) {
  size_t at = slot_of(table, key);
  table->keys[at] = key;
  table->values[at] = value;
}

static void grow(struct table* table) {
  struct table old = *table;
  table->slots = old.slots ? 2 * old.slots : 256;
  table->keys = allocate(table->slots * sizeof *table->keys);
  table->values = allocate(table->slots * sizeof *table->values);
  for (size_t i = 0; i < old.slots; i++)
    if (old.keys[i] != 0)
      put(table, old.keys[i], old.values[i]);
  free(old.keys);
  free(old.values);
}

void* table_find(const struct table* table, uint64_t key) {
  if (table->slots == 0)
    return NULL;
  size_t at = slot_of(table, key);
  return table->keys[at] == key ? table->values[at] : NULL;
}

void table_insert(struct table* table, uint64_t key, void* value) {
  if (2 * (table->used + 1) > table->slots)
    grow(table);
  put(table, key, value);
  table->used++;
}

void* table_remove(struct table* table, uint64_t key) {
  if (table->slots == 0)
    return NULL;
  size_t hole = slot_of(table, key);
  if (table->keys[hole] != key)
    return NULL;
  void* removed = table->values[hole];
  // A following entry moves up if the hole is between it and its home slot.
  for (size_t at = (hole + 1) & (table->slots - 1); table->keys[at] != 0;
       at = (at + 1) & (table->slots - 1)) {
    size_t home = home_of(table, table->keys[at]);
    if (((at - home) & (table->slots - 1)) < ((at - hole) & (table->slots - 1)))
      continue;
    table->keys[hole] = table->keys[at];
    table->values[hole] = table->values[at];
    hole = at;
  }
  table->keys[hole] = 0;
  table->values[hole] = NULL;
  table->used--;
  return removed;
}

void lock_shared(void) {
  if (parallel)
    pthread_mutex_lock(&shared_lock);
}

void unlock_shared(void) {
  if (parallel)
    pthread_mutex_unlock(&shared_lock);
}
