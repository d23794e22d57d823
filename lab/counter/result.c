// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "pages.h"
#include "selftest.h"
#include "sharing.h"

enum { SHARED_LINES_TOLD = 1000, CODES_OF_OBJECT_TOLD = 16, TEXT_BYTES_MAX = 128 };

static FILE* file;
static const char* const phase_names[PHASES] = {"init", "use"};

void result_open(const char* path) {
  file = fopen(path, "we");
  if (!file)
    give_up("the result %s: %s", path, strerror(errno));
}

// A text of ours, or a region's name, as one word. Valid until the next call.
static const char* encoded(const char* text) {
  static char word[3 * TEXT_BYTES_MAX + 1];
  char* end = word;
  for (size_t i = 0; text[i] && i < TEXT_BYTES_MAX; i++)
    end += sprintf(end, is_plain(text[i]) ? "%c" : "%%%02X", (unsigned char)text[i]);
  return end == word ? "-" : word;
}

// Readers reject a file without this line, so a full disk must not go unnoticed.
static void end_file(void) {
  fputs("complete\n", file);
  if (ferror(file) || fclose(file) != 0)
    fprintf(stderr, "traffic counter: the result cannot be written: %s\n", strerror(errno));
}

void write_refusal(const char* why) {
  fprintf(file, "nodewise-counts 1\nrefused %s\n", encoded(why));
  end_file();
}

static void write_machine(void) {
  fprintf(file, "selftest %u %u\nline_bytes %d\npage_bytes %d\ncoherence 1\n", selftest_processors,
          selftest_pages, LINE_BYTES, PAGE_BYTES);
  for (unsigned i = 0; i < machine.caches; i++) {
    const struct cache_shape* shape = &machine.cache[i];
    fprintf(file, "cache %u %s %lu %u %s\n", shape->level, shape->kind, shape->bytes, shape->ways,
            shape->shared ? "node" : "core");
  }
  for (unsigned cpu = 0; cpu < machine.processors; cpu++)
    fprintf(file, "processor %u %u\n", cpu, machine.node_of[cpu]);
  for (unsigned i = 0; i < machine.memories; i++)
    if (machine.memory_bytes[i] > 0)
      fprintf(file, "memory %u\n", machine.memory_node[i]);
}

static uint64_t total_of(const struct amount* sum) {
  return sum->lines[KIND_FILL] + sum->lines[KIND_WRITE_BACK] + sum->lines[KIND_STREAM];
}

static struct amount cell_sum(enum phase phase, unsigned cpu, unsigned node) {
  struct amount sum = {0};
  for (const struct program* program = programs; program; program = program->next)
    for (enum kind kind = 0; kind < KINDS; kind++)
      sum.lines[kind] +=
          amount_in(program->cells, phase, machine.processors, cpu, node)->lines[kind];
  return sum;
}

static void write_cells(void) {
  for (unsigned cpu = 0; cpu < machine.processors; cpu++)
    for (unsigned node = 0; node < machine.nodes; node++)
      for (unsigned phase = 0; phase < PHASES; phase++) {
        const struct amount sum = cell_sum(phase, cpu, node);
        const uint64_t dirty = phase == PHASE_USE ? dirty_lines[cpu][node] : 0;
        if (total_of(&sum) + dirty > 0)
          fprintf(file, "cell %u %u %s %lu %lu %lu %lu\n", cpu, node, phase_names[phase],
                  sum.lines[KIND_FILL], sum.lines[KIND_WRITE_BACK], dirty, sum.lines[KIND_STREAM]);
      }
  for (unsigned cpu = 0; cpu < machine.processors; cpu++) {
    const struct transfers* of = &transfers[cpu];
    if (of->near + of->far + of->invalidations > 0)
      fprintf(file, "transfers %u %lu %lu %lu\n", cpu, of->near, of->far, of->invalidations);
  }
}

// Valid until the next call.
static const char* id_of(const struct object* object) {
  static char text[24];
  snprintf(text, sizeof text, "%lu", object->id);
  return object->id == REST_ID ? "-" : text;
}

// A record for each pair of nodes; `head` is its beginning.
static void write_amounts(const char* head, const struct amount* traffic, enum phase phase) {
  for (unsigned from = 0; from < machine.nodes; from++)
    for (unsigned to = 0; to < machine.nodes; to++) {
      const struct amount* sum = amount_in(traffic, phase, machine.nodes, from, to);
      if (total_of(sum) > 0)
        fprintf(file, "%s %u %u %lu %lu %lu\n", head, from, to, sum->lines[KIND_FILL],
                sum->lines[KIND_WRITE_BACK], sum->lines[KIND_STREAM]);
    }
}

