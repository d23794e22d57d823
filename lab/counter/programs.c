// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "programs.h"

#include <stdlib.h>
#include <string.h>

#include "machine.h"

// Limits, so that a program with endless announcements cannot fill the host's memory.
enum {
  OBJECTS_MAX = 1 << 18,
  REGIONS_MAX = 1 << 10,
  MAPPINGS_MAX = 1 << 20,
  MAPPINGS_OF_PROGRAM_MAX = 1 << 16, // about the number that Linux allows
  STACKS_OF_PROGRAM_MAX = 1 << 12,   // further stacks are memory without a name
};

struct program nobody = {.rest = {.program = &nobody, .id = REST_ID}};
struct program* programs = &nobody;
uint64_t objects_left_out;
uint64_t regions_left_out;
uint64_t threads_left_out;
uint64_t messages_lost;

static struct table tasks;
static struct table latest; // program of a process
static size_t objects_kept;
static size_t regions_kept;
static size_t mappings_kept;
static uint64_t regions_opened;

struct task* task_at(uint64_t address) {
  struct task* task = table_find(&tasks, address);
  if (!task) {
    task = allocate(sizeof *task);
    task_begins(task, &nobody, 0);
    table_insert(&tasks, address, task);
  }
  return task;
}

static uint32_t add_thread(struct program* program, uint64_t tid) {
  if (program->thread_count == THREADS_MAX) {
    threads_left_out++;
    return THREADS_MAX - 1;
  }
  const size_t count = program->thread_count;
  program->threads = make_room(program->threads, count, sizeof *program->threads);
  program->threads[count] = (struct thread){.tid = count == THREADS_MAX - 1 ? 0 : (uint32_t)tid,
                                            .stays = allocate(machine.nodes * sizeof(uint64_t))};
  return program->thread_count++;
}

void task_begins(struct task* task, struct program* program, uint64_t tid) {
  task->thread = program == &nobody ? NO_THREAD : add_thread(program, tid);
  task->program = program;
  task->excluded = false;
  task->uses = false;
  task->executed = 0;
  task->lines = 0;
}

uint32_t thread_of(struct task* task) {
  if (task->thread == NO_THREAD)
    task->thread = add_thread(task->program, 0);
  return task->thread;
}

struct program* program_of(uint64_t pid) {
  return table_find(&latest, pid);
}

struct program* program_begins(uint64_t pid, uint64_t parent, const char* name) {
  const struct program* before = table_remove(&latest, pid);
  struct program* program = allocate(sizeof *program);
  program->pid = pid;
  program->index = programs->index + 1;
  program->key = before ? before->key + PROGRAM_GENERATION : pid;
  program->parent = parent ? parent : program->key;
  program->name = copy_text(name);
  program->rest.program = program;
  program->rest.id = REST_ID;
  program->next = programs;
  programs = program;
  table_insert(&latest, pid, program);
  return program;
}

void program_inherits(struct program* child, const struct program* parent) {
  for (size_t i = 0; i < parent->live_count; i++) {
    const struct object* object = parent->live[i];
    (void)object_begins(child, object->id, object->start, object->bytes, object->what);
  }
  for (size_t i = 0; i < parent->mappings.count; i++)
    (void)program_adds_mapping(child, parent->mappings.texts[i]);
  for (size_t i = 0; i < parent->stacks.count; i++)
    program_adds_stack(child, parent->stacks.texts[i]);
  child->marked = parent->marked;
}

void program_forgets_mappings(struct program* program) {
  for (size_t i = 0; i < program->mappings.count; i++)
    free(program->mappings.texts[i]);
  mappings_kept -= program->mappings.count;
  program->mappings.count = 0;
}

static bool add_text(struct mappings* to, size_t most, const char* text) {
  if (mappings_kept == MAPPINGS_MAX || to->count == most)
    return false;
  to->texts = make_room(to->texts, to->count, sizeof *to->texts);
  to->texts[to->count++] = copy_text(text);
  mappings_kept++;
  return true;
}

bool program_adds_mapping(struct program* program, const char* text) {
  return add_text(&program->mappings, MAPPINGS_OF_PROGRAM_MAX, text);
}

void program_adds_stack(struct program* program, const char* text) {
  for (size_t i = 0; i < program->stacks.count; i++)
    if (strcmp(program->stacks.texts[i], text) == 0)
      return;
  (void)add_text(&program->stacks, STACKS_OF_PROGRAM_MAX, text);
}

