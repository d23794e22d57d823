// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The modelled machine, as the runner describes it (lab/nodewise_lab/counting.py writes the file):
//
//   parallel 0|1              1: QEMU runs each processor in a thread of its own
//   low_memory BYTES          guest memory beyond this begins at 4 GiB
//   processor CPU CORE NODE   Linux' number, a number for each core, Linux' node
//   memory NODE BYTES         in the order of guest-physical addresses
//   cache LEVEL KIND BYTES WAYS core|node      from the first level on
#pragma once

#include "support.h"

enum { CACHE_LEVELS_MAX = 4 };

struct cache_shape {
  unsigned level;
  char kind[16];
  uint64_t bytes;
  unsigned ways;
  bool shared; // by the processors of a node, else by those of a core
};

struct machine {
  unsigned processors; // Linux numbers them 0 to processors - 1
  unsigned cores;
  unsigned nodes; // the highest node number plus 1
  unsigned core_of[PROCESSORS_MAX];
  unsigned node_of[PROCESSORS_MAX];
  unsigned node_of_core[PROCESSORS_MAX];
  unsigned memories;
  unsigned memory_node[NODES_MAX];
  uint64_t memory_bytes[NODES_MAX];
  uint64_t low_memory;
  unsigned caches;
  struct cache_shape cache[CACHE_LEVELS_MAX];
};

extern struct machine machine;

// Reads the description; ends QEMU with a message if it is invalid.
void machine_read(const char* path);

// Pages and lines of guest memory are numbered from 0 on, across all memories in order.
uint64_t machine_memory_bytes(void);
unsigned node_of_line(uint64_t line);

// Two meanings of QEMU's physical addresses. The self-test finds out which one applies.
enum address_reading {
  // From QEMU 8.1 on: the guest's physical address.
  READING_PHYSICAL = 1,
  // Before: the address of QEMU's memory block plus the block's place in guest memory.
  READING_BLOCK = 2,
};
// The position in guest memory, or UINT64_MAX if the address is invalid in this reading.
uint64_t memory_position(enum address_reading, uint64_t address);
