/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * A group of blocks grows; one thread is placing it when another one frees a block, which is when a
 * group is reported: not before it is placed.
 *
 * usage: settling REPORT     the file that the agent reports to
 *
 * The agent asks the kernel by syscall(2), which this program defines: it stops the first mbind.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "check.h"

enum { first_blocks = 4000, all_blocks = 8000, block_bytes = 512 };

static atomic_bool armed;
static atomic_bool was_stopped;
static sem_t placing, looked;
static const char* report;
static char* block[all_blocks];

__attribute__((visibility("default"))) long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (real == NULL) {
    *(void**)&real = dlsym(RTLD_NEXT, "syscall");
  }
  long argument[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) { /* as syscall(2) itself does, however many were given */
    argument[i] = va_arg(list, long);
  }
  va_end(list);
  if (number == SYS_mbind && atomic_exchange(&armed, 0)) {
    atomic_store(&was_stopped, 1);
    sem_post(&placing);
    sem_wait(&looked);
  }
  return real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

__attribute__((noinline)) static char* one_more(void) {
  char* const made = malloc(block_bytes);
  CHECK(made != NULL);
  made[0] = 1;
  return made;
}

/* Bytes of records: the file's first word says so. */
static uint64_t reported(void) {
  uint64_t used = 0;
  FILE* const file = fopen(report, "rb");
  CHECK(file != NULL && fread(&used, sizeof used, 1, file) == 1);
  fclose(file);
  return used;
}

static void* free_one_meanwhile(void* ignored) {
  sem_wait(&placing);
  const uint64_t before = reported();
  free(block[first_blocks - 1]);
  CHECK(reported() == before); /* by now half of what was to be said of it is */
  sem_post(&looked);
  return ignored;
}

static void* nothing(void* ignored) {
  return ignored;
}

int main(int count, char** arguments) {
  CHECK(count == 2);
  report = arguments[1];
  CHECK(sem_init(&placing, 0, 0) == 0 && sem_init(&looked, 0, 0) == 0);
  for (int i = 0; i < first_blocks; i++) {
    block[i] = one_more();
  }
  pthread_t other, last;
  CHECK(pthread_create(&other, NULL, free_one_meanwhile, NULL) == 0); /* the group is placed */
  for (int i = first_blocks; i < all_blocks; i++) {
    block[i] = one_more();
  }
  atomic_store(&armed, 1);
  CHECK(pthread_create(&last, NULL, nothing, NULL) == 0); /* and placed again, as it has grown */
  CHECK(was_stopped);
  CHECK(pthread_join(other, NULL) == 0 && pthread_join(last, NULL) == 0);
  const uint64_t before = reported();
  free(block[first_blocks - 2]);
  CHECK(reported() > before); /* it was left for the next one to say */
  puts("ok");
  return 0;
}
