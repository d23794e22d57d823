// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "books.h"

#include <stdlib.h>
#include <string.h>

#include "pages.h"
#include "sharing.h"

// A program's first thread is number 0.
enum { MAIN_THREAD = 0 };

unsigned acting_cpu;
uint64_t dirty_lines[PROCESSORS_MAX][NODES_MAX];

static void book(struct page* page, const struct account* to, enum phase phase, enum kind kind,
                 uint32_t count) {
  const unsigned from = machine.node_of[to->cpu];
  const unsigned nodes = machine.nodes;
  struct program* program = page->program;
  amount_of(&program->cells, phase, machine.processors, to->cpu, to->memory)->lines[kind] += count;
  amount_of(&to->object->traffic, phase, nodes, from, to->memory)->lines[kind] += count;
  if (to->region)
    amount_of(&to->region->traffic, PHASE_INIT, nodes, from, to->memory)->lines[kind] += count;
  if (kind != KIND_WRITE_BACK && phase == PHASE_USE) {
    book_page_use(&page->use, to, kind == KIND_STREAM, count);
    if (to->thread < program->thread_count) // a task may have changed its program
      program->threads[to->thread].stays[from] += count;
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
      page->program->threads[each->account.thread].work += each->work;
    for (enum kind kind = 0; kind < KINDS; kind++)
      if (each->lines[kind] > 0)
        book(page, &each->account, phase, kind, each->lines[kind]);
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

void book_work(const struct task* task, uint64_t* executed) {
  if (task->thread != NO_THREAD)
    task->program->threads[task->thread].work += *executed;
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

// Sets the line's bit. True if it was already set.
static bool mark(uint64_t* lines, uint64_t line) {
  const uint64_t before = *lines;
  *lines |= bit(line % LINES_A_PAGE);
  return before == *lines;
}

static void book_by_phase(struct page* page, const struct account* to, enum kind kind, bool again) {
  if (page->used)
    book(page, to, PHASE_USE, kind, 1);
  else if (again)
    repeat_of(page, to)->lines[kind]++; // held back
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
  const struct account to = {.object = object_in(page, access->address),
                             .code = count_of(access->code, page->program),
                             .region = page->program->charged,
                             .thread = thread_of(access->task),
                             .cpu = (uint8_t)access->cpu,
                             .memory = (uint8_t)node_of_line(access->line)};
  page->memory = to.memory;
  const bool again = mark(&page->seen, access->line);
  // Whether other threads were at work since the page's only thread first used it.
  const bool others_worked = lines_of_others(access->task) - page->others >= LINES_A_PAGE;
  if (again && !page->used && others_worked)
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

void book_write_back(uint64_t line) {
  struct page* page = page_in[line / LINES_A_PAGE];
  const uint64_t address = page->number * PAGE_BYTES + line % LINES_A_PAGE * LINE_BYTES;
  const struct account to = {.object = object_in(page, address),
                             .region = page->program->charged,
                             .cpu = (uint8_t)acting_cpu,
                             .memory = (uint8_t)node_of_line(line)};
  book_by_phase(page, &to, KIND_WRITE_BACK, mark(&page->returned, line));
}

// Ends the page, which is other memory from now on; its counts stay in its object's account.
static void end_page(struct page* page) {
  remove_page(page);
  settle(page, PHASE_USE);
  tell_page(page);
  forget_page_use(&page->use);
  // Its lines may still leave the caches: they then belong to no object.
  page->object = &page->program->rest;
  page->used = true;
  page->ended = true;
}

void end_pages(struct program* program, uint64_t start, uint64_t bytes) {
  each_page_in(program, start, bytes, end_page);
}

static void begin_use_of_object(struct object* object) {
  move_to_initialisation(object->traffic, (size_t)machine.nodes * machine.nodes * KINDS);
  forget_told_use(object);
  forget_object_code(object);
}

static void begin_use_of_page(struct page* page) {
  begin_use(page);
  move_to_initialisation(page->fills, 2);
  forget_page_use(&page->use);
}

void books_begin_use(struct program* program) {
  if (program->marked)
    return;
  program->marked = true;
  each_page_in(program, 0, USER_BYTES, begin_use_of_page);
  begin_use_of_object(&program->rest);
  for (struct object* object = program->all; object; object = object->next)
    begin_use_of_object(object);
  move_to_initialisation(program->cells, (size_t)machine.processors * machine.nodes * KINDS);
  for (uint32_t i = 0; i < program->thread_count; i++) {
    program->threads[i].work = 0;
    memset(program->threads[i].stays, 0, machine.nodes * sizeof(uint64_t));
  }
  for (struct code* code = codes; code; code = code->next)
    for (struct code_count* count = code->counts; count; count = count->next)
      if (count->program == program)
        move_to_initialisation(count->fills, 2);
}

static void still_dirty(unsigned core, uint64_t line) {
  unsigned cpu = 0;
  while (machine.core_of[cpu] != core)
    cpu++;
  dirty_lines[cpu][node_of_line(line)]++;
}

void close_books(void) {
  each_page_in(NULL, 0, USER_BYTES, end_page);
  caches_each_dirty(still_dirty);
}
