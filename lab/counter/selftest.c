// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "selftest.h"

enum address_reading selftest_reading;
unsigned selftest_processors;
unsigned selftest_pages;

static unsigned possible = READING_PHYSICAL | READING_BLOCK;
static uint64_t awaited; // an address, or 0
static unsigned awaited_node;
static unsigned asked;
static uint64_t numbered; // Linux' numbers announced so far
static bool twice;
static uint64_t nodes_seen;

void selftest_processor(struct processor* processor, unsigned cpu) {
  if (cpu >= machine.processors || processor->known || numbered >> cpu & 1) {
    twice = true;
    return;
  }
  processor->known = true;
  processor->cpu = cpu;
  processor->core = &cores[machine.core_of[cpu]];
  numbered |= bit(cpu);
  selftest_processors++;
}

void selftest_page(unsigned node, uint64_t address) {
  asked++;
  if (node >= NODES_MAX)
    return; // selftest_verdict() then misses this page
  awaited = address;
  awaited_node = node;
}

void selftest_sees(const struct processor* processor, qemu_plugin_meminfo_t info,
                   uint64_t address) {
  if (__builtin_expect(awaited == 0, 1) || address != awaited || !processor->known)
    return;
  struct qemu_plugin_hwaddr* found = qemu_plugin_get_hwaddr(info, address);
  if (!found || qemu_plugin_hwaddr_is_io(found))
    return;
  awaited = 0;
  selftest_pages++;
  nodes_seen |= bit(awaited_node);
  const uint64_t physical = qemu_plugin_hwaddr_phys_addr(found);
  for (unsigned each = READING_PHYSICAL; each <= READING_BLOCK; each <<= 1) {
    const uint64_t position = memory_position(each, physical);
    if (position == UINT64_MAX || node_of_line(position / LINE_BYTES) != awaited_node)
      possible &= ~each;
  }
}

const char* selftest_verdict(void) {
  if (twice || selftest_processors != machine.processors)
    return "QEMU's processors are not those of Linux: accesses would be booked to the wrong ones";
  for (unsigned i = 0; i < machine.memories; i++)
    if (machine.memory_bytes[i] > 0 && !(nodes_seen >> machine.memory_node[i] & 1))
      return "no page of some node was seen: addresses cannot be distinguished";
  if (asked == 0 || selftest_pages != asked)
    return "some of the pages that were touched were not seen: accesses would be missing";
  if (possible == 0)
    return "QEMU's addresses do not identify the node that Linux' move_pages reports";
  selftest_reading = possible & READING_PHYSICAL ? READING_PHYSICAL : READING_BLOCK;
  return NULL;
}
