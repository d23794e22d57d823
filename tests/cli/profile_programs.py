# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Programs to profile: each line that matters says what it is, and is found by that."""

import subprocess
import tempfile
from pathlib import Path

C = r"""
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
enum { bytes = 8 << 20 };
static char field[bytes];
__attribute__((noinline)) static char* make(void) {
  return (char*)malloc(bytes + 64) + 64; /* makes a */
}
static void* touch(void* half) {
  for (size_t i = 0; i < bytes / 2; i += 512)
    ((volatile char*)half)[i] = 1; /* touches a */
  return NULL;
}
int main(int count, char** words) {
  const char* how = count > 1 ? words[1] : "";
  char* a = make();
  char* b = malloc(bytes); /* makes b */
  memset(b, 1, bytes); /* touches b */
  memset(field, 1, bytes); /* touches field */
  pthread_t other;
  pthread_create(&other, NULL, touch, a);
  pthread_join(other, NULL);
  touch(a + bytes / 2);
  printf("%d %d %d\n", a[0], b[1], field[2]);
  fflush(stdout);
  if (strcmp(how, "die") == 0)
    raise(SIGSEGV);
  if (strcmp(how, "become") == 0)
    execl(words[0], words[0], (char*)NULL);
  char* page = (char*)(((uintptr_t)field + 4095) & ~(uintptr_t)4095);
  while (strcmp(how, "wait") == 0) {
    madvise(page, bytes / 2, MADV_DONTNEED);
    touch(page);
    usleep(20000);
  }
  return 3;
}
"""
CXX = r"""
#include <cstdio>
#include <memory>
#include <vector>
struct cell { double value; cell() : value(1) {} };
int main() {
  std::vector<double> v(1 << 20, 2.0); // vector
  std::unique_ptr<cell[]> c(new cell[1 << 20]); // new
  std::printf("%g %g\n", v[5], c[7].value);
}
"""
FORTRAN = """
program numbers
  implicit none
  double precision, allocatable :: x(:)
  integer :: n
  n = 1000000
  allocate(x(n)) ! makes x
  x = 1.5d0 ! touches x
  print *, sum(x)
end program
"""
PLUGIN = r"""
#include <stdlib.h>
#include <string.h>
char* work(void) {
  char* p = malloc(8 << 20); /* makes p */
  memset(p, 1, 8 << 20); /* touches p */
  return p + 1;
}
"""
HOST = r"""
#include <dlfcn.h>
int main(int count, char** words) {
  void* plugin = count > 1 ? dlopen(words[1], RTLD_NOW) : 0;
  char* (*work)(void) = plugin ? (char* (*)(void))dlsym(plugin, "work") : 0;
  return work ? work()[5] : 9;
}
"""
OWN_MALLOC = r"""
#include <stddef.h>
#include <string.h>
static char room[64 << 20];
static size_t used;
void* malloc(size_t n) { used = (used + 63) & ~(size_t)63; void* p = room + used; used += n; return used < sizeof room ? p : NULL; }
void free(void* p) { (void)p; }
void* calloc(size_t n, size_t m) { return malloc(n * m); }
void* realloc(void* p, size_t n) { void* q = malloc(n); return p && q ? memcpy(q, p, n) : q; }
int main(void) { char* p = malloc(8 << 20); memset(p, 1, 8 << 20); return p[9]; }
"""
SERVER = r"""
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static void* answer(void* of) {
  const int client = (int)(long)of;
  char* page = malloc(2 << 20);
  memset(page, 'x', 2 << 20);
  for (ssize_t n; (n = read(client, page, 4096)) > 0;)
    if (write(client, page, (size_t)n) != n) break;
  free(page);
  close(client);
  return NULL;
}
int main(int count, char** words) {
  int left = count > 1 ? atoi(words[1]) : 1;
  const int door = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  if (bind(door, (struct sockaddr*)&at, size) || listen(door, 64)) return 1;
  getsockname(door, (struct sockaddr*)&at, &size);
  printf("%d\n", ntohs(at.sin_port));
  fflush(stdout);
  pthread_t thread[1024];
  for (int i = 0; i < left; ++i)
    pthread_create(&thread[i], NULL, answer, (void*)(long)accept(door, NULL, NULL));
  for (int i = 0; i < left; ++i) pthread_join(thread[i], NULL);
  return 0;
}
"""
SOURCES = {"work.c": C, "cells.cpp": CXX, "numbers.f90": FORTRAN, "plugin.c": PLUGIN, "host.c": HOST,
           "own_malloc.c": OWN_MALLOC, "server.c": SERVER}
COMPILERS = {".c": ["gcc", "-pthread"], ".cpp": ["g++"], ".f90": ["gfortran"]}


class Programs:
    """Compiled as users do: optimised, with lines, without frame pointers."""

    def __init__(self):
        self._kept = tempfile.TemporaryDirectory(prefix="nodewise-profile-")
        self.folder = Path(self._kept.name)
        self.folder.chmod(0o755)  # for other users, too
        for name, text in SOURCES.items():
            (self.folder / name).write_text(text.lstrip("\n"))

    def close(self):
        self._kept.cleanup()

    def line(self, source, what):
        """"work.c:12": where the source says so of itself."""
        lines = SOURCES[source].lstrip("\n").splitlines()
        marks = (f"/* {what} */", f"// {what}", f"! {what}")
        return source + ":" + str(next(i for i, text in enumerate(lines, 1) if text.endswith(marks)))

    def build(self, source, name=None, options=()):
        path = self.folder / (name or Path(source).stem)
        if not path.exists():
            subprocess.run([*COMPILERS[Path(source).suffix], "-O2", "-g", *options, "-o", path, self.folder / source],
                           check=True)
        return str(path)
