// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "books.h"

#include <stdlib.h>

#include "runs.h"
#include "sharing.h"

struct code* codes;
// A program's first thread is number 0.
enum { MAIN_THREAD = 0 };

uint64_t dirty_lines[PROCESSORS_MAX][NODES_MAX];

static struct table code_table;
static uint64_t codes_counted;
static struct table pages;    // by program and number
static struct page** page_in; // by page of guest memory
static unsigned acting_cpu;   // the processor whose access evicts lines

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
    count->code = code;
    count->number = ++codes_counted;
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

// The object of the whole page; NULL if it holds several objects, or an object and other memory.
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
    page = allocate(sizeof *page);
    page->program = program;
    page->number = number;
    page->thread = NO_THREAD;
    page->memory = -1;
    page->object = only_object(program, number);
    table_insert(&pages, key, page);
  }
  return page;
}

struct page* page_now(struct page* page) {
  return page->ended ? page_at(page->program, page->number) : page;
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

enum kind { KIND_FILL, KIND_WRITE_BACK, KIND_STREAM };

static void add(struct amount* sum, enum kind kind, uint32_t count) {
  switch (kind) {
  case KIND_FILL:
    sum->fills += count;
    break;
  case KIND_WRITE_BACK:
    sum->write_backs += count;
    break;
  case KIND_STREAM:
    sum->streams += count;
    break;
  }
}

static void book(struct page* page, const struct account* to, enum phase phase, enum kind kind,
                 uint32_t count) {
  const unsigned from = machine.node_of[to->cpu];
  add(cell_amount(page->program, phase, to->cpu, to->memory), kind, count);
  add(object_amount(to->object, phase, from, to->memory), kind, count);
  if (to->region)
    add(amount_of(to->region->traffic, 0, from, to->memory), kind, count);
  if (kind != KIND_WRITE_BACK && phase == PHASE_USE) {
    book_page_use(&page->use, to, kind == KIND_STREAM, count);
    if (to->thread < page->program->thread_count) // a task may have changed its program
      page->program->stays[(size_t)to->thread * machine.nodes + from] += count;
    book_object_code(to, count);
  }
  if (kind != KIND_FILL)
    return;
  const bool remote = from != to->memory;
  to->code->fills[phase][remote] += count;
  page->fills[phase][remote] += count;
}

static void settle(struct page* page, enum phase phase) {
  for (unsigned i = 0; i < page->repeat_count; i++) {
    const struct repeat* each = &page->repeats[i];
    if (phase == PHASE_USE && each->work > 0 && each->account.thread < page->program->thread_count)
      page->program->work[each->account.thread] += each->work;
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
  page->repeats = make_room(page->repeats, page->repeat_count, sizeof *page->repeats);
  struct repeat* repeat = &page->repeats[page->repeat_count++];
  *repeat = (struct repeat){.account = *to};
  return repeat;
}

static void hold_back(struct page* page, const struct account* to, enum kind kind) {
  struct repeat* repeat = repeat_of(page, to);
  repeat->fills += kind == KIND_FILL;
  repeat->write_backs += kind == KIND_WRITE_BACK;
  repeat->streams += kind == KIND_STREAM;
}

void book_work(const struct task* task, uint64_t* executed) {
  if (task->thread != NO_THREAD)
    task->program->work[task->thread] += *executed;
  *executed = 0;
}

// Instructions that a thread executed before it reached this line belong to the line's phase.
static void book_way_here(const struct access* access, const struct account* to, bool again) {
  struct page* page = access->page;
  access->task->uses = page->used || again;
  if (page->used)
    book_work(access->task, access->executed);
  else if (again)
    repeat_of(page, to)->work += *access->executed;
  *access->executed = 0;
}

static void begin_use(struct page* page) {
  settle(page, page->thread == MAIN_THREAD ? PHASE_INIT : PHASE_USE);
  page->used = true;
}

// Lines that other threads of the task's program requested from memory.
static uint64_t lines_of_others(const struct task* task) {
  return task->program->lines - task->lines;
}

// Whether other threads were at work since the page's only thread first used it.
static bool were_others_at_work(const struct page* page, const struct task* task) {
  return lines_of_others(task) - page->others >= LINES_A_PAGE;
}

// Sets the line's bit. True if it was already set.
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

static void notice_thread(struct page* page, struct task* task) {
  const uint32_t thread = thread_of(task);
  if (page->thread == NO_THREAD) {
    page->thread = thread;
    page->others = lines_of_others(task);
  }
  if (!page->used && (page->thread != thread || page->program->marked))
    begin_use(page);
}

static void book_from_memory(const struct access* access, enum kind kind) {
  struct page* page = access->page;
  const struct account to = {.object = page->object ? page->object
                                                    : object_at(page->program, access->address),
                             .code = count_of(access->code, page->program),
                             .region = page->program->charged,
                             .thread = thread_of(access->task),
                             .cpu = (uint8_t)access->cpu,
                             .memory = (uint8_t)node_of_line(access->line)};
  page->memory = to.memory;
  const bool again = mark(&page->seen, access->line);
  if (again && !page->used && were_others_at_work(page, access->task))
    begin_use(page);
  access->task->program->lines++;
  access->task->lines++;
  book_way_here(access, &to, again);
  book_by_phase(page, &to, kind, again);
}

void book_access(const struct access* access, struct cache_answer answer) {
  notice_thread(access->page, access->task);
  if (answer.source == SOURCE_MEMORY)
    book_from_memory(access, KIND_FILL);
  book_sharing(access, answer);
}

void book_stream(const struct access* access) {
  notice_thread(access->page, access->task);
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
                             .region = page->program->charged,
                             .cpu = (uint8_t)acting_cpu,
                             .memory = (uint8_t)node_of_line(line)};
  book_by_phase(page, &to, KIND_WRITE_BACK, mark(&page->returned, line));
}

// Ends the page; its counts stay in its object's account.
static void end_page(struct page* page) {
  settle(page, PHASE_USE);
  tell_page(page);
  forget_page_use(&page->use);
  // Its lines may still leave the caches: they then belong to no object.
  page->object = &page->program->rest;
  page->used = true;
  page->ended = true;
}

static int by_address(const void* a, const void* b) {
  const struct page* left = *(struct page* const*)a;
  const struct page* right = *(struct page* const*)b;
  return left->number < right->number ? -1 : left->number > right->number;
}

// The pages that have not ended, of a program or (NULL) of all, by address. The caller frees them.
static struct page** all_pages(const struct program* program, size_t* count) {
  struct page** all = allocate((pages.used + 1) * sizeof *all);
  *count = 0;
  for (size_t i = 0; i < pages.slots; i++) {
    struct page* page = pages.values[i];
    if (page && (!program || page->program == program))
      all[(*count)++] = page;
  }
  qsort(all, *count, sizeof(struct page*), by_address);
  return all;
}

// Ends pages of a range with more pages than the table has slots.
static void end_pages_among_all(const struct program* program, uint64_t first, uint64_t last) {
  size_t count = 0;
  struct page** all = all_pages(program, &count);
  for (size_t i = 0; i < count; i++)
    if (all[i]->number >= first && all[i]->number < last) {
      (void)table_remove(&pages, page_key(program, all[i]->number));
      end_page(all[i]);
    }
  free(all);
}

void end_pages(struct program* program, uint64_t start, uint64_t bytes) {
  const uint64_t first = start / PAGE_BYTES;
  const uint64_t last = (start + bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  if (last - first > pages.slots) {
    end_pages_among_all(program, first, last);
    return;
  }
  for (uint64_t number = first; number < last; number++) {
    struct page* page = table_remove(&pages, page_key(program, number));
    if (page)
      end_page(page);
  }
}

static void adopt_page(struct page* page) {
  page->object = only_object(page->program, page->number);
  for (unsigned i = 0; i < page->repeat_count; i++)
    if (page->object)
      page->repeats[i].account.object = page->object;
}

void adopt_pages(struct program* program, uint64_t start, uint64_t bytes) {
  const uint64_t first = start / PAGE_BYTES;
  const uint64_t last = (start + bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  for (uint64_t number = first; number < last; number++) {
    struct page* page = table_find(&pages, page_key(program, number));
    if (page)
      adopt_page(page);
  }
}

static void move_to_initialisation(struct amount* of_phases, size_t count) {
  if (!of_phases)
    return;
  struct amount* use = of_phases + PHASE_USE * count;
  for (size_t i = 0; i < count; i++) {
    of_phases[i].fills += use[i].fills;
    of_phases[i].write_backs += use[i].write_backs;
    of_phases[i].streams += use[i].streams;
    use[i] = (struct amount){0};
  }
}

void move_fills_to_initialisation(uint64_t fills[PHASES][2]) {
  for (unsigned remote = 0; remote < 2; remote++) {
    fills[PHASE_INIT][remote] += fills[PHASE_USE][remote];
    fills[PHASE_USE][remote] = 0;
  }
}

static void begin_use_of_object(struct object* object) {
  move_to_initialisation(object->traffic, (size_t)machine.nodes * machine.nodes);
  forget_told_use(object);
  forget_object_code(object);
}

static void begin_use_of_pages(const struct program* program) {
  size_t count = 0;
  struct page** all = all_pages(program, &count);
  for (size_t i = 0; i < count; i++) {
    begin_use(all[i]);
    move_fills_to_initialisation(all[i]->fills);
    forget_page_use(&all[i]->use);
  }
  free(all);
}

void books_begin_use(struct program* program) {
  if (program->marked)
    return;
  program->marked = true;
  begin_use_of_pages(program);
  begin_use_of_object(&program->rest);
  for (struct object* object = program->all; object; object = object->next)
    begin_use_of_object(object);
  move_to_initialisation(program->cells, (size_t)machine.processors * machine.nodes);
  for (uint32_t i = 0; i < program->thread_count; i++)
    program->work[i] = 0;
  for (size_t i = 0; i < (size_t)program->thread_count * machine.nodes; i++)
    program->stays[i] = 0;
  for (struct code* code = codes; code; code = code->next)
    for (struct code_count* count = code->counts; count; count = count->next)
      if (count->program == program)
        move_fills_to_initialisation(count->fills);
}

static void still_dirty(unsigned core, uint64_t line) {
  unsigned cpu = 0;
  while (machine.core_of[cpu] != core)
    cpu++;
  dirty_lines[cpu][node_of_line(line)]++;
}

void close_books(void) {
  size_t count = 0;
  struct page** all = all_pages(NULL, &count);
  for (size_t i = 0; i < count; i++)
    end_page(all[i]);
  free(all);
  caches_each_dirty(still_dirty);
}
