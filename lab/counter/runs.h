// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// What is told of pages once they have ended. Neighbours of which the same is to be said are told
// together, each kind of thing apart from the others.
#pragma once

#include "programs.h"

struct page;

// `first` is a page number: in the object, or where there is none address / PAGE_BYTES.
struct page_run {
  uint64_t first;
  uint64_t count;
  int memory;                // node, -1: no line of it was ever read from memory
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

// Pages with the same threads as users, each page with the same lines if there are several.
struct user_run {
  uint64_t first;
  uint64_t count;
  struct thread_lines* by; // of all these pages, of one memory; ascending by thread
  size_t threads;
};

// Adds the page to the runs of its objects.
void tell_page(const struct page*);
// What was told of use so far was initialisation.
void forget_told_use(struct object*);
