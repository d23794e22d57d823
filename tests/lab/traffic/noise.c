// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A process that is not to be counted, streaming over memory of its own on every processor in turn
// until it is killed; or, given a command, two of them beside it.
//
// usage: noise COMMAND [ARGUMENT]...
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nodewise/marker.h>

enum { BYTES = 16 << 20, PROCESSES = 2 };

static void stream_for_ever(void) {
  volatile char* memory = malloc(BYTES);
  for (size_t cpu = 0; memory; cpu = (cpu + 1) % (size_t)sysconf(_SC_NPROCESSORS_ONLN)) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    for (size_t i = 0; i < BYTES; i += 64)
      memory[i]++;
  }
}

int main(int argc, char** argv) {
  pid_t noise[PROCESSES];
  NODEWISE_MARKER_SAY(NODEWISE_MARKER_EXCLUDE);
  for (int i = 0; i < PROCESSES; ++i) {
    noise[i] = fork();
    if (noise[i] == 0) {
      NODEWISE_MARKER_SAY(NODEWISE_MARKER_EXCLUDE);
      stream_for_ever();
    }
  }
  pid_t command = fork();
  if (command == 0) {
    NODEWISE_MARKER_SAY(NODEWISE_MARKER_OBSERVE);
    execvp(argv[1], argv + (argc > 1));
    _exit(127);
  }
  int status = 0;
  waitpid(command, &status, 0);
  for (int i = 0; i < PROCESSES; ++i)
    kill(noise[i], SIGKILL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
