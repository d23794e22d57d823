// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A file that is in the kernel's page cache, on one node. The program that includes it defines
// _GNU_SOURCE first.
#ifndef NODEWISE_EXAMPLES_PAGE_CACHE_H
#define NODEWISE_EXAMPLES_PAGE_CACHE_H

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>

#include "../shared/input_file.h"

// Binds the caller to the first processor that it may use, and says where it was.
static inline void to_first_processor(const char* program, cpu_set_t* before) {
  cpu_set_t one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof *before, before) != 0) {
    fprintf(stderr, "%s: cannot ask for its processors: %s\n", program, strerror(errno));
    exit(1);
  }
  for (size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, before)) {
      CPU_SET(processor, &one);
      break;
    }
  }
  sched_setaffinity(0, sizeof one, &one);
}

// Writes a file and reads it, with the first processor: its pages fill that processor's node. It is
// read as mapped memory, since a network's file system may keep only mapped pages. Returns the
// file's descriptor.
static inline int fill_page_cache(const char* program, const char* folder, size_t bytes) {
  cpu_set_t before;
  to_first_processor(program, &before);
  const int file = make_input(program, folder, bytes);
  const char* mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    input_failed(program, "map");
  }
  for (size_t at = 0; at < bytes; at += 4096) {
    (void)*(const volatile char*)(mapped + at);
  }
  munmap((void*)mapped, bytes);
  sched_setaffinity(0, sizeof before, &before);
  return file;
}

// Takes the file out of the page cache, as any user may for a file of one's own: what is not yet on
// the disk is written first, for only clean pages can go.
static inline void drop_page_cache(const char* program, int file) {
  if (fsync(file) != 0) {
    input_failed(program, "write");
  }
  errno = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  if (errno != 0) {
    input_failed(program, "drop");
  }
}

#endif
