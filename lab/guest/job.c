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

static bool is_true(const char* text) {
  return strcmp(text, "1") == 0;
}

static void set_scalar(struct job* job, const char* key, char* value) {
  if (strcmp(key, "cwd") == 0)
    job->working_directory = value;
  else if (strcmp(key, "umask") == 0)
    job->umask = (mode_t)strtoul(value, NULL, 8);
  else if (strcmp(key, "uid") == 0)
    job->uid = (uid_t)strtoul(value, NULL, 10);
  else if (strcmp(key, "gid") == 0)
    job->gid = (gid_t)strtoul(value, NULL, 10);
  else if (strcmp(key, "hostname") == 0)
    job->hostname = value;
  else if (strcmp(key, "clock_ns") == 0)
    job->clock_ns = strtoull(value, NULL, 10);
  else if (strcmp(key, "entropy") == 0)
    job->entropy_hex = value;
  else if (strcmp(key, "numa_balancing") == 0)
    job->numa_balancing = value;
  else if (strcmp(key, "transparent_hugepage") == 0)
    job->transparent_hugepage = value;
  else if (strcmp(key, "overlay") == 0)
    job->overlay = is_true(value);
  else if (strcmp(key, "discard") == 0)
    job->discard = is_true(value);
  else if (strcmp(key, "count") == 0) {
    job->count = *value != '\0';
    job->count_when_announced = strcmp(value, "announced") == 0;
  } else if (strcmp(key, "tty") == 0)
    job->tty = is_true(value);
  else if (strcmp(key, "rows") == 0)
    job->rows = (unsigned short)strtoul(value, NULL, 10);
  else if (strcmp(key, "columns") == 0)
    job->columns = (unsigned short)strtoul(value, NULL, 10);
  else
    fail(EINVAL, "use a runner and a guest-init of the same version", "cannot use the job key '%s'",
         key);
}

static void set(struct job* job, const char* key, char* value) {
  if (strcmp(key, "arg") == 0)
    append(&job->arguments, value);
  else if (strcmp(key, "env") == 0)
    append(&job->environment, value);
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
    char* value = equals + 1;
    set(&job, entry, value);
    entry = value;
  }
  if (job.arguments.count == 0)
    fail(EINVAL, "write a command after --", "cannot run a job without a command");
  if (!job.environment.items)
    job.environment.items = allocate(sizeof(char*)), job.environment.items[0] = NULL;
  return job;
}