// The number of live objects that begin at or below the address.
static size_t live_up_to(const struct program* program, uint64_t address) {
  size_t first = 0;
  size_t last = program->live_count;
  while (first < last) {
    size_t middle = (first + last) / 2;
    if (program->live[middle]->start <= address)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

static void enter_live(struct program* program, struct object* object) {
  const size_t at = live_up_to(program, object->start);
  program->live = make_room(program->live, program->live_count, sizeof *program->live);
  memmove(program->live + at + 1, program->live + at,
          (program->live_count - at) * sizeof *program->live);
  program->live[at] = object;
  program->live_count++;
}

struct object* object_begins(struct program* program, uint64_t id, uint64_t start, uint64_t bytes,
                             const char* what) {
  if (objects_kept == OBJECTS_MAX) {
    objects_left_out++;
    return NULL;
  }
  objects_kept++;
  struct object* object = allocate(sizeof *object);
  *object = (struct object){.program = program,
                            .id = id,
                            .number = objects_kept,
                            .start = start,
                            .bytes = bytes,
                            .what = copy_text(what),
                            .next = program->all};
  program->all = object;
  table_insert(&program->by_id, id + 1, object);
  enter_live(program, object);
  return object;
}

struct object* object_with(const struct program* program, uint64_t id) {
  return table_find(&program->by_id, id + 1);
}

void object_moves(struct object* object, uint64_t start, uint64_t bytes) {
  if (!object->freed)
    object_ends(object);
  object->freed = false;
  object->start = start;
  object->bytes = bytes;
  enter_live(object->program, object);
}

void object_ends(struct object* object) {
  struct program* program = object->program;
  size_t at = live_up_to(program, object->start);
  while (at > 0 && program->live[at - 1] != object)
    at--;
  if (at == 0)
    return;
  memmove(program->live + at - 1, program->live + at,
          (program->live_count - at) * sizeof *program->live);
  program->live_count--;
  object->freed = true;
}

struct object* object_at(struct program* program, uint64_t address) {
  size_t at = live_up_to(program, address);
  if (at > 0 && address - program->live[at - 1]->start < program->live[at - 1]->bytes)
    return program->live[at - 1];
  return &program->rest;
}

static struct region* region_named(const struct program* program, const char* name) {
  struct region* region = program->regions;
  while (region && strncmp(region->name, name, REGION_NAME_BYTES - 1) != 0)
    region = region->next;
  return region;
}

static struct region* make_region(struct program* program, const char* name) {
  if (regions_kept == REGIONS_MAX) {
    regions_left_out++;
    return NULL;
  }
  regions_kept++;
  struct region* region = allocate(sizeof *region);
  strncpy(region->name, name, REGION_NAME_BYTES - 1);
  region->next = program->regions;
  program->regions = region;
  return region;
}

static void charge_latest(struct program* program) {
  program->charged = NULL;
  for (struct region* each = program->regions; each; each = each->next)
    if (each->open > 0 && (!program->charged || each->opened_at > program->charged->opened_at))
      program->charged = each;
}

void region_starts(struct program* program, const char* name) {
  struct region* region = region_named(program, name);
  if (!region)
    region = make_region(program, name);
  if (region && region->open++ == 0)
    region->opened_at = ++regions_opened;
  charge_latest(program);
}

void region_stops(struct program* program, const char* name) {
  struct region* region = region_named(program, name);
  if (region && region->open > 0)
    region->open--;
  charge_latest(program);
}

// The position in a table, which has a row for each processor or node, and in it each memory.
static size_t position_of(enum phase phase, size_t rows, unsigned row, unsigned to) {
  return (phase * rows + row) * machine.nodes + to;
}

struct amount* amount_of(struct amount** table, enum phase phase, size_t rows, unsigned row,
                         unsigned to) {
  if (!*table)
    *table = allocate(PHASES * rows * machine.nodes * sizeof **table);
  return *table + position_of(phase, rows, row, to);
}

const struct amount* amount_in(const struct amount* table, enum phase phase, size_t rows,
                               unsigned row, unsigned to) {
  static const struct amount none;
  return table ? table + position_of(phase, rows, row, to) : &none;
}

void move_to_initialisation(void* of_phases, size_t count) {
  uint64_t* init = of_phases;
  for (size_t i = 0; init && i < count; i++) {
    init[i] += init[PHASE_USE * count + i];
    init[PHASE_USE * count + i] = 0;
  }
}
