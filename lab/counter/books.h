// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// What is counted, and to whose account. All guarded by the shared lock.
//
// Each page is in one of two phases: its initialisation ends with the first of these.
//  - A second thread uses the page.
//  - Its first thread asks memory for a line of it again after other threads of the program have
//    been at work, that is, have asked memory for as many lines as a page has.
// Of a page that has neither, the first fill of each line is initialisation and the rest use. What
// its first thread asked for again while no other was at work is held back until then: if a second
// thread comes it was initialisation, in several passes, where the first was the main thread, which
// prepares things for the others; a thread that the program started was at work already.
#pragma once

#include "caches.h"
#include "programs.h"
#include "uses.h"

// Fills that an instruction made for one program.
struct code_count {
  struct code_count* next;
  struct program* program;
  const struct code* code;
  uint64_t number;            // no two have the same
  uint64_t fills[PHASES][2];  // [1]: remote
  struct object_code* latest; // with the object it used last, or NULL
};

// What an instruction does to memory.
struct operation {
  bool store;
  unsigned bytes;
};

// An instruction, by its address. What is at the same address in several programs shares one.
struct code {
  struct code* next;
  uint64_t address;
  uint32_t info; // what QEMU called its latest access, and what that means
  struct operation operation;
  struct code_count* counts; // the one used last in front
};

extern struct code* codes;
struct code* code_at(uint64_t address);

// Whose account it is.
struct account {
  struct object* object;
  struct code_count* code; // NULL for what leaves the caches: no instruction asked for that
  struct region* region;   // NULL: none is open
  uint32_t thread;         // that asked, of no meaning for what leaves the caches
  uint8_t cpu;
  uint8_t memory; // node
};

// What is held back until it is known which phase it belongs to.
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
  struct object* object; // that covers the whole page, or NULL: to be asked by address
  uint64_t seen;         // a bit for each line that this thread has filled
  uint64_t returned;     // and for each that was written back since
  uint32_t thread;       // that used it first, or NO_THREAD
  uint64_t others;       // lines that the program's other threads had asked for by then
  bool used;             // in its second phase
  bool ended;            // and told
  int16_t memory;        // the node of the latest fill, -1: none yet
  uint32_t repeat_count;
  struct repeat* repeats;
  uint64_t fills[PHASES][2];
  struct page_use use;
};

extern uint64_t dirty_lines[PROCESSORS_MAX][NODES_MAX]; // by the node of their memory, at the end

// What was counted as use is initialisation.
void move_fills_to_initialisation(uint64_t fills[PHASES][2]);

void books_prepare(void);
struct page* page_at(struct program*, uint64_t number);
// The page itself, or once it has ended the one that is there now.
struct page* page_now(struct page*);
// The page of a program that is now in this page of guest memory, for what leaves the caches later.
void page_is_in(struct page*, uint64_t frame);

struct access {
  unsigned cpu;
  struct operation operation;
  uint64_t address;
  uint64_t line;
  struct page* page;
  struct task* task;
  struct code* code;
  uint64_t* executed; // instructions of the task that no line was charged with yet
};

// Who is at work: lines that leave the caches are booked to this processor.
void books_act_for(unsigned cpu);
// A use of the line that the first-level cache could not serve.
void book_access(const struct access*, struct cache_answer);
// A line written past the caches.
void book_stream(const struct access*);

// Instructions that the task has done in the phase of use; none are left then.
void book_work(const struct task*, uint64_t* executed);

// The program says that its initialisation is over: all that it did before was that.
void books_begin_use(struct program*);
// The program's pages in this range end: they are other memory from now on.
void end_pages(struct program*, uint64_t start, uint64_t bytes);
// The program's pages in this range go on as they are, and belong to the object that is there now.
void adopt_pages(struct program*, uint64_t start, uint64_t bytes);
// At the end of it all: settles every page, and the lines that are still in caches.
void close_books(void);
