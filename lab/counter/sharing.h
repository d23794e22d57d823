// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Cache lines that processors take from one another. All guarded by the shared lock.
//
// Emulated processors take turns of milliseconds: one that writes a line a million times keeps it
// for its whole turn. So if several processors write different bytes of a line, every store to it
// is examined. A store to bytes that its processor already wrote in the same turn is a rewrite: on
// a real machine, where all processors run at once, the line might have had to move for it. A
// single pass over a line gives no rewrites.
#pragma once

#include "accounts.h"
#include "caches.h"

struct transfers {
  uint64_t near;
  uint64_t far;
  uint64_t invalidations;
};

extern struct transfers transfers[PROCESSORS_MAX];

enum { SHARERS_TOLD = 8 };
struct shared_line {
  struct shared_line* before; // the record of the line when it was other memory, or NULL
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
  uint64_t written;                // bytes that the latest writer wrote in this turn
  unsigned turn;                   // the place of the latest writer, or SHARERS_TOLD
  uint64_t code;                   // the instruction with most recent stores, by majority vote
  uint64_t votes;
};
extern struct table shared_lines; // by line, the latest record of each
extern size_t shared_lines_told;  // including earlier records
extern uint64_t shared_lines_left_out;

// Books an access that took a line, or copies of it, from others, or that writes a watched line.
void book_sharing(const struct access*, struct cache_answer);
// How many rewrites of false sharing may have been transfers: two processors can exchange a line
// only as often as the second one writes.
uint64_t rewrites_in_turn(const struct shared_line*);
