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

// `shared`: the cores of a node share a cache, which includes all their lines.
void directory_prepare(bool shared);
struct holders holders_of(uint64_t line);
void set_holders(uint64_t line, struct holders);
void directory_set_core(unsigned core, uint64_t line, bool holds);
void directory_set_node(unsigned node, uint64_t line, bool holds);
// Whether no other core and no other node's shared cache holds the line.
bool directory_has_alone(unsigned core, uint64_t line);
