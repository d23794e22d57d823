// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "directory.h"

#include <stdlib.h>

// Nearly every line has no holder, one core (with its node's cache), or one node's cache only. A
// byte records which; a table records the holders of all other lines. So the directory of all lines
// that a program streams over fits the host's own caches.
enum { NOBODY = 0, FIRST_CORE = 1, FIRST_NODE = FIRST_CORE + PROCESSORS_MAX, CROWD = 255 };
static unsigned char* directory;
static struct table crowds;
static bool shared;

void directory_prepare(bool with_shared) {
  shared = with_shared;
  directory = reserve(machine_memory_bytes() / LINE_BYTES);
}

// The nodes that hold a line because this core holds it.
static uint64_t beside(unsigned core) {
  return shared ? bit(machine.node_of_core[core]) : 0;
}

struct holders holders_of(uint64_t line) {
  const unsigned code = directory[line];
  if (code == NOBODY)
    return (struct holders){0, 0};
  if (code == CROWD)
    return *(const struct holders*)table_find(&crowds, line);
  if (code >= FIRST_NODE)
    return (struct holders){0, bit(code - FIRST_NODE)};
  const unsigned core = code - FIRST_CORE;
  return (struct holders){bit(core), beside(core)};
}

static unsigned code_of(struct holders who) {
  if (who.cores == 0 && who.nodes == 0)
    return NOBODY;
  if (who.cores == 0 && !has_several(who.nodes))
    return FIRST_NODE + lowest_bit(who.nodes);
  if (who.cores == 0 || has_several(who.cores))
    return CROWD;
  const unsigned core = lowest_bit(who.cores);
  return who.nodes == beside(core) ? FIRST_CORE + core : CROWD;
}

void set_holders(uint64_t line, struct holders who) {
  const unsigned code = code_of(who);
  struct holders* told = directory[line] == CROWD ? table_find(&crowds, line) : NULL;
  if (code == CROWD && !told) {
    told = allocate(sizeof *told);
    table_insert(&crowds, line, told);
  }
  if (code == CROWD)
    *told = who;
  else if (told)
    free(table_remove(&crowds, line));
  directory[line] = (unsigned char)code;
}

// The directory's code for a line before the core alone gets it, or after the core alone drops it.
static unsigned code_without(unsigned core) {
  return shared ? FIRST_NODE + machine.node_of_core[core] : NOBODY;
}

static uint64_t with_bit(uint64_t bits, unsigned number, bool set) {
  return set ? bits | bit(number) : bits & ~bit(number);
}

void directory_set_core(unsigned core, uint64_t line, bool holds) {
  const unsigned without = code_without(core);
  const unsigned with = FIRST_CORE + core;
  if (directory[line] == (holds ? without : with)) {
    directory[line] = (unsigned char)(holds ? with : without);
    return;
  }
  const struct holders who = holders_of(line);
  set_holders(line, (struct holders){with_bit(who.cores, core, holds), who.nodes});
}

void directory_set_node(unsigned node, uint64_t line, bool holds) {
  const struct holders who = holders_of(line);
  set_holders(line, (struct holders){who.cores, with_bit(who.nodes, node, holds)});
}

bool directory_has_alone(unsigned core, uint64_t line) {
  if (directory[line] == code_without(core) || directory[line] == FIRST_CORE + core)
    return true;
  const struct holders who = holders_of(line);
  return (who.cores & ~bit(core)) == 0 && (who.nodes & ~bit(machine.node_of_core[core])) == 0;
}
