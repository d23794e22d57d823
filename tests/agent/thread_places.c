/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * thread_places MODE COUNT: starts threads and prints where each may run, in the order of starting,
 * one line "NUMBER CPUS" each.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "check.h"

enum { most = 64 };
static char where[most][256];
static pthread_barrier_t gate;
static cpu_set_t last_cpu;
static pthread_key_t lingering;

static void note(size_t number) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CHECK(sched_getaffinity(0, sizeof mine, &mine) == 0);
  char* at = where[number];
  *at = '\0';
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mine) && at < where[number] + 240) {
      at += sprintf(at, "%s%zu", at == where[number] ? "" : ",", cpu);
    }
  }
}

static void* work(void* number) {
  note((size_t)number); /* the very first thing */
  char name[16];
  snprintf(name, sizeof name, "worker-%zu", (size_t)number);
  prctl(PR_SET_NAME, name);
  return NULL;
}
_Noreturn static void* work_and_stay(void* number) {
  work(number);
  pthread_barrier_wait(&gate);
  for (;;) {
    pause();
  }
}
static int work_c11(void* number) {
  work(number);
  return 0;
}
static void* bind_and_work(void* number) {
  CHECK(sched_setaffinity(0, sizeof last_cpu, &last_cpu) == 0);
  work_and_stay(number);
}

static void print(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    printf("%zu %s\n", i, where[i]);
  }
  fflush(stdout);
}

static void posix(size_t count) {
  pthread_t thread[most];
  for (size_t i = 0; i < count; ++i) {
    CHECK(pthread_create(&thread[i], NULL, work, (void*)i) == 0);
  }
  for (size_t i = 0; i < count; ++i) {
    CHECK(pthread_join(thread[i], NULL) == 0);
  }
  print(count);
}

static void c11(size_t count) {
  thrd_t thread[most];
  for (size_t i = 0; i < count; ++i) {
    CHECK(thrd_create(&thread[i], work_c11, (void*)i) == thrd_success);
  }
  for (size_t i = 0; i < count; ++i) {
    CHECK(thrd_join(thread[i], NULL) == thrd_success);
  }
  print(count);
}

/* Teams one after the other, the main thread among them. */
static void teams(size_t count) {
  for (int team = 0; team < 2; ++team) {
    pthread_t thread[most];
    for (size_t i = 1; i < count; ++i) {
      CHECK(pthread_create(&thread[i], NULL, work, (void*)i) == 0);
    }
    note(0);
    for (size_t i = 1; i < count; ++i) {
      CHECK(pthread_join(thread[i], NULL) == 0);
    }
    print(count);
  }
}

/* Threads that live to the process's end. */
static void staying(size_t count, void* (*run)(void*)) {
  pthread_t thread;
  CHECK(pthread_barrier_init(&gate, NULL, (unsigned)count + 1) == 0);
  for (size_t i = 0; i < count; ++i) {
    CHECK(pthread_create(&thread, NULL, run, (void*)i) == 0);
  }
  pthread_barrier_wait(&gate);
  print(count);
}

/* Threads whose last destructor does not return: the agent's has run, the kernel still lists them.
 */
static void wait_in_the_destructor(void* value) {
  (void)value;
  pthread_barrier_wait(&gate);
  for (;;) {
    pause();
  }
}
static void* work_and_linger(void* number) {
  static _Thread_local int any;
  work(number);
  CHECK(pthread_setspecific(lingering, &any) == 0);
  return NULL;
}
static void linger(size_t count) {
  CHECK(pthread_key_create(&lingering, wait_in_the_destructor) == 0);
  staying(count, work_and_linger);
}

/* Bound by who started it, perhaps before it has begun to run. */
static void bound_by_main(size_t count) {
  pthread_t thread;
  CHECK(pthread_barrier_init(&gate, NULL, (unsigned)count + 1) == 0);
  for (size_t i = 0; i < count; ++i) {
    CHECK(pthread_create(&thread, NULL, work_and_stay, (void*)i) == 0);
    CHECK(pthread_setaffinity_np(thread, sizeof last_cpu, &last_cpu) == 0);
  }
  pthread_barrier_wait(&gate);
}

static void with_attributes(size_t count) {
  pthread_attr_t wanted;
  pthread_t thread;
  CHECK(pthread_attr_init(&wanted) == 0);
  CHECK(pthread_attr_setaffinity_np(&wanted, sizeof last_cpu, &last_cpu) == 0);
  CHECK(pthread_barrier_init(&gate, NULL, (unsigned)count + 1) == 0);
  for (size_t i = 0; i < count; ++i) {
    CHECK(pthread_create(&thread, &wanted, work_and_stay, (void*)i) == 0);
  }
  CHECK(pthread_attr_destroy(&wanted) == 0);
  pthread_barrier_wait(&gate);
  print(count);
}

static void in_a_child(size_t count) {
  posix(1);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    posix(count);
    exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* Prints by how many KiB the process has grown in memory. */
static void short_lived(size_t count) {
  long before = 0;
  for (size_t i = 0; i < count; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, (void*)(i % most)) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    if (i == count / 2 || i + 1 == count) {
      FILE* const file = fopen("/proc/self/statm", "r");
      long size = 0;
      long resident = 0;
      CHECK(file != NULL && fscanf(file, "%ld %ld", &size, &resident) == 2);
      fclose(file);
      if (i + 1 == count) {
        printf("grown %ld\n", (resident - before) * (sysconf(_SC_PAGESIZE) >> 10));
      }
      before = resident;
    }
  }
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  const char* const mode = argv[1];
  const size_t count = strtoul(argv[2], NULL, 10);
  cpu_set_t all;
  CPU_ZERO(&all);
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all)) {
      CPU_ZERO(&last_cpu);
      CPU_SET(cpu, &last_cpu);
    }
  }
  if (strcmp(mode, "posix") == 0) {
    posix(count);
  } else if (strcmp(mode, "c11") == 0) {
    c11(count);
  } else if (strcmp(mode, "staying") == 0) {
    staying(count, work_and_stay);
  } else if (strcmp(mode, "lingering") == 0) {
    linger(count);
  } else if (strcmp(mode, "binding") == 0) {
    staying(count, bind_and_work);
  } else if (strcmp(mode, "bound-by-main") == 0) {
    bound_by_main(count);
  } else if (strcmp(mode, "attributes") == 0) {
    with_attributes(count);
  } else if (strcmp(mode, "child") == 0) {
    in_a_child(count);
  } else if (strcmp(mode, "teams") == 0) {
    teams(count);
  } else if (strcmp(mode, "short-lived") == 0) {
    short_lived(count);
  } else {
    return 2;
  }
  return 0;
}
