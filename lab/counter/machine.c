// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct machine machine;
static unsigned char* node_of_page;

static void add_processor(unsigned cpu, unsigned core, unsigned node) {
  if (cpu != machine.processors || cpu >= PROCESSORS_MAX || core >= PROCESSORS_MAX ||
      node >= NODES_MAX)
    give_up("processor %u of core %u and node %u cannot be", cpu, core, node);
  machine.core_of[cpu] = core;
  machine.node_of[cpu] = node;
  machine.node_of_core[core] = node;
  machine.processors++;
  machine.cores = core >= machine.cores ? core + 1 : machine.cores;
  machine.nodes = node >= machine.nodes ? node + 1 : machine.nodes;
}

static void add_memory(unsigned node, uint64_t bytes) {
  if (machine.memories == NODES_MAX || node >= NODES_MAX || bytes % PAGE_BYTES != 0)
    give_up("node %u with %lu bytes cannot be", node, bytes);
  machine.memory_node[machine.memories] = node;
  machine.memory_bytes[machine.memories++] = bytes;
  machine.nodes = node >= machine.nodes ? node + 1 : machine.nodes;
}

static void add_cache(struct cache_shape shape) {
  const struct cache_shape* before = machine.caches ? &machine.cache[machine.caches - 1] : NULL;
  bool divides = shape.ways > 0 && shape.bytes > 0 && shape.bytes % (shape.ways * LINE_BYTES) == 0;
  if (machine.caches == CACHE_LEVELS_MAX || !divides || (before && before->shared) ||
      (!before && shape.shared))
    give_up("a cache of level %u with %lu bytes and %u ways cannot be modelled", shape.level,
            shape.bytes, shape.ways);
  machine.cache[machine.caches++] = shape;
}

static bool read_line(const char* line) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  uint64_t bytes = 0;
  struct cache_shape shape = {0};
  char shared[8];
  if (sscanf(line, "parallel %u", &a) == 1)
    parallel = a != 0;
  else if (sscanf(line, "low_memory %lu", &bytes) == 1)
    machine.low_memory = bytes;
  else if (sscanf(line, "processor %u %u %u", &a, &b, &c) == 3)
    add_processor(a, b, c);
  else if (sscanf(line, "memory %u %lu", &a, &bytes) == 2)
    add_memory(a, bytes);
  else if (sscanf(line, "cache %u %15s %lu %u %7s", &shape.level, shape.kind, &shape.bytes,
                  &shape.ways, shared) == 5) {
    shape.shared = strcmp(shared, "node") == 0;
    add_cache(shape);
  } else
    return false;
  return true;
}

void machine_read(const char* path) {
  FILE* file = fopen(path, "re");
  char line[200];
  if (!file)
    give_up("the description %s: %s", path, strerror(errno));
  while (fgets(line, sizeof line, file))
    if (!read_line(line))
      give_up("the description %s has a line that is none: %s", path, line);
  fclose(file);
  if (machine.processors == 0 || machine.memories == 0 || machine.caches == 0)
    give_up("the description %s has no processors, no memory or no caches", path);
  node_of_page = allocate(machine_memory_bytes() / PAGE_BYTES);
  unsigned char* next = node_of_page;
  for (unsigned i = 0; i < machine.memories; i++) {
    const size_t pages = machine.memory_bytes[i] / PAGE_BYTES;
    memset(next, (int)machine.memory_node[i], pages);
    next += pages;
  }
}

uint64_t machine_memory_bytes(void) {
  uint64_t bytes = 0;
  for (unsigned i = 0; i < machine.memories; i++)
    bytes += machine.memory_bytes[i];
  return bytes;
}

unsigned node_of_line(uint64_t line) {
  return node_of_page[line / LINES_A_PAGE];
}

static uint64_t from_physical(uint64_t address) {
  const uint64_t high = bit(32);
  if (address >= high)
    address = address - high + machine.low_memory;
  else if (address >= machine.low_memory)
    return UINT64_MAX;
  return address < machine_memory_bytes() ? address : UINT64_MAX;
}

uint64_t memory_position(enum address_reading reading, uint64_t address) {
  if (reading == READING_PHYSICAL)
    return from_physical(address);
  // A node's block begins where the blocks before it end, and so does its place in guest memory:
  // QEMU adds the same sum twice.
  uint64_t base = 0;
  for (unsigned i = 0; i < machine.memories; i++) {
    if (address >= 2 * base && address - 2 * base < machine.memory_bytes[i])
      return address - base;
    base += machine.memory_bytes[i];
  }
  return UINT64_MAX;
}
