// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The functions of QEMU that the counter asks about an access, answered from a small page table.
// One for all programs: a test that runs several maps anew before each.
#include "tests/counter/fake_qemu.h"

#include <stdlib.h>

#include "tests/counter/rig.h"

enum { PAGES_MAX = 64, OFFSET_MASK = 4095 };

struct qemu_plugin_hwaddr {
  uint64_t physical;
  bool device;
};

static struct {
  uint64_t page;
  struct qemu_plugin_hwaddr at;
} mapped[PAGES_MAX];
static unsigned mapped_count;

static void enter(uint64_t address, struct qemu_plugin_hwaddr at) {
  const uint64_t page = address & ~(uint64_t)OFFSET_MASK;
  unsigned i = 0;
  while (i < mapped_count && mapped[i].page != page)
    i++;
  if (i == PAGES_MAX)
    abort();
  if (i == mapped_count)
    mapped_count++;
  mapped[i].page = page;
  mapped[i].at = at;
}

void fake_map(uint64_t address, uint64_t physical) {
  enter(address, (struct qemu_plugin_hwaddr){physical & ~(uint64_t)OFFSET_MASK, false});
}

void fake_device(uint64_t address) {
  enter(address, (struct qemu_plugin_hwaddr){0, true});
}

qemu_plugin_meminfo_t fake_info(int store, unsigned bytes) {
  unsigned shift = 0;
  while (1U << shift < bytes)
    shift++;
  return shift << 1 | (store ? 1U : 0U);
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info) {
  return info & 1;
}

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info) {
  return info >> 1;
}

// As QEMU's, what is returned is good until the next question of the same thread.
struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t address) {
  static _Thread_local struct qemu_plugin_hwaddr answer;
  (void)info;
  answer = (struct qemu_plugin_hwaddr){address, false};
  for (unsigned i = 0; i < mapped_count; i++)
    if (mapped[i].page == (address & ~(uint64_t)OFFSET_MASK)) {
      answer = mapped[i].at;
      answer.physical += address & OFFSET_MASK;
    }
  return &answer;
}

bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr* where) {
  return where->device;
}

uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr* where) {
  return where->physical;
}
