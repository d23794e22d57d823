// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Counts traffic and attributes it to accounts. All guarded by the shared lock.
//
// Each page is in one of two phases. Its initialisation ends with the first of these events:
//  - A second thread uses the page.
//  - Its first thread requests a line of it from memory again after other threads of the program
//    were at work, that is, requested as many lines from memory as a page has.
// On a page without such an event, the first fill of each line is initialisation and all others are
// use. Requests that its first thread repeats while no other is at work are held back until such an
// event. If a second thread then uses the page, they were initialisation in several passes if the
// first thread was the main thread, which prepares data for the others; any other first thread was
// already at work, and they were use.
#pragma once

#include "caches.h"
#include "programs.h"
#include "uses.h"

// The fills of an instruction for one program.
struct code_count {
  struct code_count* next;
  struct program* program;
  const struct code* code;
  uint64_t number;            // unique
  uint64_t fills[PHASES][2];  // [1]: remote
  struct object_code* latest; // with the object it used last, or NULL
};

// The memory access of an instruction.
struct operation {
  bool store;
  unsigned bytes;
};

// An instruction, by its address. Instructions of several programs at one address share an entry.
struct code {
  struct code* next;
  uint64_t address;
  uint32_t info; // QEMU's info of its latest access; `operation` decodes it
  struct operation operation;
  struct code_count* counts; // the one used last comes first
};

extern struct code* codes;
struct code* code_at(uint64_t address);

// The account to which traffic is attributed.
struct account {
  struct object* object;
  struct code_count* code; // NULL for lines that leave the caches: no instruction requests that
  struct region* region;   // NULL: none is open
  uint32_t thread;         // the requester; meaningless for lines that leave the caches
  uint8_t cpu;
  uint8_t memory; // node
};

// Traffic held back until its phase is known.
struct repeat {
  struct account account;
  uint32_t fills;
  uint32_t write_backs;
  uint32_t streams;
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

extern uint64_t dirty_lines[PROCESSORS_MAX][NODES_MAX]; // by the node of their memory, at the end

// Moves fills that were counted as use to initialisation.
void move_fills_to_initialisation(uint64_t fills[PHASES][2]);

void books_prepare(void);
struct page* page_at(struct program*, uint64_t number);
// The page itself or, once it has ended, the current page at its address.
struct page* page_now(struct page*);
// Records which program page is now in this page of guest memory, for lines that leave the caches
// later.
void page_is_in(struct page*, uint64_t frame);

struct access {
  unsigned cpu;
  struct operation operation;
  uint64_t address;
  uint64_t line;
  struct page* page;
  struct task* task;
  struct code* code;
  uint64_t* executed; // instructions of the task not yet attributed to a line
};

// Sets the working processor: lines that leave the caches are booked to it.
void books_act_for(unsigned cpu);
// A use of the line that the first-level cache could not serve.
void book_access(const struct access*, struct cache_answer);
// A line written by a streaming store.
void book_stream(const struct access*);

// Books the instructions of the task to the phase of use and resets their number to 0.
void book_work(const struct task*, uint64_t* executed);

// The program announces the end of its initialisation: everything so far counts as initialisation.
void books_begin_use(struct program*);
// Ends the program's pages in this range: they are other memory from now on.
void end_pages(struct program*, uint64_t start, uint64_t bytes);
// Keeps the program's pages in this range, and attributes them to the object that is there now.
void adopt_pages(struct program*, uint64_t start, uint64_t bytes);
// At the end of the run: settles all pages, and all lines that are still in caches.
void close_books(void);
