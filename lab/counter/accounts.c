// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "accounts.h"

#include <stdlib.h>

#include "machine.h"

enum { OBJECT_CODES_MAX = 1 << 20 };

struct code* codes;
uint64_t object_code_left_out;

static struct table code_table;
static uint64_t codes_counted;
static struct table object_codes; // by the numbers of code and object

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

struct code_count* count_of(struct code* code, struct program* program) {
  struct code_count** link = &code->counts;
  while (*link && (*link)->program != program)
    link = &(*link)->next;
  struct code_count* count = *link;
  if (count) {
    *link = count->next;
  } else {
    count = allocate(sizeof *count);
    *count = (struct code_count){.program = program, .code = code, .number = ++codes_counted};
  }
  count->next = code->counts;
  code->counts = count;
  return count;
}

static struct page_use* use_of(struct page_use* use, struct object* object) {
  if (!use->object)
    use->object = object;
  while (use->object != object) {
    if (!use->next) {
      use->next = allocate(sizeof *use);
      use->next->object = object;
    }
    use = use->next;
  }
  return use;
}

// The place of the user, or the free one where it belongs: from its thread's number on, since the
// threads of a page are mostly consecutive. NULL if others take all places. An entry without room
// for `lines` more counts as another's.
static struct user* find_user(const struct page_use* use, struct user wanted, uint32_t lines) {
  for (uint32_t i = 0; i < use->places; i++) {
    struct user* user = &use->users[(wanted.thread + i) & (use->places - 1)];
    if (user->lines == 0 || (user->who == wanted.who && user->lines <= UINT32_MAX - lines))
      return user;
  }
  return NULL;
}

static void grow(struct page_use* use) {
  const struct page_use old = *use;
  use->places = old.places ? 2 * old.places : 1;
  use->users = allocate(use->places * sizeof *use->users);
  for (uint32_t i = 0; i < old.places; i++)
    *find_user(use, old.users[i], UINT32_MAX) = old.users[i];
  free(old.users);
}

void book_page_use(struct page_use* of_page, const struct account* by, bool streams,
                   uint32_t lines) {
  _Static_assert(NODES_MAX <= 64 && THREADS_MAX <= 1 << 19, "who fits into its word");
  const struct user wanted = {.streams = streams,
                              .memory = (unsigned)by->memory & (NODES_MAX - 1),
                              .node = machine.node_of[by->cpu] & (NODES_MAX - 1),
                              .thread = by->thread & (THREADS_MAX - 1)};
  struct page_use* use = use_of(of_page, by->object);
  struct user* user = find_user(use, wanted, lines);
  if (!user) {
    grow(use);
    user = find_user(use, wanted, lines);
  }
  user->who = wanted.who;
  user->lines += lines;
}

// NULL beyond the limit.
static struct object_code* pair_of(const struct code_count* code, struct object* object) {
  const uint64_t key = code->number << 20 | object->number;
  struct object_code* pair = table_find(&object_codes, key);
  if (pair || object_codes.used == OBJECT_CODES_MAX)
    return pair;
  pair = allocate(sizeof *pair);
  *pair =
      (struct object_code){.next = object->codes, .object = object, .address = code->code->address};
  object->codes = pair;
  table_insert(&object_codes, key, pair);
  return pair;
}

void book_object_code(const struct account* by, uint32_t lines) {
  struct code_count* code = by->code;
  if (!code->latest || code->latest->object != by->object) {
    struct object_code* found = pair_of(code, by->object);
    if (!found) {
      object_code_left_out += lines;
      return;
    }
    code->latest = found;
  }
  code->latest->lines += lines;
}

void forget_page_use(struct page_use* use) {
  for (; use; use = use->next) {
    free(use->users);
    use->users = NULL;
    use->places = 0;
  }
}

void forget_object_code(struct object* object) {
  for (struct object_code* pair = object->codes; pair; pair = pair->next)
    pair->lines = 0;
}
