/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Threads that allocate, resize and free, each other's objects too, while children are forked.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { thread_count = 8, rounds = 1500, shelf_count = 64 };

struct item {
  size_t bytes;
  unsigned seed;
};
static _Atomic(unsigned char*) shelf[shelf_count];

static unsigned next_random(unsigned* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static unsigned char* make(unsigned* state) {
  static const size_t most[] = {200, 5000, 200000, 3 * large, 6 * large};
  struct item made = {sizeof made + next_random(state) % most[next_random(state) % 5],
                      next_random(state)};
  unsigned char* const p = malloc(made.bytes);
  CHECK(p != NULL);
  memcpy(p, &made, sizeof made);
  p[made.bytes - 1] = (unsigned char)made.seed;
  return p;
}

static void check_and_free(unsigned char* p) {
  struct item found;
  memcpy(&found, p, sizeof found);
  if (found.bytes > sizeof found) {
    CHECK(p[found.bytes - 1] == (unsigned char)found.seed);
  }
  free(p);
}

static unsigned char* resize(unsigned char* p, unsigned* state) {
  struct item found;
  memcpy(&found, p, sizeof found);
  found.bytes = sizeof found + next_random(state) % (4 * large);
  p = realloc(p, found.bytes);
  CHECK(p != NULL);
  memcpy(p, &found, sizeof found);
  p[found.bytes - 1] = (unsigned char)found.seed;
  return p;
}

static void* work(void* number) {
  unsigned state = (unsigned)(uintptr_t)number * 7919u + 1u;
  for (int round = 0; round < rounds; ++round) {
    unsigned char* p = make(&state);
    if (next_random(&state) % 4 == 0) {
      p = resize(p, &state);
    }
    p = atomic_exchange(&shelf[next_random(&state) % shelf_count], p);
    if (p != NULL) {
      check_and_free(p);
    }
  }
  return NULL;
}

/* The child of a process of many threads can allocate and free, whatever the others were doing. */
static void fork_a_child(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    unsigned state = (unsigned)getpid();
    for (int i = 0; i < 20; ++i) {
      check_and_free(make(&state));
    }
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
  pthread_t thread[thread_count];
  for (uintptr_t i = 0; i < thread_count; ++i) {
    CHECK(pthread_create(&thread[i], NULL, work, (void*)i) == 0);
  }
  for (int i = 0; i < 40; ++i) {
    fork_a_child();
  }
  for (int i = 0; i < thread_count; ++i) {
    CHECK(pthread_join(thread[i], NULL) == 0);
  }
  for (int i = 0; i < shelf_count; ++i) {
    unsigned char* const p = atomic_load(&shelf[i]);
    if (p != NULL) {
      check_and_free(p);
    }
  }
  puts("ok");
  return 0;
}
