// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "support.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/reboot.h>
#include <unistd.h>

void end_machine(void) {
  reboot(RB_AUTOBOOT);
  for (;;)
    pause(); // not reached: without CAP_SYS_BOOT there would be nothing else to do
}

int write_all(int fd, const void* data, size_t size) {
  const char* next = data;
  while (size > 0) {
    ssize_t written = write(fd, next, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    next += written;
    size -= (size_t)written;
  }
  return 0;
}

char* format_text(const char* format, ...) {
  char* text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0)
    end_machine();
  return text;
}

void* allocate(size_t size) {
  return reallocate(NULL, size);
}

void* reallocate(void* block, size_t size) {
  void* result = realloc(block, size ? size : 1);
  if (!result)
    end_machine();
  return result;
}
