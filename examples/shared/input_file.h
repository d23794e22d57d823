// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The file that a program reads: it makes the file itself and removes it when it ends.
#ifndef NODEWISE_EXAMPLES_INPUT_FILE_H
#define NODEWISE_EXAMPLES_INPUT_FILE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char input_path[4096];

static inline void remove_input(void) {
  unlink(input_path);
}

__attribute__((noreturn)) static inline void input_failed(const char* program, const char* what) {
  fprintf(stderr, "%s: cannot %s %s: %s; name another folder as the last argument\n", program, what,
          input_path, strerror(errno));
  exit(1);
}

// Memory is the fastest place for a file; not every machine has it as a folder.
static inline const char* fast_folder(void) {
  return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

// Makes a file of doubles 0, 1, ..., 7, 0, 1, ... in a folder; returns its descriptor, at its
// start.
static inline int make_input(const char* program, const char* folder, size_t bytes) {
  static double block[8192];
  for (size_t i = 0; i < sizeof block / sizeof *block; ++i) {
    block[i] = (double)(i % 8);
  }
  snprintf(input_path, sizeof input_path, "%s/nodewise-example-XXXXXX", folder);
  const int file = mkstemp(input_path);
  if (file < 0) {
    input_failed(program, "make");
  }
  atexit(remove_input);
  for (size_t done = 0; done < bytes;) {
    const size_t part = bytes - done < sizeof block ? bytes - done : sizeof block;
    const ssize_t written = write(file, block, part);
    if (written != (ssize_t)part) {
      errno = written < 0 ? errno : ENOSPC;
      input_failed(program, "write");
    }
    done += part;
  }
  if (lseek(file, 0, SEEK_SET) != 0) {
    input_failed(program, "rewind");
  }
  return file;
}

static inline void read_input(const char* program, int file, double* into, size_t bytes) {
  char* next = (char*)into;
  for (char* const end = next + bytes; next < end;) {
    const ssize_t part = read(file, next, (size_t)(end - next));
    if (part <= 0) {
      errno = part < 0 ? errno : ENODATA;
      input_failed(program, "read");
    }
    next += part;
  }
}

#endif
