// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The tasks of the guest's kernel, the programs they belong to, and the programs' objects. Known
// from announcements; all guarded by the shared lock.
#pragma once

#include "support.h"

struct object_code;
struct page_run;
struct touched_run;
struct user_run;

enum phase { PHASE_INIT, PHASE_USE, PHASES };

// How a line goes between caches and memory. KIND_STREAM: written by a streaming store.
enum kind { KIND_FILL, KIND_WRITE_BACK, KIND_STREAM, KINDS };

struct amount {
  uint64_t lines[KINDS];
};

struct object {
  struct program* program;
  struct object* next; // of the program's list of all
  uint64_t id;
  uint64_t number; // unique; 0: the memory of a program that no object covers
  uint64_t start;
  uint64_t bytes;
  char* what; // "KIND MODULE OFFSET NAME", as announced
  bool freed;
  struct amount* traffic;    // [PHASES][from node][to node]; see amount_of()
  struct object_code* codes; // in use
  struct page_run* runs;     // see pages.h; for pages that have ended
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
  struct amount* traffic; // [from node][to node] of both phases, as PHASE_INIT; see amount_of()
};

struct mappings {
  char** texts; // as announced
  size_t count;
};

struct thread {
  uint32_t tid;    // 0: unknown
  uint64_t work;   // instructions in the phase of use
  uint64_t* stays; // lines it requested from memory in use, by its processor's node
};

struct program {
  struct program* next;
  uint64_t index; // 0 for memory of no program, then in order of their beginning
  uint64_t key; // the process id, plus PROGRAM_GENERATION for each earlier program of that process
  uint64_t parent;
  uint64_t pid;
  char* name;
  struct thread* threads; // in order of their beginning
  uint32_t thread_count;
  uint64_t lines; // that it requested from memory
  bool ended;
  bool marked;          // announced that its initialisation is over
  struct object rest;   // the memory that no object covers
  struct object* all;   // live and freed
  struct table by_id;   // of all objects
  struct object** live; // ascending by address
  size_t live_count;
  struct mappings mappings;
  struct mappings stacks; // of its threads: kept, since they have no name after the thread ends
  struct region* regions;
  struct region* charged; // the open region that was opened last, or NULL
  struct amount* cells;   // [PHASES][processor][to node]; see amount_of()
};

#define PROGRAM_GENERATION UINT64_C(10000000)
#define REST_ID UINT64_MAX

#define NO_THREAD UINT32_MAX
// Threads of a program. The last one stands for all beyond the limit.
enum { THREADS_MAX = 1 << 19 };

enum { MESSAGE_BYTES_MAX = 4096 };

struct task {
  bool excluded;     // a helper
  uint32_t thread;   // of the program, see thread_of()
  bool uses;         // its last requested line was use, or a repeat that may be use
  uint64_t executed; // like a processor's, while the task does not run
  uint64_t lines;    // that it requested from memory
  struct program* program;
  char* message;        // the bytes received so far; NULL: no message in progress
  size_t message_bytes; // bytes received; may exceed those kept of a message that is too long
  int half;             // the upper half of a byte, or -1
};

extern struct program* programs;  // all, from the latest to the one below
extern struct program nobody;     // all tasks that have not announced themselves
extern uint64_t objects_left_out; // beyond what is kept
extern uint64_t regions_left_out;
extern uint64_t threads_left_out;
extern uint64_t messages_lost;

// The task whose structure is at that address of the guest's kernel; created when first seen.
struct task* task_at(uint64_t address);
// A thread or program begins: earlier counts of this task belong to another thread. `tid` is its
// number in the guest, or 0 if unknown.
void task_begins(struct task*, struct program*, uint64_t tid);
// Its unique position among the program's threads. A task that has not announced itself gets one on
// its first call here: most kernel tasks never need one.
uint32_t thread_of(struct task*);

// A program without a parent (0) is its own parent.
struct program* program_begins(uint64_t pid, uint64_t parent, const char* name);
// The latest program of that process, or NULL.
struct program* program_of(uint64_t pid);
void program_inherits(struct program* child, const struct program* parent);
void program_forgets_mappings(struct program*);
// False beyond the limit.
bool program_adds_mapping(struct program*, const char* text);
// Adds a stack only once, even if several threads use it in turn. program_forgets_mappings() keeps
// it. Ignores stacks beyond the limit.
void program_adds_stack(struct program*, const char* text);

// NULL beyond the limit.
struct object* object_begins(struct program*, uint64_t id, uint64_t start, uint64_t bytes,
                             const char* what);
// NULL if there never was one.
struct object* object_with(const struct program*, uint64_t id);
// The object has another address or size from now on, or exists again; keeps its account.
void object_moves(struct object*, uint64_t start, uint64_t bytes);
// The object ends: object_at() no longer finds it.
void object_ends(struct object*);
// The live object at that address, else the program's rest.
struct object* object_at(struct program*, uint64_t address);

void region_starts(struct program*, const char* name);
void region_stops(struct program*, const char* name);

// Traffic by phase, row (a processor or its node) and memory. Nothing, NULL, until amount_of()
// first needs it.
struct amount* amount_of(struct amount** table, enum phase, size_t rows, unsigned row, unsigned to);
const struct amount* amount_in(const struct amount* table, enum phase, size_t rows, unsigned row,
                               unsigned to);
// `of_phases` has `count` numbers for each phase, or is NULL: those of use become initialisation.
void move_to_initialisation(void* of_phases, size_t count);
