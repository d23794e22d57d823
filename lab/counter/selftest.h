// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Before counting begins, init in the guest runs on every processor, touches pages of every node
// and announces each processor and node as Linux reports it. The counter counts only if QEMU's
// processor numbers and addresses agree.
#pragma once

#include "plugin_api.h"
#include "processors.h"

extern enum address_reading selftest_reading;
extern unsigned selftest_processors; // announced so far
extern unsigned selftest_pages;      // seen so far

// The next access of this processor is by Linux' processor `cpu`.
void selftest_processor(struct processor*, unsigned cpu);
// The next load of `address` is from memory of `node`.
void selftest_page(unsigned node, uint64_t address);
// Called for accesses while nothing is counted.
void selftest_sees(const struct processor*, qemu_plugin_meminfo_t, uint64_t address);
// NULL if everything agreed, else what did not.
const char* selftest_verdict(void);
