// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "pages.h"

#include <stdlib.h>

#include "machine.h"

struct page** page_in;
static struct table pages; // by program and number; without those that have ended

void pages_prepare(void) {
  page_in = reserve(machine_memory_bytes() / PAGE_BYTES * sizeof(struct page*));
}

// User addresses have 47 bits, so page numbers 35.
static uint64_t page_key(const struct program* program, uint64_t number) {
  return program->index << 36 | (number + 1);
}

// The object of the whole page; NULL if it holds several objects, or an object and other memory.
static struct object* only_object(struct program* program, uint64_t number) {
  const uint64_t address = number * PAGE_BYTES;
  struct object* first = object_at(program, address);
  if (first->id != REST_ID)
    return address - first->start + PAGE_BYTES <= first->bytes ? first : NULL;
  for (uint64_t line = 1; line < LINES_A_PAGE; line++)
    if (object_at(program, address + line * LINE_BYTES) != first)
      return NULL;
  return first;
}

struct page* page_at(struct program* program, uint64_t number) {
  const uint64_t key = page_key(program, number);
  struct page* page = table_find(&pages, key);
  if (!page) {
    page = allocate(sizeof *page);
    *page = (struct page){.program = program,
                          .number = number,
                          .object = only_object(program, number),
                          .thread = NO_THREAD,
                          .memory = -1};
    table_insert(&pages, key, page);
  }
  return page;
}

struct page* page_now(struct page* page) {
  return page->ended ? page_at(page->program, page->number) : page;
}

struct object* object_in(const struct page* page, uint64_t address) {
  return page->object ? page->object : object_at(page->program, address);
}

static int by_address(const void* a, const void* b) {
  const struct page* left = *(struct page* const*)a;
  const struct page* right = *(struct page* const*)b;
  return compare(left->number, right->number);
}

// For ranges with fewer pages than numbers to look up.
static void each_page_between(const struct program* program, uint64_t first, uint64_t last,
                              void (*each)(struct page*)) {
  struct page** all = allocate((pages.used + 1) * sizeof *all);
  size_t count = 0;
  for (size_t i = 0; i < pages.slots; i++) {
    struct page* page = pages.values[i];
    if (page && (!program || page->program == program) && page->number >= first &&
        page->number < last)
      all[count++] = page;
  }
  qsort(all, count, sizeof *all, by_address);
  for (size_t i = 0; i < count; i++)
    each(all[i]);
  free(all);
}

