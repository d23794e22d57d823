/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What the C library promises about starting threads: attributes, results, errors, cancellation,
 * C11's threads, forked children. Holds without the agent, too.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "check.h"

static void* give_back(void* argument) {
  return argument;
}

static void results_and_arguments(void) {
  pthread_t thread;
  void* result = NULL;
  errno = 7;
  CHECK(pthread_create(&thread, NULL, give_back, &result) == 0);
  CHECK(errno == 7);
  CHECK(pthread_join(thread, &result) == 0 && result == &result);
}

static void* own_handle(void* handle) {
  /* The handle is there before the thread is. */
  CHECK(pthread_equal(*(pthread_t*)handle, pthread_self()));
  free(handle);
  return NULL;
}

static void the_thread_owns_its_handle(void) {
  for (int i = 0; i < 200; ++i) {
    pthread_t* const handle = malloc(sizeof *handle);
    void* const same = seen(handle);
    pthread_attr_t detached;
    CHECK(handle != NULL && pthread_attr_init(&detached) == 0);
    CHECK(pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0);
    CHECK(pthread_create(handle, &detached, own_handle, same) == 0);
    CHECK(pthread_attr_destroy(&detached) == 0);
  }
}

static void* look_at_stack(void* expected) {
  pthread_attr_t mine;
  void* start = NULL;
  size_t bytes = 0;
  CHECK(pthread_getattr_np(pthread_self(), &mine) == 0);
  CHECK(pthread_attr_getstack(&mine, &start, &bytes) == 0);
  pthread_attr_destroy(&mine);
  const char here = 0;
  CHECK(&here >= (char*)start && &here < (char*)start + bytes);
  ((void**)expected)[0] = start;
  ((size_t*)expected)[1] = bytes;
  return NULL;
}

/* Less its guard page. */
static int is_about(const void* bytes, size_t wanted) {
  return (size_t)bytes > wanted - (64 << 10) && (size_t)bytes <= wanted;
}

/* Before other threads leave stacks of other sizes to be used again. */
static void stacks(void) {
  void* found[2];
  pthread_attr_t wanted;
  pthread_t thread;
  CHECK(pthread_attr_init(&wanted) == 0);
  CHECK(pthread_attr_setstacksize(&wanted, 3 << 20) == 0);
  CHECK(pthread_create(&thread, &wanted, look_at_stack, found) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && is_about(found[1], 3 << 20));

  void* const own = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(own != MAP_FAILED && pthread_attr_setstack(&wanted, own, 1 << 20) == 0);
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_create(&thread, &wanted, look_at_stack, found) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && found[0] == own && (size_t)found[1] == 1 << 20);
  }
  CHECK(pthread_attr_destroy(&wanted) == 0 && munmap(own, 1 << 20) == 0);

  CHECK(pthread_attr_init(&wanted) == 0);
  CHECK(pthread_attr_setstacksize(&wanted, 5 << 20) == 0);
  CHECK(pthread_setattr_default_np(&wanted) == 0);
  CHECK(pthread_create(&thread, NULL, look_at_stack, found) == 0);
  CHECK(pthread_join(thread, NULL) == 0 && is_about(found[1], 5 << 20));
  CHECK(pthread_attr_destroy(&wanted) == 0);
}

static void too_large_a_stack_is_refused(void) {
  pthread_attr_t wanted;
  pthread_t thread;
  CHECK(pthread_attr_init(&wanted) == 0);
  CHECK(pthread_attr_setstacksize(&wanted, (size_t)1 << 46) == 0);
  CHECK(pthread_create(&thread, &wanted, give_back, NULL) == EAGAIN);
  CHECK(pthread_attr_destroy(&wanted) == 0);
}

static void* signals_blocked(void* unused) {
  sigset_t blocked;
  (void)unused;
  CHECK(pthread_sigmask(SIG_SETMASK, NULL, &blocked) == 0);
  return (void*)(intptr_t)(sigismember(&blocked, SIGUSR2) * 2 + sigismember(&blocked, SIGUSR1));
}

static void signal_mask_of_the_attributes(void) {
  sigset_t blocked;
  pthread_attr_t wanted;
  pthread_t thread;
  void* result = NULL;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  CHECK(pthread_attr_init(&wanted) == 0);
  CHECK(pthread_attr_setsigmask_np(&wanted, &blocked) == 0);
  for (int i = 0; i < 3; ++i) { /* the attributes stay as they are */
    CHECK(pthread_create(&thread, &wanted, signals_blocked, NULL) == 0);
    CHECK(pthread_join(thread, &result) == 0 && (intptr_t)result == 2);
  }
  CHECK(pthread_attr_destroy(&wanted) == 0);
}

static void* affinity_is(void* expected) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CHECK(sched_getaffinity(0, sizeof mine, &mine) == 0);
  CHECK(CPU_EQUAL(&mine, (cpu_set_t*)expected));
  return NULL;
}

