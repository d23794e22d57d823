// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "sharing.h"

enum { SHARED_LINES_MAX = 1 << 16 };
struct transfers transfers[PROCESSORS_MAX];
struct table shared_lines;
uint64_t shared_lines_left_out;

static uint64_t bytes_of(const struct access* access) {
  const unsigned first = access->address % LINE_BYTES;
  const uint64_t mask =
      access->operation.bytes >= 64 ? UINT64_MAX : (UINT64_C(1) << access->operation.bytes) - 1;
  return mask << first;
}

static struct shared_line* shared_line_of(const struct access* access) {
  struct shared_line* line = table_find(&shared_lines, access->line);
  if (line)
    return line;
  if (shared_lines.used == SHARED_LINES_MAX) {
    shared_lines_left_out++;
    return NULL;
  }
  line = allocate(sizeof *line);
  line->program = access->page->program;
  line->address = access->address & ~(uint64_t)(LINE_BYTES - 1);
  line->object =
      access->page->object ? access->page->object : object_at(line->program, access->address);
  table_insert(&shared_lines, access->line, line);
  return line;
}

static void note_writer(struct shared_line* line, unsigned cpu, uint64_t bytes) {
  unsigned own = SHARERS_TOLD;
  for (unsigned i = 0; i < line->sharers; i++) {
    if (line->cpu[i] == cpu)
      own = i;
    else if (line->bytes[i] & bytes)
      line->overlap = true;
  }
  if (own == SHARERS_TOLD && line->sharers < SHARERS_TOLD) {
    own = line->sharers++;
    line->cpu[own] = (unsigned char)cpu;
  }
  if (own < SHARERS_TOLD)
    line->bytes[own] |= bytes;
  line->writers |= UINT64_C(1) << cpu;
}

void book_sharing(const struct access* access, struct cache_answer answer) {
  const bool moved = answer.source == SOURCE_NEAR_CORE || answer.source == SOURCE_FAR_CORE;
  if (!moved && answer.invalidations == 0)
    return;
  struct transfers* sum = &transfers[access->cpu];
  sum->near += answer.source == SOURCE_NEAR_CORE;
  sum->far += answer.source == SOURCE_FAR_CORE;
  sum->invalidations += answer.invalidations;
  struct shared_line* line = shared_line_of(access);
  if (!line)
    return;
  line->transfers += moved;
  line->invalidations += answer.invalidations;
  if (access->operation.store)
    note_writer(line, access->cpu, bytes_of(access));
  else
    line->readers |= UINT64_C(1) << access->cpu;
}
