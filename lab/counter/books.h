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

#include "accounts.h"
#include "caches.h"

extern unsigned acting_cpu; // the working processor: lines that leave the caches are booked to it
extern uint64_t dirty_lines[PROCESSORS_MAX][NODES_MAX]; // by the node of their memory, at the end

// A use of the line that the first-level cache could not serve.
void book_access(const struct access*, struct cache_answer);
// A line written by a streaming store.
void book_stream(const struct access*);

// A modified line that leaves the caches.
void book_write_back(uint64_t line);

// Books the instructions of the task to the phase of use and resets their number to 0.
void book_work(const struct task*, uint64_t* executed);

// The program announces the end of its initialisation: everything so far counts as initialisation.
void books_begin_use(struct program*);
// Ends the program's pages in this range: they are other memory from now on.
void end_pages(struct program*, uint64_t start, uint64_t bytes);
// At the end of the run: settles all pages, and all lines that are still in caches.
void close_books(void);
