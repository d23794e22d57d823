// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "runs.h"

#include <stdlib.h>

#include "machine.h"
#include "pages.h"

// The page's number within the object, since the object may move later.
static uint64_t number_in(const struct object* object, const struct page* page) {
  return object->id == REST_ID ? page->number : page->number - object->start / PAGE_BYTES;
}

static int most_frequent_user(const struct page* page) {
  uint64_t fills[NODES_MAX] = {0};
  for (const struct page_use* use = &page->use; use; use = use->next)
    for (uint32_t i = 0; i < use->places; i++)
      if (!is_streaming_user(use->users[i].who))
        fills[from_of_user(use->users[i].who)] += use->users[i].lines;
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
  if (left->memory != right->memory)
    return left->memory < right->memory ? -1 : 1;
  return left->thread < right->thread ? -1 : left->thread > right->thread;
}

// Sums lines by memory and thread, over the nodes that a thread was on. Returns their number.
static size_t add_up(const struct page_use* use, struct thread_lines* by) {
  size_t count = 0;
  for (uint32_t i = 0; i < use->places; i++) {
    const struct user* user = &use->users[i];
    if (user->lines > 0)
      by[count++] =
          (struct thread_lines){to_of_user(user->who), thread_of_user(user->who), user->lines};
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
    move_fills_to_initialisation(object->runs[i].fills);
    object->runs[i].user = -1;
  }
  for (size_t i = 0; i < object->user_run_count; i++)
    free(object->user_runs[i].by);
  object->user_run_count = 0;
}
