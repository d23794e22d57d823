// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The processors as QEMU numbers them, and their current tasks.
#pragma once

#include "caches.h"
#include "programs.h"

enum { VCPUS_MAX = 256, TRANSLATIONS = 1024, COMBINED_LINES = 8 };

// A recently used page of the processor. The tag is the page number and the processor's epoch.
struct translation {
  uint64_t tag;
  uint64_t first_line;
  struct page* page;
};

struct processor {
  bool active;       // its accesses are counted
  bool known;        // its Linux number is known
  unsigned cpu;      // its Linux number
  struct core* core; // its core
  uint64_t epoch;    // see forget_translations()
  struct task* task; // NULL: no task switch seen yet
  uint64_t accesses;
  uint64_t executed;     // instructions of its task not yet attributed to a line
  uint64_t untranslated; // accesses to devices, or to a page that was just unmapped
  uint64_t misread;      // gathers of which QEMU reads the wrong elements
  struct translation translations[TRANSLATIONS];
  // Streaming stores wait here until their line is complete, as in a real processor.
  struct combined_line {
    uint64_t line;  // 0: none
    uint64_t bytes; // a bit for each byte that has arrived
  } combined[COMBINED_LINES];
  unsigned next_combined;
};

enum state { STATE_SELFTEST, STATE_COUNTING, STATE_REFUSED, STATE_FINISHED };

extern enum state state;
extern struct processor processors[VCPUS_MAX];

void processors_prepare(void);
// Updates `active` after a change of the processor's task or of the state.
void update_activity(struct processor*);
// The pages of the processor's program, or of all programs, may have moved.
void forget_translations(struct processor*);
void forget_all_translations(void);
// The processor runs another task from now on.
void switch_task(struct processor*, uint64_t task);