static void write_traffic(const struct object* object) {
  char head[80];
  for (enum phase phase = 0; phase < PHASES; phase++) {
    snprintf(head, sizeof head, "traffic %lu %s %s", object->program->key, id_of(object),
             phase_names[phase]);
    write_amounts(head, object->traffic, phase);
  }
}

// The beginning of a record of pages.
static void write_pages_of(const char* kind, const struct object* object, uint64_t first,
                           uint64_t count) {
  const bool rest = object->id == REST_ID;
  fprintf(file, rest ? "%s %lu %s 0x%lx %lu" : "%s %lu %s %lu %lu", kind, object->program->key,
          id_of(object), rest ? first * PAGE_BYTES : first, count);
}

static void write_runs(const struct object* object) {
  for (size_t i = 0; i < object->run_count; i++) {
    const struct page_run* run = &object->runs[i];
    write_pages_of("pages", object, run->first, run->count);
    fprintf(file, " %d %lu %lu %lu %lu %d\n", run->memory, run->fills[PHASE_INIT][0],
            run->fills[PHASE_INIT][1], run->fills[PHASE_USE][0], run->fills[PHASE_USE][1],
            run->user);
  }
  for (size_t i = 0; i < object->touched_count; i++) {
    const struct touched_run* run = &object->touched[i];
    write_pages_of("touched", object, run->first, run->count);
    fprintf(file, " %u\n", run->thread);
  }
  for (size_t i = 0; i < object->user_run_count; i++) {
    const struct user_run* run = &object->user_runs[i];
    write_pages_of("users", object, run->first, run->count);
    fprintf(file, " %u", run->by[0].memory);
    for (size_t j = 0; j < run->threads; j++)
      fprintf(file, " %u:%lu", run->by[j].thread, run->by[j].lines);
    fputc('\n', file);
  }
}

static int by_lines(const void* a, const void* b) {
  const struct object_code* left = *(struct object_code* const*)a;
  const struct object_code* right = *(struct object_code* const*)b;
  const int more_first = compare(right->lines, left->lines);
  return more_first != 0 ? more_first : compare(left->address, right->address);
}

static void write_codes(const struct object* object) {
  const struct object_code** all = NULL;
  size_t count = 0;
  for (const struct object_code* each = object->codes; each; each = each->next)
    if (each->lines > 0) {
      all = make_room(all, count, sizeof *all);
      all[count++] = each;
    }
  if (count > 0)
    qsort(all, count, sizeof *all, by_lines);
  for (size_t i = 0; i < count && i < CODES_OF_OBJECT_TOLD; i++)
    fprintf(file, "codeuse %lu %s 0x%lx %lu\n", object->program->key, id_of(object),
            all[i]->address, all[i]->lines);
  free(all);
}

static void write_object(const struct object* object) {
  if (!object->traffic && object->run_count == 0)
    return; // no line of it ever came from memory
  if (object->id != REST_ID) {
    fprintf(file, "object %lu %lu 0x%lx %lu %s\n", object->program->key, object->id, object->start,
            object->bytes, object->what);
    if (object->freed)
      fprintf(file, "freed %lu %lu\n", object->program->key, object->id);
  }
  write_traffic(object);
  write_runs(object);
  write_codes(object);
}

static void write_regions(const struct program* program) {
  char head[40 + 3 * TEXT_BYTES_MAX];
  for (const struct region* region = program->regions; region; region = region->next) {
    snprintf(head, sizeof head, "region %lu %s", program->key, encoded(region->name));
    write_amounts(head, region->traffic, PHASE_INIT);
  }
}

static void write_threads(const struct program* program) {
  const struct thread* threads = program->threads;
  for (uint32_t i = 0; i < program->thread_count; i++) {
    if (threads[i].tid)
      fprintf(file, "thread %lu %u %u\n", program->key, i, threads[i].tid);
    else
      fprintf(file, "thread %lu %u -\n", program->key, i);
  }
  for (uint32_t i = 0; i < program->thread_count; i++)
    if (threads[i].work > 0)
      fprintf(file, "work %lu %u %lu\n", program->key, i, threads[i].work);
  for (uint32_t i = 0; i < program->thread_count; i++)
    for (unsigned node = 0; node < machine.nodes; node++)
      if (threads[i].stays[node] > 0)
        fprintf(file, "stay %lu %u %u %lu\n", program->key, i, node, threads[i].stays[node]);
}

