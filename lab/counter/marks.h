// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The marks of programs in the guest: NOPs, as include/nodewise/marker.h describes. Rows of them
// form messages (announcements.h).
#pragma once

#include <stddef.h>

enum {
  MARK_BYTE = 0x10, // below: half a byte of a message
  MARK_BEGIN = 0x10,
  MARK_END = 0x11,
  MARK_OBSERVE = 0x20,
  MARK_EXCLUDE = 0x21,
  MARK_FINISH = 0x22,
};

// The code in a mark's instruction bytes, or -1 if they are another instruction.
int mark_in(const unsigned char* bytes, size_t count);
// Called when a processor executes a mark.
void on_mark(unsigned vcpu, void* code);
