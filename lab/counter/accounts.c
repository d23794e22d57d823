// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "accounts.h"

struct code* codes;

static struct table code_table;
static uint64_t codes_counted;

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
