// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The few helpers for files and memory that init needs.
#pragma once

#include <stddef.h>

// Ends the machine at once by a reboot: the virtual machine is started to exit on reboot.
_Noreturn void end_machine(void);

// write(2) until all is written. Returns 0 or errno.
int write_all(int fd, const void* data, size_t size);

// asprintf that cannot fail: init without memory ends the machine.
char* format_text(const char* format, ...) __attribute__((format(printf, 1, 2)));

// malloc and realloc that cannot fail.
void* allocate(size_t size);
void* reallocate(void* block, size_t size);
