// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Instructions, their accesses to memory, the accounts of the traffic that these cause, and the
// users of memory. All guarded by the shared lock.
#pragma once

#include "programs.h"

struct page;

// The memory access of an instruction.
struct operation {
  bool store;
  unsigned bytes;
};

// The fills of an instruction for one program.
struct code_count {
  struct code_count* next;
  struct program* program;
  const struct code* code;
  uint64_t number;            // unique
  uint64_t fills[PHASES][2];  // [1]: remote
  struct object_code* latest; // with the object it used last, or NULL
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
// The instruction's count for the program, which becomes its first.
struct code_count* count_of(struct code*, struct program*);

// The account to which traffic is attributed.
struct account {
  struct object* object;
  struct code_count* code; // NULL for lines that leave the caches: no instruction requests that
  struct region* region;   // NULL: none is open
  uint32_t thread;         // the requester; meaningless for lines that leave the caches
  uint8_t cpu;
  uint8_t memory; // node
};

// Lines of a page between a thread, on the processors of one node, and a memory. A thread has a
// second entry if the first is full, and one for each node that it or the page was on.
struct user {
  union {
    uint32_t who;
    struct {
      uint32_t streams : 1; // by streaming stores
      uint32_t memory : 6;  // node
      uint32_t node : 6;    // of its processor
      uint32_t thread : 19;
    };
  };
  uint32_t lines;
};

// Users of the part of a page that belongs to one object.
struct page_use {
  struct page_use* next; // of another object
  struct object* object; // NULL: nothing was used yet
  struct user* users;    // a hash table; entries without lines are empty
  uint32_t places;       // a power of two, or 0
};

// Lines of an object that an instruction requested.
struct object_code {
  struct object_code* next; // of the same object
  const struct object* object;
  uint64_t address; // of the instruction
  uint64_t lines;
};

// The bytes of a line that an access reaches, a bit for each.
static inline uint64_t bytes_in_line(uint64_t address, unsigned bytes) {
  const uint64_t mask = bytes >= LINE_BYTES ? UINT64_MAX : (UINT64_C(1) << bytes) - 1;
  return mask << address % LINE_BYTES;
}

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

// The users of memory: the lines requested from memory in the phase of use, filled or streamed; for
// each page by thread, for each object by instruction.
extern uint64_t object_code_left_out; // lines of pairs beyond the limit

void book_page_use(struct page_use* of_page, const struct account*, bool streams, uint32_t lines);
void book_object_code(const struct account*, uint32_t lines);

// Discards what was booked so far: it was not use.
void forget_page_use(struct page_use*);
void forget_object_code(struct object*);
