// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

// Bytes from `start` to `end` are queued.
struct queue {
  unsigned char* bytes;
  size_t start;
  size_t end;
  size_t capacity;
};

int port_fd = -1;
static struct queue outgoing;
static struct queue incoming;

static unsigned char* queue_room(struct queue* queue, size_t size) {
  if (queue->start == queue->end)
    queue->start = queue->end = 0;
  if (queue->capacity - queue->end < size && queue->start > 0) {
    memmove(queue->bytes, queue->bytes + queue->start, queue->end - queue->start);
    queue->end -= queue->start;
    queue->start = 0;
  }
  if (queue->capacity - queue->end < size) {
    queue->capacity = queue->end + size;
    queue->bytes = reallocate(queue->bytes, queue->capacity);
  }
  return queue->bytes + queue->end;
}

static void put_integer(unsigned char* to, uint32_t value) {
  for (int i = 0; i < 4; i++)
    to[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get_integer(const unsigned char* from) {
  return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
         (uint32_t)from[3] << 24;
}

// Opens /dev/vportNpM if sysfs gives it our name.
static int open_if_ours(const char* device) {
  char* name_path = format_text("/sys/class/virtio-ports/%s/name", device);
  char name[sizeof PORT_NAME + 1] = "";
  int fd = open(name_path, O_RDONLY | O_CLOEXEC);
  free(name_path);
  if (fd < 0)
    return -1;
  ssize_t length = read(fd, name, sizeof name - 1);
  close(fd);
  if (length < (ssize_t)strlen(PORT_NAME) || strncmp(name, PORT_NAME, strlen(PORT_NAME)) != 0)
    return -1;
  char* path = format_text("/dev/%s", device);
  fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  free(path);
  return fd;
}

static int find_port(void) {
  DIR* ports = opendir("/sys/class/virtio-ports");
  if (!ports)
    return -1;
  int fd = -1;
  for (struct dirent* entry; fd < 0 && (entry = readdir(ports));)
    if (entry->d_name[0] != '.')
      fd = open_if_ours(entry->d_name);
  closedir(ports);
  return fd;
}

void port_open(void) {
  // The driver announces its ports from a work queue, some time after the module is in.
  const struct timespec pause_between = {.tv_nsec = 5000000};
  for (int attempt = 0; attempt < 4000 && (port_fd = find_port()) < 0; attempt++)
    nanosleep(&pause_between, NULL);
  if (port_fd < 0)
    fail(ENODEV, "run it again with --verbose, and report the console's text as a bug",
         "cannot find the serial port '%s'", PORT_NAME);
}

bool port_has_unsent(void) {
  return outgoing.start < outgoing.end;
}

void port_send_pending(void) {
  while (port_has_unsent()) {
    ssize_t written =
        write(port_fd, outgoing.bytes + outgoing.start, outgoing.end - outgoing.start);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0 && errno == EAGAIN)
      return;
    if (written <= 0)
      end_machine(); // the host is gone: there is nothing left to report to
    outgoing.start += (size_t)written;
  }
}

void port_flush(void) {
  for (port_send_pending(); port_has_unsent(); port_send_pending()) {
    struct pollfd wait = {.fd = port_fd, .events = POLLOUT};
    poll(&wait, 1, -1);
    if (wait.revents & POLLHUP)
      end_machine();
  }
}

void port_send(enum frame_type type, const void* payload, size_t size) {
  unsigned char* room = queue_room(&outgoing, FRAME_HEADER_BYTES + size);
  room[0] = (unsigned char)type;
  put_integer(room + 1, (uint32_t)size);
  if (size > 0)
    memcpy(room + FRAME_HEADER_BYTES, payload, size);
  outgoing.end += FRAME_HEADER_BYTES + size;
  port_send_pending();
}

void port_send_integers(enum frame_type type, const uint32_t* values, size_t count) {
  unsigned char payload[16];
  for (size_t i = 0; i < count; i++)
    put_integer(payload + 4 * i, values[i]);
  port_send(type, payload, 4 * count);
}

void fail_with(int status, int error, const char* hint, const char* asked) {
  const char* answered = strerror(error);
  if (port_fd >= 0) {
    char* payload = NULL; // four bytes for the status, and three texts with a NUL after each
    const int size = asprintf(&payload, "    %s%c%s%c%s%c", asked, 0, answered, 0, hint, 0);
    if (size < 0)
      end_machine();
    put_integer((unsigned char*)payload, (uint32_t)status);
    port_send(FRAME_FAILURE, payload, (size_t)size);
    port_flush();
    for (;;)
      pause(); // the host ends the machine when it has read the report
  }
  fprintf(stderr, "nodewise: lab: %s: %s\n    hint: %s\n", asked, answered, hint);
  end_machine();
}

void fail(int error, const char* hint, const char* asked, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, asked);
  vsnprintf(text, sizeof text, asked, arguments);
  va_end(arguments);
  fail_with(STATUS_LAB_FAILED, error, hint, text);
}

void note(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  port_send(FRAME_NOTE, text, strlen(text));
}

bool port_receive(void) {
  for (;;) {
    unsigned char* room = queue_room(&incoming, FRAME_DATA_BYTES + FRAME_HEADER_BYTES);
    ssize_t count = read(port_fd, room, FRAME_DATA_BYTES + FRAME_HEADER_BYTES);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN)
      return true;
    if (count <= 0)
      return false;
    incoming.end += (size_t)count;
  }
}

bool port_next(struct frame* frame) {
  size_t available = incoming.end - incoming.start;
  if (available < FRAME_HEADER_BYTES)
    return false;
  const unsigned char* bytes = incoming.bytes + incoming.start;
  size_t size = get_integer(bytes + 1);
  if (size > FRAME_PAYLOAD_MAX)
    fail(EPROTO, "report this as a bug of the lab", "cannot accept a frame of %zu bytes", size);
  if (available < FRAME_HEADER_BYTES + size)
    return false;
  frame->type = (enum frame_type)bytes[0];
  frame->payload = bytes + FRAME_HEADER_BYTES;
  frame->size = size;
  incoming.start += FRAME_HEADER_BYTES + size;
  return true;
}

uint32_t frame_integer(const struct frame* frame, size_t index) {
  return frame->size >= 4 * (index + 1) ? get_integer(frame->payload + 4 * index) : 0;
}
