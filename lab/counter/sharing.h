// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Cache lines that processors take from one another. All guarded by the shared lock.
#pragma once

#include "books.h"

struct transfers {
  uint64_t near;
  uint64_t far;
  uint64_t invalidations;
};

extern struct transfers transfers[PROCESSORS_MAX];

enum { SHARERS_TOLD = 8 };
struct shared_line {
  struct program* program;
  struct object* object;
  uint64_t address;
  uint64_t transfers;
  uint64_t invalidations;
  uint64_t writers; // a bit for each processor
  uint64_t readers;
  bool overlap; // two of them wrote the same byte
  unsigned sharers;
  unsigned char cpu[SHARERS_TOLD];
  uint64_t bytes[SHARERS_TOLD]; // a bit for each byte that this processor wrote
};
extern struct table shared_lines; // by line
extern uint64_t shared_lines_left_out;

// If the access took a line, or copies of it, from others.
void book_sharing(const struct access*, struct cache_answer);
