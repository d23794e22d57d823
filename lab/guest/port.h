// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The guest's end of the frame protocol (protocol.h): one port, one init.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct frame {
  enum frame_type type;
  const unsigned char* payload; // valid until the next call of port_receive
  size_t size;
};

// Finds the virtio-serial port by PORT_NAME and opens it; ends the machine if there is none.
void port_open(void);
bool port_is_open(void);
int port_fd(void);

// Queues a frame and sends as much as the host accepts now.
void port_send(enum frame_type type, const void* payload, size_t size);
void port_send_integers(enum frame_type type, const uint32_t* values, size_t count);
void port_send_failure(int status, const char* asked, const char* answered, const char* hint);

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
