/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * reads CASE: system calls write into large objects. Each case prints the object's address and the
 * bytes of it that were written. With FIXED the object is a static array, whose size the compiler
 * knows, so that _FORTIFY_SOURCE has something to check.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

enum { page = 4096 };

static int zeros;
static volatile size_t length = page; /* nothing that a compiler could know */
#ifdef FIXED
static _Alignas(page) unsigned char block[4 * large];
#else
static unsigned char* block; /* of 4 MiB */
#endif

static void told(size_t first, size_t last) {
  printf("%p %zu %zu\n", (void*)block, first, last);
}

static void by_read(void) {
  CHECK(read(zeros, block, length) == page);
  told(0, page);
  for (size_t at = 0; at < 2 * (size_t)large; at += page) {
    CHECK(read(zeros, block + at, length) == page);
  }
  told(0, 2 * (size_t)large);
}

static void by_pread(void) {
  CHECK(pread(zeros, block, length, 0) == page);
  CHECK(pread64(zeros, block, length, 0) == page);
  told(0, page);
  told(0, page);
  for (size_t at = 0; at < large; at += page) {
    CHECK(pread(zeros, block + at, length, (off_t)at) == page);
    CHECK(pread64(zeros, block + large + at, length, (off_t)at) == page);
  }
  told(0, large);
  told(large, 2 * (size_t)large);
}

static void by_vectors(void) {
  struct iovec parts[] = {{block + page, 100}, {block + page + 100, 5000}, {block + 3 * large, 10}};
  CHECK(readv(zeros, parts, 3) == 5110);
  CHECK(preadv(zeros, parts, 2, 0) == 5100);
  CHECK(preadv64(zeros, parts, 1, 0) == 100);
  told(page, page + 5100);
  told(3 * (size_t)large, 3 * (size_t)large + 10);
  told(page, page + 5100);
  told(page, page + 100);
}

/* The C library reads large pieces straight into the program's memory, small ones by its buffer. */
static void by_fread(void) {
  FILE* const file = fopen("/dev/zero", "r");
  CHECK(file != NULL);
  CHECK(fread(block, 1, length, file) == page);
  CHECK((fread_unlocked)(block, 1, length, file) == page);
  told(0, page);
  told(0, page);
  for (size_t at = 0; at < large; at += 8 * page) {
    CHECK(fread(block + at, 8, length, file) == page);
  }
  for (size_t at = large; at < 2 * (size_t)large; at += page) {
    CHECK((fread_unlocked)(block + at, 1, length, file) == page);
  }
  fclose(file);
  told(0, large);
  told(large, 2 * (size_t)large);
}

static void by_sockets(void) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  CHECK(send(ends[0], "0123456789", 10, 0) == 10);
  CHECK(recv(ends[1], block, length / page * 3, 0) == 3);
  CHECK(recvfrom(ends[1], block + large, length / page * 3, 0, NULL, NULL) == 3);
  struct iovec part = {block + 2 * large, 4};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  CHECK(recvmsg(ends[1], &message, 0) == 4);
  told(0, 3);
  told(large, large + 3);
  told(2 * (size_t)large, 2 * (size_t)large + 4);
}

/* Four places in turn, over and over: each goes on where it was. */
static void in_turn(void) {
  for (size_t at = 0; at < large / 4; at += page) {
    for (size_t i = 0; i < 4; ++i) {
      CHECK(read(zeros, block + i * large / 2 + at, page) == page);
    }
  }
  for (size_t i = 0; i < 4; ++i) {
    told(i * large / 2, i * large / 2 + large / 4);
  }
}

/* One buffer, filled again and again. */
static void again(void) {
  for (int i = 0; i < 1000; ++i) {
    CHECK(read(zeros, block, large) == large);
  }
  told(0, large);
}

/* Nothing large is written. */
static void elsewhere(void) {
  char local[100];
  unsigned char* const small = malloc(100);
  static char fixed[100];
  for (int i = 0; i < 1000; ++i) {
    CHECK(read(zeros, local, sizeof local) == sizeof local);
    CHECK(read(zeros, small, 100) == 100);
    CHECK(read(zeros, fixed, sizeof fixed) == sizeof fixed);
  }
  free(small);
  errno = 0;
  CHECK(read(-1, block, page) == -1 && errno == EBADF);
  CHECK(read(zeros, block, 0) == 0);
}

static void* read_part(void* start) {
  for (size_t at = 0; at < large; at += page) {
    CHECK(read(zeros, (unsigned char*)start + at, page) == page);
  }
  return NULL;
}

static void by_threads(void) {
  pthread_t threads[3];
  for (size_t i = 0; i < 3; ++i) {
    CHECK(pthread_create(&threads[i], NULL, read_part, block + i * large) == 0);
  }
  for (size_t i = 0; i < 3; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    told(i * large, (i + 1) * large);
  }
}

/* More threads than the agent can know at once, one after the other. */
static void by_many_threads(void) {
  for (size_t i = 0; i < 2000; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_part, block) == 0 && pthread_join(thread, NULL) == 0);
    told(0, large);
  }
}

static int cleaned;
static void clean(void* unused) {
  (void)unused;
  ++cleaned;
}
static void* wait_for_ever(void* descriptor) {
  pthread_cleanup_push(clean, NULL);
  CHECK(read(*(int*)descriptor, block, page) == page);
  pthread_cleanup_pop(1);
  return NULL;
}

/* read() is a cancellation point. */
static void cancelled(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pthread_t thread;
  void* result = NULL;
  CHECK(pthread_create(&thread, NULL, wait_for_ever, &ends[0]) == 0);
  CHECK(usleep(20000) == 0);
  CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
  CHECK(result == PTHREAD_CANCELED && cleaned == 1);
}

static volatile sig_atomic_t handled;
static void read_in_handler(int unused) {
  (void)unused;
  const int before = errno;
  CHECK(read(zeros, block + 2 * large, page) == page);
  CHECK(errno == before);
  ++handled;
}

/* A handler reads while the program does. */
static void in_handler(void) {
  const struct sigaction action = {.sa_handler = read_in_handler, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval often = {{0, 100}, {0, 100}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  while (handled < 3000) {
    CHECK(read(zeros, block, page) == page);
    free(seen(malloc(large)));
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

static void rows(void) {
  enum { count = 500 };
  unsigned char* row[count];
  for (size_t i = 0; i < count; ++i) {
    row[i] = malloc(2048);
    CHECK(row[i] != NULL);
  }
  for (size_t i = 100; i < count; ++i) {
    CHECK(read(zeros, row[i], 2048) == 2048);
  }
  printf("%p 0 %zu\n", (void*)row[100], (size_t)(row[count - 1] + 2048 - row[100]));
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
    {"read", by_read},
    {"pread", by_pread},
    {"vectors", by_vectors},
    {"fread", by_fread},
    {"sockets", by_sockets},
    {"in_turn", in_turn},
    {"again", again},
    {"elsewhere", elsewhere},
    {"threads", by_threads},
    {"cancelled", cancelled},
    {"in_handler", in_handler},
    {"rows", rows},
    {"many_threads", by_many_threads},
};

int main(int argc, char** argv) {
  CHECK(argc == 2);
  zeros = open("/dev/zero", O_RDONLY);
#ifndef FIXED
  block = malloc(4 * (size_t)large);
  CHECK(block != NULL);
#endif
  CHECK(zeros >= 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) {
      cases[i].run();
      return 0;
    }
  }
  return 2;
}
