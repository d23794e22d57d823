// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "remote_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool send_all(int connection, const unsigned char* data, size_t size) {
  while (size > 0) {
    ssize_t sent = send(connection, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0)
      return false;
    data += sent;
    size -= (size_t)sent;
  }
  return true;
}

static bool receive_all(int connection, unsigned char* data, size_t size) {
  while (size > 0) {
    ssize_t got = recv(connection, data, size, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    data += got;
    size -= (size_t)got;
  }
  return true;
}

bool remote_send(int connection, enum remote_type type, const void* payload, size_t size) {
  const unsigned char header[5] = {(unsigned char)type, (unsigned char)size,
                                   (unsigned char)(size >> 8), (unsigned char)(size >> 16),
                                   (unsigned char)(size >> 24)};
  return send_all(connection, header, sizeof header) && send_all(connection, payload, size);
}

bool remote_receive(int connection, struct remote_frame* frame) {
  unsigned char header[5];
  if (!receive_all(connection, header, sizeof header))
    return false;
  frame->type = (char)header[0];
  frame->size = (uint32_t)header[1] | (uint32_t)header[2] << 8 | (uint32_t)header[3] << 16 |
                (uint32_t)header[4] << 24;
  if (frame->size > REMOTE_COMMAND_MAX)
    return false;
  frame->payload = malloc(frame->size + 1);
  if (!frame->payload)
    return false;
  frame->payload[frame->size] = '\0';
  if (receive_all(connection, frame->payload, frame->size))
    return true;
  free(frame->payload);
  return false;
}
