// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Before anything is counted, init in the guest runs on every processor and touches pages of every
// node, and says each time what its kernel answers. Only where QEMU's processor numbers and
// addresses tell the same is it counted at all.
#pragma once

#include "processors.h"

// The next access of this processor is by Linux' processor `cpu`.
void selftest_processor(struct processor*, unsigned cpu);
// The next load of `address` is from memory of `node`.
void selftest_page(unsigned node, uint64_t address);
// An access while nothing is counted.
void selftest_sees(const struct processor*, qemu_plugin_meminfo_t, uint64_t address);
// NULL: everything agreed. Else what did not.
const char* selftest_verdict(void);
enum address_reading selftest_reading(void);
unsigned selftest_processors(void);
unsigned selftest_pages(void);
