/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Starts a program by one of the functions that do.
 *
 *   starts FUNCTION PROGRAM
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern char** environ;

static int wait_for(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  const char* const by = argv[1];
  char* const program = argv[2];
  char* const name = strrchr(program, '/') + 1;
  char* const arguments[] = {program, NULL};
  pid_t child = -1;
  if (strcmp(by, "execve") == 0) {
    execve(program, arguments, environ);
  } else if (strcmp(by, "execv") == 0) {
    execv(program, arguments);
  } else if (strcmp(by, "execvp") == 0) {
    execvp(name, arguments);
  } else if (strcmp(by, "execvpe") == 0) {
    execvpe(name, arguments, environ);
  } else if (strcmp(by, "execl") == 0) {
    execl(program, program, NULL);
  } else if (strcmp(by, "execlp") == 0) {
    execlp(name, program, NULL);
  } else if (strcmp(by, "execle") == 0) {
    execle(program, program, NULL, environ);
  } else if (strcmp(by, "fexecve") == 0) {
    fexecve(open(program, O_RDONLY), arguments, environ);
  } else if (strcmp(by, "execveat") == 0) {
    execveat(AT_FDCWD, program, arguments, environ, 0);
  } else if (strcmp(by, "vfork") == 0) {
    child = vfork();
    if (child == 0) {
      execve(program, arguments, environ);
      _exit(127);
    }
    return wait_for(child);
  } else if (strcmp(by, "posix_spawn") == 0) {
    CHECK(posix_spawn(&child, program, NULL, NULL, arguments, environ) == 0);
    return wait_for(child);
  } else if (strcmp(by, "posix_spawnp") == 0) {
    CHECK(posix_spawnp(&child, name, NULL, NULL, arguments, environ) == 0);
    return wait_for(child);
  }
  perror(by);
  return 1;
}
