// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// What programs in the guest tell the counter: rows of NOPs, as include/nodewise/marker.h
// describes. A message is a letter and words:
//
//   k CPU                                init: this processor is Linux' CPU
//   n NODE ADDRESS                       init: the next load from ADDRESS is from NODE
//   x PID NAME                           this task begins a program
//   f PID PARENT                         this task is a fork's child
//   t PID [TID]                          this task is a new thread of the program
//   o ID START BYTES KIND MODULE OFFSET NAME    an object is there (numbers hexadecimal)
//   d ID                                 it is gone
//   M                                    the mappings that were told are no longer right
//   m START END OFFSET NAME              a mapping
//   s START END OFFSET NAME              a new thread's stack, which later mappings do not replace
//   e                                    the program ends
//   [NAME  ]NAME  u                      a region begins, ends; initialisation is over
#pragma once

#include "processors.h"

enum {
  MARK_BYTE = 0x10, // below: half a byte of a message
  MARK_BEGIN = 0x10,
  MARK_END = 0x11,
  MARK_OBSERVE = 0x20,
  MARK_EXCLUDE = 0x21,
  MARK_FINISH = 0x22,
};

extern uint64_t messages_lost;

// The code in a mark's instruction bytes, or -1 if they are another instruction.
int mark_in(const unsigned char* bytes, size_t count);
// A mark was executed.
void on_mark(unsigned vcpu, void* code);