void each_page_in(const struct program* program, uint64_t start, uint64_t bytes,
                  void (*each)(struct page*)) {
  const uint64_t first = start / PAGE_BYTES;
  const uint64_t last = (start + bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  if (last - first > pages.slots) {
    each_page_between(program, first, last, each);
    return;
  }
  for (uint64_t number = first; number < last; number++) {
    struct page* page = table_find(&pages, page_key(program, number));
    if (page)
      each(page);
  }
}

void remove_page(const struct page* page) {
  (void)table_remove(&pages, page_key(page->program, page->number));
}

static void adopt_page(struct page* page) {
  page->object = only_object(page->program, page->number);
  for (unsigned i = 0; i < page->repeat_count; i++)
    if (page->object)
      page->repeats[i].account.object = page->object;
}

void adopt_pages(struct program* program, uint64_t start, uint64_t bytes) {
  each_page_in(program, start, bytes, adopt_page);
}

// The page's number within the object, since the object may move later.
static uint64_t number_in(const struct object* object, const struct page* page) {
  return object->id == REST_ID ? page->number : page->number - object->start / PAGE_BYTES;
}

static int most_frequent_user(const struct page* page) {
  uint64_t fills[NODES_MAX] = {0};
  for (const struct page_use* use = &page->use; use; use = use->next)
    for (uint32_t i = 0; i < use->places; i++)
      if (!use->users[i].streams)
        fills[use->users[i].node] += use->users[i].lines;
  int most = -1;
  for (unsigned node = 0; node < machine.nodes; node++)
    if (fills[node] > (most < 0 ? 0 : fills[most]))
      most = (int)node;
  return most;
}

static void add_page_run(struct object* object, const struct page* page) {
  const int user = most_frequent_user(page);
  const uint64_t number = number_in(object, page);
  struct page_run* last = object->run_count ? &object->runs[object->run_count - 1] : NULL;
  if (!last || last->first + last->count != number || last->memory != page->memory ||
      last->user != user) {
    object->runs = make_room(object->runs, object->run_count, sizeof *object->runs);
    last = &object->runs[object->run_count++];
    *last = (struct page_run){.first = number, .memory = page->memory, .user = user};
  }
  last->count++;
  for (unsigned phase = 0; phase < PHASES; phase++)
    for (unsigned remote = 0; remote < 2; remote++)
      last->fills[phase][remote] += page->fills[phase][remote];
}

static void add_touched_run(struct object* object, const struct page* page) {
  if (page->thread == NO_THREAD)
    return;
  const uint64_t number = number_in(object, page);
  const size_t count = object->touched_count;
  struct touched_run* last = count ? &object->touched[count - 1] : NULL;
  if (!last || last->first + last->count != number || last->thread != page->thread) {
    object->touched = make_room(object->touched, count, sizeof *object->touched);
    last = &object->touched[object->touched_count++];
    *last = (struct touched_run){.first = number, .thread = page->thread};
  }
  last->count++;
}

static int by_memory_and_thread(const void* a, const void* b) {
  const struct thread_lines* left = a;
  const struct thread_lines* right = b;
  const int by_memory = compare(left->memory, right->memory);
  return by_memory != 0 ? by_memory : compare(left->thread, right->thread);
}

// Sums lines by memory and thread, over the nodes that a thread was on. Returns their number.
static size_t add_up(const struct page_use* use, struct thread_lines* by) {
  size_t count = 0;
  for (uint32_t i = 0; i < use->places; i++) {
    const struct user* user = &use->users[i];
    if (user->lines > 0)
      by[count++] = (struct thread_lines){user->memory, user->thread, user->lines};
  }
  qsort(by, count, sizeof *by, by_memory_and_thread);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept > 0 && by_memory_and_thread(&by[kept - 1], &by[i]) == 0)
      by[kept - 1].lines += by[i].lines;
    else
      by[kept++] = by[i];
  }
  return kept;
}

static bool continues(const struct user_run* run, uint64_t number, const struct thread_lines* by,
                      size_t threads) {
  if (run->first + run->count != number || run->threads != threads)
    return false;
  for (size_t i = 0; i < threads; i++)
    if (by_memory_and_thread(&run->by[i], &by[i]) != 0 ||
        (threads > 1 && run->by[i].lines != run->count * by[i].lines))
      return false;
  return true;
}

static void add_user_run(struct object* object, uint64_t number, const struct thread_lines* by,
                         size_t threads) {
  const size_t count = object->user_run_count;
  struct user_run* last = count ? &object->user_runs[count - 1] : NULL;
  if (!last || !continues(last, number, by, threads)) {
    object->user_runs = make_room(object->user_runs, count, sizeof *object->user_runs);
    last = &object->user_runs[object->user_run_count++];
    *last = (struct user_run){number, 0, allocate(threads * sizeof *by), threads};
    for (size_t i = 0; i < threads; i++)
      last->by[i] = (struct thread_lines){by[i].memory, by[i].thread, 0};
  }
  last->count++;
  for (size_t i = 0; i < threads; i++)
    last->by[i].lines += by[i].lines;
}

static void add_user_runs(const struct page* page, const struct page_use* use) {
  if (use->places == 0)
    return;
  struct thread_lines* by = allocate(use->places * sizeof *by);
  const size_t count = add_up(use, by);
  for (size_t first = 0, end = 0; first < count; first = end) {
    while (end < count && by[end].memory == by[first].memory)
      end++;
    add_user_run(use->object, number_in(use->object, page), by + first, end - first);
  }
  free(by);
}

void tell_page(const struct page* page) {
  struct object* object = object_in(page, page->number * PAGE_BYTES);
  add_page_run(object, page);
  add_touched_run(object, page);
  for (const struct page_use* use = &page->use; use; use = use->next)
    add_user_runs(page, use);
}

void forget_told_use(struct object* object) {
  for (size_t i = 0; i < object->run_count; i++) {
    move_to_initialisation(object->runs[i].fills, 2);
    object->runs[i].user = -1;
  }
  for (size_t i = 0; i < object->user_run_count; i++)
    free(object->user_runs[i].by);
  object->user_run_count = 0;
}
