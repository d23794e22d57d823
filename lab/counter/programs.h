// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Who runs and what they own: tasks of the guest's kernel, the programs they belong to, and the
// programs' objects. Known from announcements; all guarded by the shared lock.
#pragma once

#include "support.h"

struct object_code;
struct page_run;
struct touched_run;
struct user_run;

enum phase { PHASE_INIT, PHASE_USE, PHASES };

// Lines between caches and memory.
struct amount {
  uint64_t fills;
  uint64_t write_backs;
  uint64_t streams; // written past the caches
};

struct object {
  struct program* program;
  struct object* next; // of the program's list of all
  uint64_t id;
  uint64_t number; // no two have the same; 0: the memory of a program that no object covers
  uint64_t start;
  uint64_t bytes;
  char* what; // "KIND MODULE OFFSET NAME", as announced
  bool freed;
  struct amount* traffic;    // [PHASES][from node][to node]; NULL: none yet
  struct object_code* codes; // in use
  struct page_run* runs;     // as runs.h says, of pages that have ended
  size_t run_count;
  struct touched_run* touched;
  size_t touched_count;
  struct user_run* user_runs;
  size_t user_run_count;
};

enum { REGION_NAME_BYTES = 64 };

struct region {
  struct region* next;
  char name[REGION_NAME_BYTES];
  unsigned open;          // STARTs without a STOP
  uint64_t opened_at;     // the order of opening
  struct amount* traffic; // [from node][to node]
};

struct program {
  struct program* next;
  uint64_t index; // 0 for nobody, then in the order of beginning
  uint64_t key; // the process id, plus PROGRAM_GENERATION for each program that process was before
  uint64_t parent;
  uint64_t pid;
  char* name;
  uint32_t* tids;  // of its threads in the order of their beginning, 0: unknown
  uint64_t* work;  // likewise: instructions of theirs in the phase of use
  uint64_t* stays; // [thread][node]: lines that it asked memory for in use, by its processor's node
  uint32_t thread_count;
  uint64_t lines; // that it has asked memory for
  bool ended;
  bool marked;          // said that its initialisation is over
  struct object rest;   // the memory that no object covers
  struct object* all;   // live and freed
  struct table by_id;   // of these
  struct object** live; // ascending by address
  size_t live_count;
  char** mappings; // as announced
  size_t mapping_count;
  char** stacks; // of its threads, as mappings: nobody names them when the thread has ended
  size_t stack_count;
  struct region* regions;
  struct region* charged; // the open region that was opened last, or NULL
  struct amount* cells;   // [PHASES][processor][to node]; NULL: none yet
};

#define PROGRAM_GENERATION UINT64_C(10000000)
#define REST_ID UINT64_MAX

#define NO_THREAD UINT32_MAX
// Of a program. The last one stands for all that are too many.
enum { THREADS_MAX = 1 << 19 };

enum { MESSAGE_BYTES_MAX = 4096 };

struct task {
  bool excluded;     // a helper
  uint32_t thread;   // of the program, see thread_of()
  bool uses;         // the last line that it asked for was use, or a repeat that may be
  uint64_t executed; // while it does not run: as a processor's
  uint64_t lines;    // that it has asked memory for
  struct program* program;
  char* message;        // what has arrived of it, NULL: none is under way
  size_t message_bytes; // that have arrived, more than are kept of one too long
  int half;             // the upper half of a byte, or -1
};

extern struct program* programs;  // all, the latest first
extern struct program nobody;     // whoever has not announced itself
extern uint64_t objects_left_out; // beyond what is kept
extern uint64_t regions_left_out;
extern uint64_t threads_left_out;

// The task whose structure is at that address of the guest's kernel; made when first seen.
struct task* task_at(uint64_t address);
// A thread or program begins: what was counted for this task before was somebody else's. Its number
// in the guest may be unknown, 0.
void task_begins(struct task*, struct program*, uint64_t tid);
// Its position among the program's threads, never given twice. A task that has not announced itself
// gets one here: of most of the kernel's nothing is ever asked.
uint32_t thread_of(struct task*);

// Without a parent (0) it is its own.
struct program* program_begins(uint64_t pid, uint64_t parent, const char* name);
// The latest of that process, or NULL.
struct program* program_of(uint64_t pid);
void program_inherits(struct program* child, const struct program* parent);
void program_forgets_mappings(struct program*);
// False if it is one too many.
bool program_adds_mapping(struct program*, const char* text);
// Once, however many threads have it one after the other. It stays when mappings are forgotten.
void program_adds_stack(struct program*, const char* text);

// NULL if it is one too many.
struct object* object_begins(struct program*, uint64_t id, uint64_t start, uint64_t bytes,
                             const char* what);
// NULL: there never was one.
struct object* object_with(const struct program*, uint64_t id);
// It is elsewhere or of another size from now on, or is there again; its account goes on.
void object_moves(struct object*, uint64_t start, uint64_t bytes);
// No longer found by address.
void object_ends(struct object*);
// The live object at that address, else the program's rest.
struct object* object_at(struct program*, uint64_t address);

void region_starts(struct program*, const char* name);
void region_stops(struct program*, const char* name);

// An array of amounts, one for each pair of nodes; `tables` such arrays.
struct amount* make_amounts(size_t tables);
struct amount* amount_of(struct amount* amounts, unsigned table, unsigned from, unsigned to);

// Between a processor and a node: of one program, and the sum of all.
struct amount* cell_amount(struct program*, enum phase, unsigned cpu, unsigned node);
struct amount cell_sum(enum phase, unsigned cpu, unsigned node);
