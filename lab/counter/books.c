// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "books.h"

#include <stdlib.h>

struct code* codes;
struct cell cells[PROCESSORS_MAX][NODES_MAX];
struct transfers transfers[PROCESSORS_MAX];

static struct table code_table;
static struct table pages;    // by program and number
static struct page** page_in; // by page of guest memory
static unsigned acting_cpu;   // whose access it is that sends lines back

void books_prepare(void) {
  page_in = reserve(machine_memory_bytes() / PAGE_BYTES * sizeof(struct page*));
}

struct code* code_at(uint64_t address) {
  struct code* code = table_find(&code_table, address);
  if (!code) {
    code = allocate(sizeof *code);
    *code = (struct code){.address = address, .info = UINT32_MAX, .next = codes};
    codes = code;
    table_insert(&code_table, address, code);
  }
  return code;
}

static struct code_count* count_of(struct code* code, struct program* program) {
  struct code_count** link = &code->counts;
  while (*link && (*link)->program != program)
    link = &(*link)->next;
  struct code_count* count = *link;
  if (count == code->counts && count)
    return count;
  if (count)
    *link = count->next;
  else {
    count = allocate(sizeof *count);
    count->program = program;
  }
  count->next = code->counts;
  code->counts = count;
  return count;
}

// User addresses have 47 bits, so page numbers 35.
static uint64_t page_key(const struct program* program, uint64_t number) {
  return program->index << 36 | (number + 1);
}

static bool covers_page(const struct object* object, uint64_t number) {
  const uint64_t first = number * PAGE_BYTES;
  return object->start <= first && first - object->start + PAGE_BYTES <= object->bytes;
}

// NULL: part of an object, part not, or objects next to each other.
static struct object* only_object(struct program* program, uint64_t number) {
  struct object* first = object_at(program, number * PAGE_BYTES);
  if (first->id != REST_ID)
    return covers_page(first, number) ? first : NULL;
  for (uint64_t line = 1; line < LINES_A_PAGE; line++)
    if (object_at(program, number * PAGE_BYTES + line * LINE_BYTES) != first)
      return NULL;
  return first;
}

struct page* page_at(struct program* program, uint64_t number) {
  const uint64_t key = page_key(program, number);
  struct page* page = table_find(&pages, key);
  if (!page) {
    page = allocate(sizeof *page + machine.nodes * sizeof page->used_from[0]);
    page->program = program;
    page->number = number;
    page->memory = -1;
    page->object = only_object(program, number);
    table_insert(&pages, key, page);
  }
  return page;
}

void page_is_in(struct page* page, uint64_t frame) {
  page_in[frame] = page;
}

static struct amount* object_amount(struct object* object, enum phase phase, unsigned from,
                                    unsigned to) {
  if (!object->traffic)
    object->traffic = make_amounts(PHASES);
  return amount_of(object->traffic, phase, from, to);
}

// One kind of an amount, so that what is booked is one number: where in struct amount it is.
enum kind { KIND_FILL, KIND_WRITE_BACK, KIND_STREAM, KINDS };

static void add(struct amount* sum, enum kind kind, uint32_t count) {
  (kind == KIND_FILL         ? &sum->fills
   : kind == KIND_WRITE_BACK ? &sum->write_backs
                             : &sum->streams)[0] += count;
}

static void book(struct page* page, const struct account* to, enum phase phase, enum kind kind,
                 uint32_t count) {
  const unsigned from = machine.node_of[to->cpu];
  add(&cells[to->cpu][to->memory].amount[phase], kind, count);
  add(object_amount(to->object, phase, from, to->memory), kind, count);
  if (to->region)
    add(amount_of(to->region->traffic, 0, from, to->memory), kind, count);
  if (kind != KIND_FILL)
    return;
  const bool remote = from != to->memory;
  to->code->fills[phase][remote] += count;
  page->fills[phase][remote] += count;
  if (phase == PHASE_USE)
    page->used_from[from] += count;
}

static void settle(struct page* page, enum phase phase) {
  for (unsigned i = 0; i < page->repeat_count; i++) {
    const struct repeat* each = &page->repeats[i];
    if (each->fills > 0)
      book(page, &each->account, phase, KIND_FILL, each->fills);
    if (each->write_backs > 0)
      book(page, &each->account, phase, KIND_WRITE_BACK, each->write_backs);
    if (each->streams > 0)
      book(page, &each->account, phase, KIND_STREAM, each->streams);
  }
  free(page->repeats);
  page->repeats = NULL;
  page->repeat_count = 0;
}

static bool is_same(const struct account* a, const struct account* b) {
  return a->code == b->code && a->object == b->object && a->region == b->region &&
         a->cpu == b->cpu && a->memory == b->memory;
}

static struct repeat* repeat_of(struct page* page, const struct account* to) {
  for (unsigned i = 0; i < page->repeat_count; i++)
    if (is_same(&page->repeats[i].account, to))
      return &page->repeats[i];
  const unsigned count = page->repeat_count++;
  if ((count & (count - 1)) == 0) // grows at 0, 1, 2, 4, ...
    page->repeats = reallocate(page->repeats, (count ? 2 * count : 1) * sizeof *page->repeats);
  page->repeats[count] = (struct repeat){.account = *to};
  return &page->repeats[count];
}

static void hold_back(struct page* page, const struct account* to, enum kind kind) {
  struct repeat* repeat = repeat_of(page, to);
  repeat->fills += kind == KIND_FILL;
  repeat->write_backs += kind == KIND_WRITE_BACK;
  repeat->streams += kind == KIND_STREAM;
}

