// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Which caches hold a line, like the directory of a real machine: a store finds the copies that it
// invalidates.
#pragma once

#include "machine.h"

struct holders {
  uint64_t cores; // that hold it in their own caches
  uint64_t nodes; // that hold it in the cache that their cores share
};

static inline uint64_t bit(unsigned number) {
  return UINT64_C(1) << number;
}

// `shared`: the cores of a node share a cache, which includes all their lines.
void directory_prepare(bool shared);
struct holders holders_of(uint64_t line);
void set_holders(uint64_t line, struct holders);
void directory_add_core(unsigned core, uint64_t line);
void directory_remove_core(unsigned core, uint64_t line);
void directory_add_node(unsigned node, uint64_t line);
void directory_remove_node(unsigned node, uint64_t line);
// Whether no other core and no other node's shared cache holds the line.
bool directory_has_alone(unsigned core, uint64_t line);
