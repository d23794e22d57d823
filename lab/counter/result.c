// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "announcements.h"
#include "books.h"
#include "runs.h"
#include "selftest.h"
#include "sharing.h"
#include "uses.h"

enum { SHARED_LINES_TOLD = 1000, CODES_OF_OBJECT_TOLD = 16 };

static FILE* file;
static const char* const phase_names[PHASES] = {"init", "use"};

void result_open(const char* path) {
  file = fopen(path, "we");
  if (!file)
    give_up("the result %s: %s", path, strerror(errno));
}

static void write_encoded(const char* text) {
  if (*text == '\0')
    fputc('-', file);
  for (; *text; text++) {
    if (is_plain(*text))
      fputc(*text, file);
    else
      fprintf(file, "%%%02X", (unsigned char)*text);
  }
}

static void begin_file(void) {
  fputs("nodewise-counts 1\n", file);
}

// Readers reject a file without this line, so a full disk must not go unnoticed.
static void end_file(void) {
  fputs("complete\n", file);
  if (ferror(file) || fclose(file) != 0)
    fprintf(stderr, "traffic counter: the result cannot be written: %s\n", strerror(errno));
}

void write_refusal(const char* why) {
  begin_file();
  fputs("refused ", file);
  write_encoded(why);
  fputc('\n', file);
  end_file();
}

