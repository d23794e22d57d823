// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Instructions, their accesses to memory, and the accounts of the traffic that these cause. All
// guarded by the shared lock.
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