static void the_programs_own_affinity(void) {
  cpu_set_t all;
  cpu_set_t one;
  cpu_set_t kept;
  pthread_attr_t wanted;
  pthread_t thread;
  CPU_ZERO(&all);
  CPU_ZERO(&one);
  CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
  size_t last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &all)) {
    --last;
  }
  CPU_SET(last, &one);
  CHECK(pthread_attr_init(&wanted) == 0);
  CHECK(pthread_attr_setaffinity_np(&wanted, sizeof one, &one) == 0);
  for (int i = 0; i < 4; ++i) {
    CHECK(pthread_create(&thread, &wanted, affinity_is, &one) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  CHECK(pthread_attr_getaffinity_np(&wanted, sizeof kept, &kept) == 0 && CPU_EQUAL(&kept, &one));
  /* One that is nowhere is refused, as always. */
  CPU_ZERO(&one);
  CPU_SET(CPU_SETSIZE - 1, &one);
  CHECK(CPU_ISSET(CPU_SETSIZE - 1, &all) ||
        pthread_attr_setaffinity_np(&wanted, sizeof one, &one) == 0);
  CHECK(CPU_ISSET(CPU_SETSIZE - 1, &all) ||
        pthread_create(&thread, &wanted, affinity_is, &one) == EINVAL);
  CHECK(pthread_attr_destroy(&wanted) == 0);
}

static _Atomic int cleaned;
static void clean(void* unused) {
  (void)unused;
  ++cleaned;
}
static void* wait_for_ever(void* unused) {
  pthread_cleanup_push(clean, unused);
  for (;;) {
    pause();
  }
  pthread_cleanup_pop(0);
  return NULL;
}
static void* leave(void* result) {
  pthread_cleanup_push(clean, NULL);
  pthread_exit(result);
  pthread_cleanup_pop(0);
}

static void cancellation_and_exit(void) {
  pthread_t thread;
  void* result = NULL;
  CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
  CHECK(pthread_cancel(thread) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(pthread_create(&thread, NULL, leave, &cleaned) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == &cleaned);
  CHECK(cleaned >= 1);
}

/* Starting a thread is no point of cancellation. */
static void* start_with_a_cancellation_pending(void* unused) {
  pthread_t thread;
  (void)unused;
  CHECK(pthread_cancel(pthread_self()) == 0);
  CHECK(pthread_create(&thread, NULL, give_back, NULL) == 0);
  CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  return &cleaned;
}

static void no_cancellation_point(void) {
  pthread_t thread;
  void* result = NULL;
  CHECK(pthread_create(&thread, NULL, start_with_a_cancellation_pending, NULL) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result == &cleaned);
}

static int minus(void* number) {
  return -*(int*)number;
}
static int leave_c11(void* number) {
  thrd_exit(*(int*)number);
}

static void c11_threads(void) {
  thrd_t thread;
  int number = 40;
  int result = 0;
  CHECK(thrd_create(&thread, minus, &number) == thrd_success);
  CHECK(thrd_join(thread, &result) == thrd_success && result == -40);
  CHECK(thrd_create(&thread, leave_c11, &number) == thrd_success);
  CHECK(thrd_join(thread, &result) == thrd_success && result == 40);
}

static pthread_key_t keys[8];
static _Atomic int key_values;
static void end_value(void* value) {
  key_values += (int)(intptr_t)value;
}
static void* set_keys(void* unused) {
  for (intptr_t i = 0; i < 8; ++i) {
    CHECK(pthread_setspecific(keys[i], (void*)(i + 1)) == 0);
  }
  return unused;
}

static void thread_specific_values_end(void) {
  pthread_t thread;
  for (int i = 0; i < 8; ++i) {
    CHECK(pthread_key_create(&keys[i], end_value) == 0);
  }
  CHECK(pthread_create(&thread, NULL, set_keys, NULL) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(key_values == 36);
}

static void* fork_and_start(void* unused) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    results_and_arguments();
    cancellation_and_exit();
    exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return unused;
}

static void children_start_threads(void) {
  pthread_t thread[4];
  fork_and_start(NULL);
  for (int i = 0; i < 4; ++i) {
    CHECK(pthread_create(&thread[i], NULL, fork_and_start, NULL) == 0);
  }
  for (int i = 0; i < 4; ++i) {
    CHECK(pthread_join(thread[i], NULL) == 0);
  }
}

static void* wait_at(void* gate) {
  pthread_barrier_wait(gate);
  return NULL;
}

/* More at once than anybody keeps a table for. */
static void many_at_once(void) {
  enum { many = 1500 };
  static pthread_t thread[many];
  pthread_attr_t small;
  CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 64 << 10) == 0);
  static pthread_barrier_t gate;
  CHECK(pthread_barrier_init(&gate, NULL, many + 1) == 0);
  for (int i = 0; i < many; ++i) {
    CHECK(pthread_create(&thread[i], &small, wait_at, &gate) == 0);
  }
  pthread_barrier_wait(&gate);
  for (int i = 0; i < many; ++i) {
    CHECK(pthread_join(thread[i], NULL) == 0);
  }
  CHECK(pthread_attr_destroy(&small) == 0 && pthread_barrier_destroy(&gate) == 0);
}

int main(void) {
  stacks();
  results_and_arguments();
  the_thread_owns_its_handle();
  too_large_a_stack_is_refused();
  signal_mask_of_the_attributes();
  the_programs_own_affinity();
  cancellation_and_exit();
  no_cancellation_point();
  c11_threads();
  thread_specific_values_end();
  children_start_threads();
  many_at_once();
  puts("ok");
  return 0;
}
