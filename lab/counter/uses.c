// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "uses.h"

#include <stdlib.h>

#include "accounts.h"
#include "machine.h"

enum { OBJECT_CODES_MAX = 1 << 20 };

uint64_t object_code_left_out;
static struct table object_codes; // by the numbers of code and object

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
static struct user* find_user(const struct page_use* use, uint32_t who, uint32_t lines) {
  for (uint32_t i = 0; i < use->places; i++) {
    struct user* user = &use->users[(thread_of_user(who) + i) & (use->places - 1)];
    if (user->lines == 0 || (user->who == who && user->lines <= UINT32_MAX - lines))
      return user;
  }
  return NULL;
}

static void grow(struct page_use* use) {
  const struct page_use old = *use;
  use->places = old.places ? 2 * old.places : 1;
  use->users = allocate(use->places * sizeof *use->users);
  for (uint32_t i = 0; i < old.places; i++)
    *find_user(use, old.users[i].who, UINT32_MAX) = old.users[i];
  free(old.users);
}

static struct user* user_of(struct page_use* use, uint32_t who, uint32_t lines) {
  struct user* user = find_user(use, who, lines);
  if (!user) {
    grow(use);
    user = find_user(use, who, lines);
  }
  user->who = who;
  return user;
}

void book_page_use(struct page_use* of_page, const struct account* by, bool streams,
                   uint32_t lines) {
  _Static_assert(NODES_MAX <= 64 && THREADS_MAX <= 1 << 19, "who fits into its word");
  const uint32_t who = by->thread << 13 | (uint32_t)machine.node_of[by->cpu] << 7 |
                       (uint32_t)by->memory << 1 | streams;
  user_of(use_of(of_page, by->object), who, lines)->lines += lines;
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
