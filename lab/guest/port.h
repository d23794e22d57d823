// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The guest's end of the frame protocol (protocol.h): one port, one init; and what it reports to
// the host.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

// Exit statuses of the runner, as env(1) and timeout(1) use them.
enum { STATUS_LAB_FAILED = 125, STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

struct frame {
  enum frame_type type;
  const unsigned char* payload; // valid until the next call of port_receive
  size_t size;
};

// Finds the virtio-serial port by PORT_NAME and opens it; ends the machine if there is none.
void port_open(void);
extern int port_fd;

// Queues a frame and sends as much as the host accepts now.
void port_send(enum frame_type type, const void* payload, size_t size);
void port_send_integers(enum frame_type type, const uint32_t* values, size_t count);

// True while queued bytes wait for the host.
bool port_has_unsent(void);
// Sends as much as the host accepts now, without waiting.
void port_send_pending(void);
// Waits until everything queued is sent.
void port_flush(void);

// Reads what has arrived, without waiting. False: the host has closed its end.
bool port_receive(void);
// Takes the next complete frame, if there is one.
bool port_next(struct frame* frame);

// The integer at position `index` of a payload; 0 beyond its end.
uint32_t frame_integer(const struct frame* frame, size_t index);

// Reports "ASKED: strerror(error)" and the hint to the host, and ends the machine. `asked` states
// what failed ("cannot mount /proc"). Before the port is open, the report goes to the console,
// which the runner shows.
_Noreturn void fail(int error, const char* hint, const char* asked, ...)
    __attribute__((format(printf, 3, 4)));

// The same with an exit status other than STATUS_LAB_FAILED.
_Noreturn void fail_with(int status, int error, const char* hint, const char* asked);

// Reports a message to the user; the job goes on.
void note(const char* format, ...) __attribute__((format(printf, 1, 2)));
