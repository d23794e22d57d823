// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Also compiled as C++. It measures its regions itself, from inside and from outside, and prints
// "inner outer" in nanoseconds.
//
// usage: marked_times [fork|exec|_exit|exit|kill]
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nodewise/marker.h>

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void wait_ms(long long milliseconds) {
  const long long end = now_ns() + milliseconds * 1000000;
  while (now_ns() < end) {
  }
}

static void measure(const char* name, int visits) {
  long long inner = 0;
  long long outer = 0;
  for (int i = 0; i < visits; ++i) {
    const long long before = now_ns();
    NODEWISE_MARKER_START(name);
    const long long first = now_ns();
    wait_ms(1);
    NODEWISE_MARKER_START(name);
    wait_ms(1);
    NODEWISE_MARKER_STOP(name);
    wait_ms(1);
    const long long last = now_ns();
    NODEWISE_MARKER_STOP(name);
    outer += now_ns() - before;
    inner += last - first;
  }
  printf("%lld %lld\n", inner, outer);
  fflush(stdout);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  NODEWISE_MARKER_USE();
  NODEWISE_MARKER_STOP("never opened");
  measure("work", 3);
  if (strcmp(how, "fork") == 0 && fork() == 0) {
    measure("work", 2);
    return 0;
  }
  if (strcmp(how, "exec") == 0) {
    execl(argv[0], argv[0], (char*)0);
  }
  if (*how != '\0') {
    NODEWISE_MARKER_START("open");
  }
  if (strcmp(how, "_exit") == 0) {
    _exit(0);
  }
  if (strcmp(how, "kill") == 0) {
    kill(getpid(), SIGKILL);
  }
  while (wait(0) > 0) {
  }
  return 0;
}
