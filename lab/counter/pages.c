// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "pages.h"

#include <stdlib.h>

#include "machine.h"

static struct table pages;    // by program and number; without those that have ended
static struct page** page_in; // by page of guest memory

void pages_prepare(void) {
  page_in = reserve(machine_memory_bytes() / PAGE_BYTES * sizeof(struct page*));
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

struct object* object_in(const struct page* page, uint64_t address) {
  return page->object ? page->object : object_at(page->program, address);
}

void page_is_in(struct page* page, uint64_t frame) {
  page_in[frame] = page;
}

struct page* page_of_line(uint64_t line) {
  return page_in[line / LINES_A_PAGE];
}

static int by_address(const void* a, const void* b) {
  const struct page* left = *(struct page* const*)a;
  const struct page* right = *(struct page* const*)b;
  return left->number < right->number ? -1 : left->number > right->number;
}

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
  qsort(all, count, sizeof(struct page*), by_address);
  for (size_t i = 0; i < count; i++)
    each(all[i]);
  free(all);
}

void each_page(const struct program* program, void (*each)(struct page*)) {
  each_page_between(program, 0, UINT64_MAX, each);
}

void each_page_in(const struct program* program, uint64_t start, uint64_t bytes,
                  void (*each)(struct page*)) {
  const uint64_t first = start / PAGE_BYTES;
  const uint64_t last = (start + bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  if (last - first > pages.slots) { // fewer than the numbers to look up
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

void move_fills_to_initialisation(uint64_t fills[PHASES][2]) {
  for (unsigned remote = 0; remote < 2; remote++) {
    fills[PHASE_INIT][remote] += fills[PHASE_USE][remote];
    fills[PHASE_USE][remote] = 0;
  }
}
