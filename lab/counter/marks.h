// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The marks of programs in the guest: NOPs, as include/nodewise/marker.h describes. Rows of them
// form messages to the counter. A message is a letter and words:
//
//   k CPU                                init: this processor is Linux' CPU
//   n NODE ADDRESS                       init: the next load from ADDRESS is from NODE
//   x PID NAME                           this task begins a program
//   f PID PARENT                         this task is the child of a fork
//   t PID [TID]                          this task is a new thread of the program
//   o ID START BYTES KIND MODULE OFFSET NAME    an object exists (numbers hexadecimal)
//   d ID                                 the object is freed
//   M                                    the mappings announced so far are no longer valid
//   m START END OFFSET NAME              a mapping
//   s START END OFFSET NAME              a new thread's stack, which later mappings do not replace
//   e                                    the program ends
//   [NAME  ]NAME  u                      a region begins; a region ends; initialisation is over
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
