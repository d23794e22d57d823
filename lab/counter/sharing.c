// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "sharing.h"

#include "pages.h"

enum { SHARED_LINES_MAX = 1 << 16 };
struct transfers transfers[PROCESSORS_MAX];
struct table shared_lines;
size_t shared_lines_told;
uint64_t shared_lines_left_out;

static uint64_t line_address(const struct access* access) {
  return access->address & ~(uint64_t)(LINE_BYTES - 1);
}

// Whether the line is other memory now: its program has ended, or never announced itself, or has it
// at another address, or the record has a kernel address, as when the kernel clears a page before a
// program gets it. An access by the kernel itself leaves the line as it is.
static bool is_past(const struct shared_line* line, const struct access* access) {
  const bool by_kernel = access->address >> 63;
  if (by_kernel)
    return false;
  if (line->program == &nobody) // stands for several programs
    return access->page->program != &nobody;
  if (line->program != access->page->program)
    return line->program->ended;
  return line->address != line_address(access);
}

static struct shared_line* shared_line_of(const struct access* access) {
  struct shared_line* before = table_find(&shared_lines, access->line);
  if (before && !is_past(before, access))
    return before;
  if (shared_lines_told == SHARED_LINES_MAX) {
    shared_lines_left_out++;
    return NULL;
  }
  shared_lines_told++;
  struct shared_line* line = allocate(sizeof *line);
  *line = (struct shared_line){.before = before,
                               .program = access->page->program,
                               .object = object_in(access->page, access->address),
                               .address = line_address(access),
                               .turn = SHARERS_TOLD};
  if (before) {
    (void)table_remove(&shared_lines, access->line);
    caches_watch(access->line, false);
  }
  table_insert(&shared_lines, access->line, line);
  return line;
}

// The processor's place among the recorded ones, or SHARERS_TOLD.
static unsigned place_of_writer(struct shared_line* line, unsigned cpu, uint64_t bytes) {
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
  line->writers |= bit(cpu);
  return own;
}

static void note_code(struct shared_line* line, uint64_t address) {
  if (line->votes == 0)
    line->code = address;
  if (line->code == address)
    line->votes++;
  else
    line->votes--;
}

static void note_store(struct shared_line* line, const struct access* access) {
  const uint64_t bytes = bytes_in_line(access->address, access->operation.bytes);
  const unsigned own = place_of_writer(line, access->cpu, bytes);
  if (line->turn != own)
    line->written = 0;
  if (own < SHARERS_TOLD)
    line->rewrites[own] += (bytes & ~line->written) == 0;
  line->turn = own;
  line->written |= bytes;
  note_code(line, access->code->address);
  const bool false_sharing = has_several(line->writers) && !line->overlap;
  if (false_sharing != caches_watches(access->line))
    caches_watch(access->line, false_sharing);
}

// Examines a store to a line that only its processor holds.
static void look_at(const struct access* access) {
  struct shared_line* line = table_find(&shared_lines, access->line);
  if (line->program == access->page->program && line->address == line_address(access))
    note_store(line, access);
  else
    caches_watch(access->line, false); // other memory is there now
}

uint64_t rewrites_in_turn(const struct shared_line* line) {
  uint64_t sum = 0;
  uint64_t most = 0;
  if (line->overlap)
    return 0;
  for (unsigned i = 0; i < line->sharers; i++) {
    sum += line->rewrites[i];
    most = line->rewrites[i] > most ? line->rewrites[i] : most;
  }
  const uint64_t others = sum - most;
  return others < most ? 2 * others : sum;
}

void book_sharing(const struct access* access, struct cache_answer answer) {
  const bool moved = answer.source == SOURCE_NEAR_CORE || answer.source == SOURCE_FAR_CORE;
  if (!moved && answer.invalidations == 0) {
    if (access->operation.store && caches_watches(access->line))
      look_at(access);
    return;
  }
  struct transfers* sum = &transfers[access->cpu];
  sum->near += answer.source == SOURCE_NEAR_CORE;
  sum->far += answer.source == SOURCE_FAR_CORE;
  sum->invalidations += answer.invalidations;
  struct shared_line* line = shared_line_of(access);
  if (!line)
    return;
  line->transfers += moved;
  line->invalidations += answer.invalidations;
  line->written = 0;
  if (access->operation.store)
    note_store(line, access);
  else
    line->readers |= bit(access->cpu);
}
