/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * descriptors CASE [FILE]: a program whose descriptor numbers are its own business. The files that
 * it opens contain what it writes itself and nothing else, and open() returns the lowest number
 * that it has left free.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char own[] = "own\n";

static void write_own(int file) {
  CHECK(write(file, own, sizeof own - 1) == (ssize_t)(sizeof own - 1));
}

static int create(const char* name) {
  return open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

/* Objects that the tests' settings cannot place, which is said at the end. */
static void make_objects(void) {
  for (int i = 0; i < 3; ++i) {
    free(seen(malloc(2 * large)));
  }
}

static void closed(const char* name) {
  close(2);
  CHECK(create(name) == 2);
  write_own(2);
}
static void duplicated(const char* name) {
  const int file = create(name);
  CHECK(dup2(file, 2) == 2);
  write_own(file);
}
/* Many file systems give the inode number of a file that was just deleted to the next new one. */
static void replaced(const char* name) {
  close(2);
  CHECK(unlink(name) == 0);
  CHECK(create(name) == 2);
  write_own(2);
}
static void in_child(const char* name) {
  const pid_t child = fork();
  if (child == 0) {
    closed(name);
    make_objects();
    exit(0);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* Who opens files waits, so that the numbers are this thread's. */
static pthread_mutex_t numbers = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool runs;

static void* take_zero(void* unused) {
  for (;;) {
    pthread_mutex_lock(&numbers);
    close(0);
    const int file = open("/dev/null", O_RDONLY);
    if (file != 0) {
      fprintf(stderr, "open() returned %d\n", file);
      _exit(7);
    }
    pthread_mutex_unlock(&numbers);
    atomic_store(&runs, true);
  }
  return unused;
}

static void* allocate(void* unused) {
  for (int i = 0; i < 1500; ++i) {
    unsigned char* const block = malloc(2 * large);
    CHECK(block != NULL);
    block[(size_t)i % 512 * 4096] = 1; /* the other pages are asked about, too */
    free(block);
  }
  return unused;
}

static void* nothing(void* unused) {
  return unused;
}

/* A thread takes number 0 again and again, to the very end, while others give the agent work. */
static void lowest(const char* plugin) {
  pthread_t taker;
  pthread_t workers[2];
  CHECK(pthread_create(&taker, NULL, take_zero, NULL) == 0);
  while (!atomic_load(&runs)) {
    usleep(100);
  }
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_create(&workers[i], NULL, allocate, NULL) == 0);
  }
  for (int i = 0; i < 30; ++i) {
    pthread_mutex_lock(&numbers);
    void* const loaded = dlopen(plugin, RTLD_NOW);
    pthread_mutex_unlock(&numbers);
    CHECK(loaded != NULL);
    pthread_t thread; /* here the agent looks at the library's static arrays */
    CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(dlclose(loaded) == 0);
  }
  for (int i = 0; i < 2; ++i) {
    CHECK(pthread_join(workers[i], NULL) == 0);
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(const char*);
  } cases[] = {{"closed", closed},
               {"duplicated", duplicated},
               {"replaced", replaced},
               {"in_child", in_child},
               {"lowest", lowest}};
  CHECK(argc == 3 || argc == 1);
  for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof cases[0]; ++i) {
    if (strcmp(argv[1], cases[i].name) == 0) {
      cases[i].run(argv[2]);
    }
  }
  make_objects();
  puts("ok");
  return 0;
}
