// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The pages of programs, and records of those that have ended. All guarded by the shared lock.
#pragma once

#include "accounts.h"

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
// By page of guest memory: the program page that is there now, for lines that leave the caches
// later.
extern struct page** page_in;

// Calls `each` by address for the pages of a program, or (NULL) of all programs, in a range.
void each_page_in(const struct program*, uint64_t start, uint64_t bytes,
                  void (*each)(struct page*));
// The page is other memory from now on: page_at() no longer finds it.
void remove_page(const struct page*);
// Keeps the program's pages in this range, and attributes them to the object that is there now.
void adopt_pages(struct program*, uint64_t start, uint64_t bytes);

// Neighbouring pages that have ended, with equal records, form a run; each kind of record has its
// own runs. `first` is a page number: within the object or, without an object, address /
// PAGE_BYTES.
struct page_run {
  uint64_t first;
  uint64_t count;
  int memory;                // node, -1: no line was ever requested from memory
  int user;                  // the node that made most fills in use, -1: none did
  uint64_t fills[PHASES][2]; // [1]: remote
};

struct touched_run {
  uint64_t first;
  uint64_t count;
  uint32_t thread; // that used these pages first
};

struct thread_lines {
  unsigned memory;
  uint32_t thread;
  uint64_t lines;
};

// Pages with the same threads as users; if there are several threads, each page has equal lines.
struct user_run {
  uint64_t first;
  uint64_t count;
  struct thread_lines* by; // of all these pages, of one memory; ascending by thread
  size_t threads;
};

// Adds the page to the runs of its objects.
void tell_page(const struct page*);
// Turns all use recorded so far into initialisation.
void forget_told_use(struct object*);