static void write_machine(void) {
  fprintf(file, "selftest %u %u\nline_bytes %d\npage_bytes %d\ncoherence 1\n",
          selftest_processors(), selftest_pages(), LINE_BYTES, PAGE_BYTES);
  for (unsigned i = 0; i < machine.caches; i++) {
    const struct cache_shape* shape = &machine.cache[i];
    fprintf(file, "cache %u %s %" PRIu64 " %u %s\n", shape->level, shape->kind, shape->bytes,
            shape->ways, shape->shared ? "node" : "core");
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

static void write_cells(void) {
  for (unsigned cpu = 0; cpu < machine.processors; cpu++)
    for (unsigned node = 0; node < machine.nodes; node++)
      for (unsigned phase = 0; phase < PHASES; phase++) {
        const struct amount sum = cell_sum(phase, cpu, node);
        const uint64_t dirty = phase == PHASE_USE ? dirty_lines[cpu][node] : 0;
        if (total_of(&sum) + dirty > 0)
          fprintf(file, "cell %u %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", cpu,
                  node, phase_names[phase], sum.lines[KIND_FILL], sum.lines[KIND_WRITE_BACK], dirty,
                  sum.lines[KIND_STREAM]);
      }
  for (unsigned cpu = 0; cpu < machine.processors; cpu++)
    if (transfers[cpu].near + transfers[cpu].far + transfers[cpu].invalidations > 0)
      fprintf(file, "transfers %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", cpu, transfers[cpu].near,
              transfers[cpu].far, transfers[cpu].invalidations);
}

static void write_id(const struct object* object) {
  if (object->id == REST_ID)
    fputs(" -", file);
  else
    fprintf(file, " %" PRIu64, object->id);
}

// The end of a record.
static void write_amount(unsigned from, unsigned to, const struct amount* sum) {
  fprintf(file, " %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", from, to, sum->lines[KIND_FILL],
          sum->lines[KIND_WRITE_BACK], sum->lines[KIND_STREAM]);
}

static void write_amounts(const struct object* object) {
  if (!object->traffic)
    return;
  for (unsigned phase = 0; phase < PHASES; phase++)
    for (unsigned from = 0; from < machine.nodes; from++)
      for (unsigned to = 0; to < machine.nodes; to++) {
        const struct amount* sum = amount_of(object->traffic, phase, from, to);
        if (total_of(sum) == 0)
          continue;
        fprintf(file, "traffic %" PRIu64, object->program->key);
        write_id(object);
        fprintf(file, " %s", phase_names[phase]);
        write_amount(from, to, sum);
      }
}

// The beginning of a record of pages.
static void write_pages_of(const char* kind, const struct object* object, uint64_t first,
                           uint64_t count) {
  const bool rest = object->id == REST_ID;
  fprintf(file, "%s %" PRIu64, kind, object->program->key);
  write_id(object);
  fprintf(file, rest ? " 0x%" PRIx64 : " %" PRIu64, rest ? first * PAGE_BYTES : first);
  fprintf(file, " %" PRIu64, count);
}

static void write_runs(const struct object* object) {
  for (size_t i = 0; i < object->run_count; i++) {
    const struct page_run* run = &object->runs[i];
    write_pages_of("pages", object, run->first, run->count);
    fprintf(file, " %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", run->memory,
            run->fills[PHASE_INIT][0], run->fills[PHASE_INIT][1], run->fills[PHASE_USE][0],
            run->fills[PHASE_USE][1], run->user);
  }
  for (size_t i = 0; i < object->touched_count; i++) {
    const struct touched_run* run = &object->touched[i];
    write_pages_of("touched", object, run->first, run->count);
    fprintf(file, " %" PRIu32 "\n", run->thread);
  }
  for (size_t i = 0; i < object->user_run_count; i++) {
    const struct user_run* run = &object->user_runs[i];
    write_pages_of("users", object, run->first, run->count);
    fprintf(file, " %u", run->by[0].memory);
    for (size_t j = 0; j < run->threads; j++)
      fprintf(file, " %" PRIu32 ":%" PRIu64, run->by[j].thread, run->by[j].lines);
    fputc('\n', file);
  }
}

static int by_lines(const void* a, const void* b) {
  const struct object_code* left = *(struct object_code* const*)a;
  const struct object_code* right = *(struct object_code* const*)b;
  if (left->lines != right->lines)
    return left->lines > right->lines ? -1 : 1;
  return left->address < right->address ? -1 : left->address > right->address;
}

static void write_codes(const struct object* object) {
  const struct object_code** all = NULL;
  size_t count = 0;
  for (const struct object_code* each = object->codes; each; each = each->next)
    if (each->lines > 0) {
      all = make_room(all, count, sizeof(struct object_code*));
      all[count++] = each;
    }
  if (count > 0)
    qsort(all, count, sizeof(struct object_code*), by_lines);
  for (size_t i = 0; i < count && i < CODES_OF_OBJECT_TOLD; i++) {
    fprintf(file, "codeuse %" PRIu64, object->program->key);
    write_id(object);
    fprintf(file, " 0x%" PRIx64 " %" PRIu64 "\n", all[i]->address, all[i]->lines);
  }
  free(all);
}

static void write_object(const struct object* object) {
  if (!object->traffic && object->run_count == 0)
    return; // no line of it ever came from memory
  if (object->id != REST_ID) {
    fprintf(file, "object %" PRIu64 " %" PRIu64 " 0x%" PRIx64 " %" PRIu64 " %s\n",
            object->program->key, object->id, object->start, object->bytes, object->what);
    if (object->freed)
      fprintf(file, "freed %" PRIu64 " %" PRIu64 "\n", object->program->key, object->id);
  }
  write_amounts(object);
  write_runs(object);
  write_codes(object);
}

static void write_regions(const struct program* program) {
  for (const struct region* region = program->regions; region; region = region->next)
    for (unsigned from = 0; from < machine.nodes; from++)
      for (unsigned to = 0; to < machine.nodes; to++) {
        const struct amount* sum = amount_of(region->traffic, 0, from, to);
        if (total_of(sum) == 0)
          continue;
        fprintf(file, "region %" PRIu64 " ", program->key);
        write_encoded(region->name);
        write_amount(from, to, sum);
      }
}

static void write_stay(const struct program* program, uint32_t thread, unsigned node) {
  const uint64_t lines = program->stays[(size_t)thread * machine.nodes + node];
  if (lines > 0)
    fprintf(file, "stay %" PRIu64 " %" PRIu32 " %u %" PRIu64 "\n", program->key, thread, node,
            lines);
}

static void write_threads(const struct program* program) {
  for (uint32_t i = 0; i < program->thread_count; i++) {
    fprintf(file, "thread %" PRIu64 " %" PRIu32, program->key, i);
    if (program->tids[i])
      fprintf(file, " %" PRIu32 "\n", program->tids[i]);
    else
      fputs(" -\n", file);
  }
  for (uint32_t i = 0; i < program->thread_count; i++)
    if (program->work[i] > 0)
      fprintf(file, "work %" PRIu64 " %" PRIu32 " %" PRIu64 "\n", program->key, i,
              program->work[i]);
  for (uint32_t i = 0; i < program->thread_count; i++)
    for (unsigned node = 0; node < machine.nodes; node++)
      write_stay(program, i, node);
}

static void write_program(const struct program* program) {
  const char* name = program == &nobody ? "-" : program->name;
  fprintf(file, "program %" PRIu64 " %" PRIu64 " %s\n", program->key, program->parent, name);
  for (size_t i = 0; i < program->stack_count; i++)
    fprintf(file, "mapping %" PRIu64 " %s\n", program->key, program->stacks[i]);
  for (size_t i = 0; i < program->mapping_count; i++)
    fprintf(file, "mapping %" PRIu64 " %s\n", program->key, program->mappings[i]);
  if (program->ended)
    fprintf(file, "ended %" PRIu64 "\n", program->key);
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
          fprintf(file, "code %" PRIu64 " 0x%" PRIx64 " %s %" PRIu64 " %" PRIu64 "\n",
                  count->program->key, code->address, phase_names[phase], count->fills[phase][0],
                  count->fills[phase][1]);
}

static void write_processors_of(uint64_t mask) {
  fputc(' ', file);
  if (mask == 0)
    fputc('-', file);
  for (unsigned cpu = 0; mask >> cpu; cpu++) {
    if (!(mask >> cpu & 1))
      continue;
    unsigned last = cpu;
    while (last + 1 < PROCESSORS_MAX && mask >> (last + 1) & 1)
      last++;
    fprintf(file, mask & ((UINT64_C(1) << cpu) - 1) ? ",%u" : "%u", cpu);
    if (last > cpu)
      fprintf(file, "-%u", last);
    cpu = last;
    if (cpu == PROCESSORS_MAX - 1)
      break;
  }
}

static int by_cost(const void* a, const void* b) {
  const struct shared_line* left = *(struct shared_line* const*)a;
  const struct shared_line* right = *(struct shared_line* const*)b;
  const uint64_t costs[] = {left->transfers + left->invalidations + rewrites_in_turn(left),
                            right->transfers + right->invalidations + rewrites_in_turn(right)};
  return costs[0] > costs[1] ? -1 : costs[0] < costs[1];
}

// False for a line that one processor writes once and others read: every result is passed so.
static bool goes_to_and_fro(const struct shared_line* line) {
  return (line->writers & (line->writers - 1)) != 0 || line->invalidations > 1;
}

static void write_shared_lines(void) {
  struct shared_line** all = allocate((shared_lines_told + 1) * sizeof *all);
  size_t count = 0;
  for (size_t i = 0; i < shared_lines.slots; i++)
    if (shared_lines.keys[i] != 0)
      for (struct shared_line* line = shared_lines.values[i]; line; line = line->before)
        if (goes_to_and_fro(line))
          all[count++] = line;
  qsort(all, count, sizeof(struct shared_line*), by_cost);
  for (size_t i = 0; i < count && i < SHARED_LINES_TOLD; i++) {
    fprintf(file, "shared %" PRIu64 " 0x%" PRIx64, all[i]->program->key, all[i]->address);
    write_id(all[i]->object);
    fprintf(file, " %" PRIu64 " %" PRIu64, all[i]->transfers, all[i]->invalidations);
    write_processors_of(all[i]->writers);
    write_processors_of(all[i]->readers);
    fprintf(file, " %d %" PRIu64 " 0x%" PRIx64 "\n", all[i]->overlap, rewrites_in_turn(all[i]),
            all[i]->code);
  }
  free(all);
}

static void write_uncounted(uint64_t count, const char* text) {
  if (count == 0)
    return;
  fprintf(file, "uncounted %" PRIu64 " ", count);
  write_encoded(text);
  fputc('\n', file);
}

static void write_what_is_missing(void) {
  uint64_t untranslated = 0;
  uint64_t accesses = 0;
  for (unsigned i = 0; i < VCPUS_MAX; i++) {
    untranslated += processors[i].untranslated;
    accesses += processors[i].accesses;
  }
  write_uncounted(untranslated, "accesses to devices, or to pages that went away meanwhile");
  write_uncounted(objects_left_out, "objects without their own account: there were too many");
  write_uncounted(regions_left_out, "regions without their own account: there were too many");
  write_uncounted(threads_left_out, "threads that are reported as one: there were too many");
  write_uncounted(object_code_left_out,
                  "lines used whose instruction and object are not reported together");
  write_uncounted(messages_lost, "announcements of programs that were cut off or invalid");
  write_uncounted(shared_lines_left_out, "transfers of lines beyond those that were watched");
  fprintf(file, "accesses %" PRIu64 "\n", accesses);
}

void write_result(void) {
  begin_file();
  write_machine();
  write_program(&nobody);
  for (const struct program* program = programs; program; program = program->next)
    write_program(program);
  write_cells();
  write_code();
  write_shared_lines();
  write_what_is_missing();
  end_file();
}
