// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The job: what to run, as which user, where, and with which state of the kernel.
//
//   arg=TEXT (repeated)       the command
//   env=NAME=VALUE (repeated) its whole environment
//   cwd=PATH umask=OCTAL uid=N gid=N group=N (repeated)
//   limit=RESOURCE:SOFT:HARD (repeated)   resource numbers as in <sys/resource.h>
//   hostname=TEXT
//   network=N                 this guest is host N of a cluster, 10.0.0.N; 0: it has no network
//   file=PATH:TEXT (repeated) the text is appended to the file, in the guest only
//   clock_ns=N                the host's clock, in ns since 1970
//   entropy=HEX               fresh random bytes of the host
//   numa_balancing=0|1|2      transparent_hugepage=never|madvise|always
//   overlay=0|1               1: the working directory is copied back at the end
//   discard=0|1               1: changes to files stay in the guest
//   disk=0|1                  1: the disk is mounted on /scratch
//   capabilities=HEX          a mask of those that the command keeps
//   count=|command|announced  counts traffic: none, all of the command's, or only after it
//                             announces that its program begins
//   tty=0|1 rows=N columns=N
#pragma once

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

struct text_list {
  char** items; // ends with NULL, as execve requires
  size_t count;
};

struct resource_limit {
  int resource;
  struct rlimit value;
};

enum { RESOURCE_LIMITS_MAX = 16 };

struct job {
  struct text_list arguments;
  struct text_list environment;
  const char* working_directory;
  unsigned umask;
  unsigned uid;
  unsigned gid;
  gid_t* groups;
  size_t group_count;
  struct text_list files; // "PATH:TEXT"
  struct resource_limit limits[RESOURCE_LIMITS_MAX];
  size_t limit_count;
  const char* hostname;
  const char* clock_ns;
  const char* entropy_hex;
  const char* numa_balancing;
  const char* transparent_hugepage;
  const char* count;
  unsigned overlay;
  unsigned discard;
  unsigned network;
  unsigned disk;
  unsigned capabilities; // all that can be kept have numbers below 32
  unsigned tty;
  unsigned rows;
  unsigned columns;
};

// Parses the payload of FRAME_JOB; ends the machine if it is invalid.
struct job job_parse(const void* payload, size_t size);
