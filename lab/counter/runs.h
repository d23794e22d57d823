// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Records of pages that have ended. Neighbouring pages with equal records form a run; each kind of
// record has its own runs.
#pragma once

#include "programs.h"

struct page;

// `first` is a page number: within the object or, without an object, address / PAGE_BYTES.
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
