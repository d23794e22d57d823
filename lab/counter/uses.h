// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The users of memory: the lines requested from memory in the phase of use, filled or streamed; for
// each page by thread, for each object by instruction. All guarded by the shared lock.
#pragma once

#include "programs.h"

struct account;
struct code_count;

// Lines of a page between a thread, on the processors of one node, and a memory. A thread has a
// second entry if the first is full, and one for each node that it or the page was on.
struct user {
  uint32_t who;
  uint32_t lines;
};

// Users of the part of a page that belongs to one object.
struct page_use {
  struct page_use* next; // of another object
  struct object* object; // NULL: nothing was used yet
  struct user* users;    // a hash table; entries without lines are empty
  uint32_t places;       // a power of two, or 0
};

// The fields of `who`.
static inline uint32_t thread_of_user(uint32_t who) {
  return who >> 13;
}
static inline unsigned from_of_user(uint32_t who) {
  return who >> 7 & 63;
}
static inline unsigned to_of_user(uint32_t who) {
  return who >> 1 & 63;
}
static inline bool is_streaming_user(uint32_t who) {
  return who & 1;
}

// Lines of an object that an instruction requested.
struct object_code {
  struct object_code* next; // of the same object
  const struct object* object;
  uint64_t address; // of the instruction
  uint64_t lines;
};

extern uint64_t object_code_left_out; // lines of pairs beyond the limit

void book_page_use(struct page_use* of_page, const struct account*, bool streams, uint32_t lines);
void book_object_code(const struct account*, uint32_t lines);

// Discards what was booked so far: it was not use.
void forget_page_use(struct page_use*);
void forget_object_code(struct object*);
