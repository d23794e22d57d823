// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The pages of programs. All guarded by the shared lock.
#pragma once

#include "accounts.h"
#include "uses.h"

// Traffic held back until its phase is known.
struct repeat {
  struct account account;
  uint32_t lines[KINDS];
  uint64_t work; // instructions
};

struct page {
  struct program* program;
  uint64_t number;       // address / PAGE_BYTES
  struct object* object; // that covers the whole page, or NULL: look it up by address
  uint64_t seen;         // a bit for each line that was filled
  uint64_t returned;     // a bit for each line that was written back since
  uint32_t thread;       // that used it first, or NO_THREAD
  uint64_t others;       // lines that the program's other threads had requested by then
  bool used;             // in its second phase
  bool ended;            // and recorded in runs
  int16_t memory;        // the node of the latest fill, -1: none yet
  uint32_t repeat_count;
  struct repeat* repeats;
  uint64_t fills[PHASES][2];
  struct page_use use;
};

void pages_prepare(void);
struct page* page_at(struct program*, uint64_t number);
// The page itself or, once it has ended, the current page at its address.
struct page* page_now(struct page*);
// The object at an address of the page.
struct object* object_in(const struct page*, uint64_t address);
// Records which program page is now in this page of guest memory, for lines that leave the caches
// later.
void page_is_in(struct page*, uint64_t frame);
// The page that is there now; the line must have been used.
struct page* page_of_line(uint64_t line);

// Calls `each` by address for the pages of a program, or (NULL) of all programs.
void each_page(const struct program*, void (*each)(struct page*));
// The same for a range of addresses.
void each_page_in(const struct program*, uint64_t start, uint64_t bytes,
                  void (*each)(struct page*));
// The page is other memory from now on: page_at() no longer finds it.
void remove_page(const struct page*);
// Keeps the program's pages in this range, and attributes them to the object that is there now.
void adopt_pages(struct program*, uint64_t start, uint64_t bytes);
// Moves fills that were counted as use to initialisation.
void move_fills_to_initialisation(uint64_t fills[PHASES][2]);
