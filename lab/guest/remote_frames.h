// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the two ends of guest-remote say to each other over one TCP connection.
//
// A frame is its type (1 byte), the payload's length (4 bytes, little endian) and the payload. The
// first frame is the command; the last one is its exit status. If the connection ends before, the
// other host has ended.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum remote_type {
  REMOTE_COMMAND = 'c', // for /bin/sh -c
  REMOTE_INPUT = 'i',   // data for its standard input; an empty payload: the end
  REMOTE_OUTPUT = 'o',
  REMOTE_ERROR = 'e',
  REMOTE_STATUS = 's', // 1 byte: the exit code; 128 + the number of the signal that ended it
};

enum { REMOTE_DATA_BYTES = 65536, REMOTE_COMMAND_MAX = 1 << 20 };

struct remote_frame {
  char type;
  uint32_t size;
  unsigned char* payload; // with a NUL behind it; free it
};

// Both wait. False: the connection has ended.
bool remote_send(int connection, enum remote_type type, const void* payload, size_t size);
bool remote_receive(int connection, struct remote_frame* frame);
