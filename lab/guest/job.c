// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port.h"
#include "support.h"

static void append(struct text_list* list, char* text) {
  list->items = reallocate(list->items, (list->count + 2) * sizeof *list->items);
  list->items[list->count++] = text;
  list->items[list->count] = NULL;
}

static void append_group(struct job* job, const char* text) {
  job->groups = reallocate(job->groups, (job->group_count + 1) * sizeof *job->groups);
  job->groups[job->group_count++] = (gid_t)strtoul(text, NULL, 10);
}

static void append_limit(struct job* job, const char* text) {
  int resource = 0;
  unsigned long long soft = 0;
  unsigned long long hard = 0;
  if (sscanf(text, "%d:%llu:%llu", &resource, &soft, &hard) != 3 ||
      job->limit_count == RESOURCE_LIMITS_MAX)
    fail(EINVAL, "report this as a bug of the lab", "cannot parse the limit '%s'", text);
  job->limits[job->limit_count++] = (struct resource_limit){resource, {soft, hard}};
}

// The other keys have one value: a number, or a text where `base` is 0.
static const struct scalar {
  const char* key;
  size_t offset;
  int base;
} scalars[] = {
    {"cwd", offsetof(struct job, working_directory), 0},
    {"umask", offsetof(struct job, umask), 8},
    {"uid", offsetof(struct job, uid), 10},
    {"gid", offsetof(struct job, gid), 10},
    {"hostname", offsetof(struct job, hostname), 0},
    {"clock_ns", offsetof(struct job, clock_ns), 0},
    {"entropy", offsetof(struct job, entropy_hex), 0},
    {"numa_balancing", offsetof(struct job, numa_balancing), 0},
    {"transparent_hugepage", offsetof(struct job, transparent_hugepage), 0},
    {"overlay", offsetof(struct job, overlay), 10},
    {"discard", offsetof(struct job, discard), 10},
    {"network", offsetof(struct job, network), 10},
    {"disk", offsetof(struct job, disk), 10},
    {"capabilities", offsetof(struct job, capabilities), 16},
    {"count", offsetof(struct job, count), 0},
    {"tty", offsetof(struct job, tty), 10},
    {"rows", offsetof(struct job, rows), 10},
    {"columns", offsetof(struct job, columns), 10},
};

static void set_scalar(struct job* job, const char* key, const char* value) {
  const struct scalar* scalar = scalars;
  const struct scalar* const end = scalars + sizeof scalars / sizeof *scalars;
  while (scalar < end && strcmp(scalar->key, key) != 0)
    scalar++;
  if (scalar == end)
    fail(EINVAL, "use a runner and a guest-init of the same version", "cannot use the job key '%s'",
         key);
  void* field = (char*)job + scalar->offset;
  if (scalar->base == 0)
    *(const char**)field = value;
  else
    *(unsigned*)field = (unsigned)strtoul(value, NULL, scalar->base);
}

static void set(struct job* job, const char* key, char* value) {
  if (strcmp(key, "arg") == 0)
    append(&job->arguments, value);
  else if (strcmp(key, "env") == 0)
    append(&job->environment, value);
  else if (strcmp(key, "file") == 0)
    append(&job->files, value);
  else if (strcmp(key, "group") == 0)
    append_group(job, value);
  else if (strcmp(key, "limit") == 0)
    append_limit(job, value);
  else
    set_scalar(job, key, value);
}

struct job job_parse(const void* payload, size_t size) {
  struct job job = {.umask = 022,
                    .working_directory = "/",
                    .hostname = "lab",
                    .clock_ns = "0",
                    .count = "",
                    .entropy_hex = "",
                    .numa_balancing = "0",
                    .transparent_hugepage = "madvise"};
  // One allocation for all strings, never freed: they live as long as the machine.
  char* text = allocate(size + 1);
  memcpy(text, payload, size);
  text[size] = '\0';
  for (char* entry = text; entry < text + size; entry += strlen(entry) + 1) {
    char* equals = strchr(entry, '=');
    if (!equals)
      fail(EINVAL, "report this as a bug of the lab", "cannot parse the job entry '%s'", entry);
    *equals = '\0';
    set(&job, entry, equals + 1);
    entry = equals + 1;
  }
  if (job.arguments.count == 0)
    fail(EINVAL, "write a command after --", "cannot run a job without a command");
  static char* empty[] = {NULL};
  if (!job.environment.items)
    job.environment.items = empty;
  return job;
}
