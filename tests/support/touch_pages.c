/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * touch_pages PAGES THREADS [wait | fork | die | use]
 *
 * Each thread writes to so many fresh pages and says "TID FIRST" on standard output: its number and
 * the address of its first page. wait: says "ready" and does so at the first byte of standard
 * input. fork: not itself, but a child does, which executes the program anew. die: ends by SIGTERM.
 * use: each thread goes on reading its pages for eight seconds. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { page_bytes = 4096 };
static size_t pages;
static int use_s;

static void* touch(void* part) {
  volatile char* const first = part;
  for (size_t i = 0; i < pages; ++i) {
    first[i * page_bytes] = 1;
  }
  for (const time_t end = time(NULL) + use_s; time(NULL) < end;) {
    for (size_t i = 0; i < pages * page_bytes; i += 64) {
      (void)first[i];
    }
  }
  printf("%ld %lu\n", (long)syscall(SYS_gettid), (unsigned long)(uintptr_t)part);
  return NULL;
}

static int touch_in_threads(size_t threads) {
  const size_t bytes = threads * pages * page_bytes;
  char* const all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_t* const ids = calloc(threads, sizeof *ids);
  if (all == MAP_FAILED || ids == NULL || madvise(all, bytes, MADV_NOHUGEPAGE) != 0) {
    return 1;
  }
  for (size_t i = 0; i < threads; ++i) {
    if (pthread_create(&ids[i], NULL, touch, all + i * pages * page_bytes) != 0) {
      return 1;
    }
  }
  for (size_t i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
  }
  free(ids);
  return fflush(stdout);
}

int main(int count, char** words) {
  if (count < 3) {
    return 2;
  }
  const char* const how = count > 3 ? words[3] : "";
  pages = strtoul(words[1], NULL, 10);
  if (strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      execl(words[0], words[0], words[1], words[2], (char*)NULL);
      _exit(127);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 1;
  }
  if (strcmp(how, "wait") == 0) {
    puts("ready");
    fflush(stdout);
    (void)getchar();
  }
  use_s = strcmp(how, "use") == 0 ? 8 : 0;
  const int failed = touch_in_threads(strtoul(words[2], NULL, 10));
  if (strcmp(how, "die") == 0) {
    raise(SIGTERM);
  }
  return failed;
}
