// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Which caches have a line: what a real machine's directory knows, so that a store finds the copies
// that it takes away.
#pragma once

#include "machine.h"

struct holders {
  uint64_t cores; // that have it in caches of their own
  uint64_t nodes; // that have it in the cache that their cores share
};

static inline uint64_t bit(unsigned number) {
  return UINT64_C(1) << number;
}

// `shared`: the cores of a node share a cache, which has all that they have.
void directory_prepare(bool shared);
struct holders holders_of(uint64_t line);
void set_holders(uint64_t line, struct holders);
void directory_add_core(unsigned core, uint64_t line);
void directory_remove_core(unsigned core, uint64_t line);
void directory_add_node(unsigned node, uint64_t line);
void directory_remove_node(unsigned node, uint64_t line);
// No other core has the line, nor another node's shared cache.
bool directory_has_alone(unsigned core, uint64_t line);
