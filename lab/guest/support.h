// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reports failures, and the few file helpers that init needs.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Exit statuses of the runner, as env(1) and timeout(1) use them.
enum { STATUS_LAB_FAILED = 125, STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

// Reports "ASKED: strerror(error)" and the hint to the host, and ends the machine. `asked` states
// what failed ("cannot mount /proc"). Before the port is open, the report goes to the console,
// which the runner shows.
_Noreturn void fail(int error, const char* hint, const char* asked, ...)
    __attribute__((format(printf, 3, 4)));

// The same with an exit status other than STATUS_LAB_FAILED.
_Noreturn void fail_with(int status, int error, const char* hint, const char* asked);

// Reports a message to the user; the job goes on.
void note(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Ends the machine at once by a reboot: the virtual machine is started to exit on reboot.
_Noreturn void end_machine(void);

// Writes `text` to an existing file (a sysctl, say). Returns 0 or errno.
int write_text(const char* path, const char* text);

// mkdir -p. Returns 0 or errno.
int make_directories(const char* path, mode_t mode);

// write(2) until all is written. Returns 0 or errno.
int write_all(int fd, const void* data, size_t size);

// asprintf that cannot fail: init without memory ends the machine.
char* format_text(const char* format, ...) __attribute__((format(printf, 1, 2)));

// malloc and realloc that cannot fail.
void* allocate(size_t size);
void* reallocate(void* block, size_t size);
