// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Memory, tables and the lock. A counter without memory ends QEMU with a message: an incomplete
// result is not a result.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PROCESSORS_MAX = 64,
  NODES_MAX = 64,
  LINE_BITS = 6,
  LINE_BYTES = 1 << LINE_BITS,
  PAGE_BITS = 12,
  PAGE_BYTES = 1 << PAGE_BITS,
  LINES_A_PAGE = PAGE_BYTES / LINE_BYTES,
};
#define USER_BYTES (UINT64_C(1) << 47) // the address space of a program in the guest

static inline uint64_t bit(unsigned number) {
  return UINT64_C(1) << number;
}

// Negative, 0 or positive, as qsort() expects.
static inline int compare(uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}

static inline unsigned lowest_bit(uint64_t bits) {
  return (unsigned)__builtin_ctzll(bits);
}

// Whether at least two bits are set.
static inline bool has_several(uint64_t bits) {
  return (bits & (bits - 1)) != 0;
}

// In this and all other formats %lu prints a uint64_t: the hosts are 64-bit ones.
_Noreturn void give_up(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Zeroed; never NULL.
void* allocate(size_t bytes);
// Grows the array, if necessary, to hold one element more than `count`.
void* make_room(void* array, size_t count, size_t bytes_of_one);
// Zeroed, and allocated only when written; for tables as large as the guest's memory.
void* reserve(size_t bytes);
char* copy_text(const char* text);
// Whether a byte of a name stays as it is; other bytes are written as %XX.
bool is_plain(char byte);

// From numbers (not 0) to pointers.
struct table {
  uint64_t* keys;
  void** values;
  size_t slots; // a power of two
  size_t used;
};

void* table_find(const struct table*, uint64_t key);
// The key must not be there yet.
void table_insert(struct table*, uint64_t key, void* value);
// NULL if the key was not there.
void* table_remove(struct table*, uint64_t key);

// One lock guards everything except each processor's first-level cache and translations. It is
// needed only if QEMU runs each processor in a thread of its own.
extern bool parallel;
void lock_shared(void);
void unlock_shared(void);
