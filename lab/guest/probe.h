// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// `guest-init probe`, run as a command inside the guest by `nodewise_lab selftest`: checks that the
// emulated kernel does what placement needs.
#pragma once

#include <stdint.h>

// Prints one line per question, "ok WHAT" or "FAILED WHAT: WHY". Returns the exit status.
int probe(void);

// A bit for each node that Linux says has memory.
uint64_t nodes_with_memory(void);
