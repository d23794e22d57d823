// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Messages from programs in the guest to the counter. A message is a letter and words:
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

#include "processors.h"

extern uint64_t messages_lost;

// Does what the processor's current task announces. False if the message is invalid.
bool obey(struct processor*, const char* message);