static void begin_use(struct page* page) {
  settle(page, PHASE_INIT);
  page->used = true;
}

// Sets the line's bit. True if it was set.
static bool mark(uint64_t* lines, uint64_t line) {
  const uint64_t bit = UINT64_C(1) << (line % LINES_A_PAGE);
  const bool before = *lines & bit;
  *lines |= bit;
  return before;
}

static void book_by_phase(struct page* page, const struct account* to, enum kind kind, bool again) {
  if (page->used)
    book(page, to, PHASE_USE, kind, 1);
  else if (again)
    hold_back(page, to, kind);
  else
    book(page, to, PHASE_INIT, kind, 1);
}

static void notice_thread(struct page* page, uint64_t thread) {
  if (page->thread == 0)
    page->thread = thread;
  if (!page->used && (page->thread != thread || page->program->marked))
    begin_use(page);
}

static void book_from_memory(const struct access* access, enum kind kind) {
  struct page* page = access->page;
  const struct account to = {.object = page->object ? page->object
                                                    : object_at(page->program, access->address),
                             .code = count_of(access->code, page->program),
                             .region = page->program->charged,
                             .cpu = (uint8_t)access->cpu,
                             .memory = (uint8_t)node_of_line(access->line)};
  page->memory = to.memory;
  book_by_phase(page, &to, kind, mark(&page->seen, access->line));
}

static uint64_t bytes_of(const struct access* access) {
  const unsigned first = access->address % LINE_BYTES;
  const uint64_t mask =
      access->operation.bytes >= 64 ? UINT64_MAX : (UINT64_C(1) << access->operation.bytes) - 1;
  return mask << first;
}

enum { SHARED_LINES_MAX = 1 << 16 };
struct table shared_lines;
uint64_t shared_lines_left_out;

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

static void book_sharing(const struct access* access, struct cache_answer answer) {
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

void book_access(const struct access* access, struct cache_answer answer) {
  notice_thread(access->page, access->task->thread);
  if (answer.source == SOURCE_MEMORY)
    book_from_memory(access, KIND_FILL);
  book_sharing(access, answer);
}

void book_stream(const struct access* access) {
  notice_thread(access->page, access->task->thread);
  book_from_memory(access, KIND_STREAM);
}

void books_act_for(unsigned cpu) {
  acting_cpu = cpu;
}

void written_back(uint64_t line) {
  struct page* page = page_in[line / LINES_A_PAGE]; // the line was used, so its page is known
  const uint64_t address = page->number * PAGE_BYTES + line % LINES_A_PAGE * LINE_BYTES;
  const struct account to = {.object =
                                 page->object ? page->object : object_at(page->program, address),
                             .cpu = (uint8_t)acting_cpu,
                             .memory = (uint8_t)node_of_line(line)};
  book_by_phase(page, &to, KIND_WRITE_BACK, mark(&page->returned, line));
}

static int most_frequent_user(const struct page* page) {
  int most = -1;
  for (unsigned node = 0; node < machine.nodes; node++)
    if (page->used_from[node] > (most < 0 ? 0 : page->used_from[most]))
      most = (int)node;
  return most;
}

static void add_run(struct object* object, const struct page* page) {
  const int user = most_frequent_user(page);
  struct page_run* last = object->run_count ? &object->runs[object->run_count - 1] : NULL;
  if (!last || last->first + last->count != page->number || last->memory != page->memory ||
      last->user != user) {
    object->runs = reallocate(object->runs, (object->run_count + 1) * sizeof *object->runs);
    last = &object->runs[object->run_count++];
    *last = (struct page_run){.first = page->number, .memory = page->memory, .user = user};
  }
  last->count++;
  for (unsigned phase = 0; phase < PHASES; phase++)
    for (unsigned remote = 0; remote < 2; remote++)
      last->fills[phase][remote] += page->fills[phase][remote];
}

// What it counted stays in its object's account.
static void end_page(struct page* page) {
  settle(page, PHASE_USE);
  struct object* object = page->object;
  if (!object)
    object = object_at(page->program, page->number * PAGE_BYTES);
  add_run(object, page);
  // Lines of it may still leave the caches: from here on they are nobody's in particular.
  page->object = &page->program->rest;
  page->used = true;
}

void end_pages(struct program* program, uint64_t start, uint64_t bytes) {
  const uint64_t last = (start + bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  for (uint64_t number = start / PAGE_BYTES; number < last; number++) {
    struct page* page = table_remove(&pages, page_key(program, number));
    if (page)
      end_page(page);
  }
}

static void still_dirty(unsigned core, uint64_t line) {
  unsigned cpu = 0;
  while (machine.core_of[cpu] != core)
    cpu++;
  cells[cpu][node_of_line(line)].dirty++;
}

static int by_address(const void* a, const void* b) {
  const struct page* left = *(struct page* const*)a;
  const struct page* right = *(struct page* const*)b;
  return left->number < right->number ? -1 : left->number > right->number;
}

void close_books(void) {
  struct page** all = allocate((pages.used + 1) * sizeof *all);
  size_t count = 0;
  for (size_t i = 0; i < pages.slots; i++)
    if (pages.keys[i] != 0)
      all[count++] = pages.values[i];
  qsort(all, count, sizeof *all, by_address);
  for (size_t i = 0; i < count; i++)
    end_page(all[i]);
  free(all);
  caches_each_dirty(still_dirty);
}
