// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Cache lines that processors take from one another. All guarded by the shared lock.
//
// Emulated processors take turns of milliseconds: one that counts in a line a million times has it
// for all of its turn. So of a line that several write, each its own bytes, every store is looked
// at. One to bytes that its processor wrote before in the same turn is a rewrite: had the others
// come between, as they do where all run at once, the line would have had to move for it. To walk
// over a line is none.
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
  struct shared_line* before; // what was known of the line when it was other memory, or NULL
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
  uint64_t bytes[SHARERS_TOLD];    // a bit for each byte that this processor wrote
  uint64_t rewrites[SHARERS_TOLD]; // of this processor
  uint64_t written;                // by whose turn it is, in this turn
  unsigned turn;                   // the place of the latest writer, or SHARERS_TOLD
  uint64_t code;                   // the instruction that stored most of late, by its majority
  uint64_t votes;
};
extern struct table shared_lines; // by line, the latest of each
extern size_t shared_lines_told;  // with those before
extern uint64_t shared_lines_left_out;

// If the access took a line, or copies of it, from others; or writes one that is watched.
void book_sharing(const struct access*, struct cache_answer);
// How many rewrites of false sharing may have been transfers: two processors can have a line in
// turn only as often as the second one writes.
uint64_t rewrites_in_turn(const struct shared_line*);
