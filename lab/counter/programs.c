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

struct program* programs;
struct program nobody = {.rest = {.program = &nobody, .id = REST_ID}};
uint64_t objects_left_out;
uint64_t regions_left_out;
uint64_t threads_left_out;

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
  program->tids = make_room(program->tids, program->thread_count, sizeof *program->tids);
  program->work = make_room(program->work, program->thread_count, sizeof *program->work);
  program->work[program->thread_count] = 0;
  const size_t stays = (size_t)machine.nodes * sizeof *program->stays;
  program->stays = make_room(program->stays, program->thread_count, stays);
  memset(program->stays + (size_t)program->thread_count * machine.nodes, 0, stays);
  program->tids[program->thread_count] =
      program->thread_count == THREADS_MAX - 1 ? 0 : (uint32_t)tid;
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
  program->index = programs ? programs->index + 1 : 1;
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
  for (size_t i = 0; i < parent->mapping_count; i++)
    (void)program_adds_mapping(child, parent->mappings[i]);
  for (size_t i = 0; i < parent->stack_count; i++)
    program_adds_stack(child, parent->stacks[i]);
  child->marked = parent->marked;
}

void program_forgets_mappings(struct program* program) {
  for (size_t i = 0; i < program->mapping_count; i++)
    free(program->mappings[i]);
  mappings_kept -= program->mapping_count;
  program->mapping_count = 0;
}

bool program_adds_mapping(struct program* program, const char* text) {
  if (mappings_kept == MAPPINGS_MAX || program->mapping_count == MAPPINGS_OF_PROGRAM_MAX)
    return false;
  const size_t bytes = (program->mapping_count + 1) * sizeof *program->mappings;
  program->mappings = reallocate(program->mappings, bytes);
  program->mappings[program->mapping_count++] = copy_text(text);
  mappings_kept++;
  return true;
}

void program_adds_stack(struct program* program, const char* text) {
  if (mappings_kept == MAPPINGS_MAX || program->stack_count == STACKS_OF_PROGRAM_MAX)
    return;
  for (size_t i = 0; i < program->stack_count; i++)
    if (strcmp(program->stacks[i], text) == 0)
      return;
  const size_t bytes = (program->stack_count + 1) * sizeof *program->stacks;
  program->stacks = reallocate(program->stacks, bytes);
  program->stacks[program->stack_count++] = copy_text(text);
  mappings_kept++;
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
  program->live = reallocate(program->live, (program->live_count + 1) * sizeof(struct object*));
  memmove(program->live + at + 1, program->live + at,
          (program->live_count - at) * sizeof(struct object*));
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
          (program->live_count - at) * sizeof(struct object*));
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
  region->traffic = make_amounts(1);
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

struct amount* make_amounts(size_t arrays) {
  return allocate(arrays * machine.nodes * machine.nodes * sizeof(struct amount));
}

void add_amount(struct amount* sum, const struct amount* part) {
  for (enum kind kind = 0; kind < KINDS; kind++)
    sum->lines[kind] += part->lines[kind];
}

struct amount* amount_of(struct amount* amounts, unsigned array, unsigned from, unsigned to) {
  return &amounts[((size_t)array * machine.nodes + from) * machine.nodes + to];
}

static struct amount* cell_of(const struct program* program, enum phase phase, unsigned cpu,
                              unsigned node) {
  return &program->cells[((size_t)phase * machine.processors + cpu) * machine.nodes + node];
}

struct amount* cell_amount(struct program* program, enum phase phase, unsigned cpu, unsigned node) {
  if (!program->cells)
    program->cells =
        allocate((size_t)PHASES * machine.processors * machine.nodes * sizeof *program->cells);
  return cell_of(program, phase, cpu, node);
}

static void add_cell(struct amount* sum, const struct program* program, enum phase phase,
                     unsigned cpu, unsigned node) {
  if (program->cells)
    add_amount(sum, cell_of(program, phase, cpu, node));
}

struct amount cell_sum(enum phase phase, unsigned cpu, unsigned node) {
  struct amount sum = {0};
  add_cell(&sum, &nobody, phase, cpu, node);
  for (const struct program* program = programs; program; program = program->next)
    add_cell(&sum, program, phase, cpu, node);
  return sum;
}