static void write_program(const struct program* program) {
  const char* name = program == &nobody ? "-" : program->name;
  fprintf(file, "program %lu %lu %s\n", program->key, program->parent, name);
  for (size_t i = 0; i < program->stacks.count; i++)
    fprintf(file, "mapping %lu %s\n", program->key, program->stacks.texts[i]);
  for (size_t i = 0; i < program->mappings.count; i++)
    fprintf(file, "mapping %lu %s\n", program->key, program->mappings.texts[i]);
  if (program->ended)
    fprintf(file, "ended %lu\n", program->key);
  write_threads(program);
  write_object(&program->rest);
  for (const struct object* object = program->all; object; object = object->next)
    write_object(object);
  write_regions(program);
}

static void write_code(void) {
  for (const struct code* code = codes; code; code = code->next)
    for (const struct code_count* count = code->counts; count; count = count->next)
      for (unsigned phase = 0; phase < PHASES; phase++)
        if (count->fills[phase][0] + count->fills[phase][1] > 0)
          fprintf(file, "code %lu 0x%lx %s %lu %lu\n", count->program->key, code->address,
                  phase_names[phase], count->fills[phase][0], count->fills[phase][1]);
}

static void write_processors_of(uint64_t mask) {
  const char* separator = " ";
  if (mask == 0)
    fputs(" -", file);
  for (unsigned cpu = 0; cpu < PROCESSORS_MAX; cpu++) {
    if (!(mask >> cpu & 1))
      continue;
    fprintf(file, "%s%u", separator, cpu);
    separator = ",";
    const unsigned first = cpu;
    while (cpu + 1 < PROCESSORS_MAX && mask >> (cpu + 1) & 1)
      cpu++;
    if (cpu > first)
      fprintf(file, "-%u", cpu);
  }
}

static uint64_t cost_of(const struct shared_line* line) {
  return line->transfers + line->invalidations + rewrites_in_turn(line);
}

static int by_cost(const void* a, const void* b) {
  const struct shared_line* left = *(struct shared_line* const*)a;
  const struct shared_line* right = *(struct shared_line* const*)b;
  return compare(cost_of(right), cost_of(left));
}

// False for a line that one processor writes once and others read: every result is passed so.
static bool goes_to_and_fro(const struct shared_line* line) {
  return has_several(line->writers) || line->invalidations > 1;
}

static void write_shared_lines(void) {
  struct shared_line** all = allocate((shared_lines_told + 1) * sizeof *all);
  size_t count = 0;
  for (size_t i = 0; i < shared_lines.slots; i++)
    if (shared_lines.keys[i] != 0)
      for (struct shared_line* line = shared_lines.values[i]; line; line = line->before)
        if (goes_to_and_fro(line))
          all[count++] = line;
  qsort(all, count, sizeof *all, by_cost);
  for (size_t i = 0; i < count && i < SHARED_LINES_TOLD; i++) {
    const struct shared_line* line = all[i];
    fprintf(file, "shared %lu 0x%lx %s %lu %lu", line->program->key, line->address,
            id_of(line->object), line->transfers, line->invalidations);
    write_processors_of(line->writers);
    write_processors_of(line->readers);
    fprintf(file, " %d %lu 0x%lx\n", line->overlap, rewrites_in_turn(line), line->code);
  }
  free(all);
}

static void write_what_is_missing(void) {
  uint64_t untranslated = 0;
  uint64_t misread = 0;
  uint64_t accesses = 0;
  for (unsigned i = 0; i < VCPUS_MAX; i++) {
    untranslated += processors[i].untranslated;
    misread += processors[i].misread;
    accesses += processors[i].accesses;
  }
  const struct {
    uint64_t count;
    const char* what;
  } missing[] = {
      {untranslated, "accesses to devices, or to pages that went away meanwhile"},
      {misread, "gathers by register xmm4 or ymm4, of which this QEMU reads the wrong elements"},
      {objects_left_out, "objects without their own account: there were too many"},
      {regions_left_out, "regions without their own account: there were too many"},
      {threads_left_out, "threads that are reported as one: there were too many"},
      {object_code_left_out, "lines used whose instruction and object are not reported together"},
      {messages_lost, "announcements of programs that were cut off or invalid"},
      {shared_lines_left_out, "transfers of lines beyond those that were watched"},
  };
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
    if (missing[i].count > 0)
      fprintf(file, "uncounted %lu %s\n", missing[i].count, encoded(missing[i].what));
  fprintf(file, "accesses %lu\n", accesses);
}

void write_result(void) {
  fputs("nodewise-counts 1\n", file);
  write_machine();
  write_program(&nobody);
  for (const struct program* program = programs; program != &nobody; program = program->next)
    write_program(program);
  write_cells();
  write_code();
  write_shared_lines();
  write_what_is_missing();
  end_file();
}
