// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "port.h"
#include "support.h"

static const char bug[] = "run it again with --verbose, and report the console's text as a bug";

static void mount_early(const char* type, const char* target) {
  mkdir(target, 0755);
  if (mount(type, target, type, MS_NOSUID, NULL) < 0)
    fail(errno, bug, "cannot mount %s on %s", type, target);
}

// If the initrd has no /dev/console, the kernel starts init without open files.
static void open_console(void) {
  int console = open("/dev/console", O_RDWR);
  if (console < 0)
    return;
  for (int fd = 0; fd < 3; fd++)
    dup2(console, fd);
  if (console > 2)
    close(console);
}

static void load_module(const char* path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    fail(errno, bug, "cannot open the module %s of the initrd", path);
  if (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST)
    fail(errno, bug, "cannot load the module %s", path);
  close(fd);
}

// The initrd lists the modules in the order of their dependencies.
static void load_modules(void) {
  FILE* list = fopen("/modules/order", "re");
  if (!list)
    fail(errno, bug, "cannot read /modules/order of the initrd");
  char name[256];
  while (fgets(name, sizeof name, list)) {
    name[strcspn(name, "\n")] = '\0';
    char path[300];
    snprintf(path, sizeof path, "/modules/%s", name);
    load_module(path);
  }
  fclose(list);
}

// Programs that connect to themselves (MPI among them) need 127.0.0.1.
static void raise_loopback(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return; // a kernel without networking: programs that need it will fail
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
    fail(errno, bug, "cannot enable the loopback interface");
  close(fd);
}

void settings_prepare(void) {
  mount_early("devtmpfs", "/dev");
  open_console();
  mount_early("proc", "/proc");
  mount_early("sysfs", "/sys");
  load_modules();
  raise_loopback();
}

static void set_clock(const char* now_text) {
  const unsigned long long now_ns = strtoull(now_text, NULL, 10);
  if (now_ns == 0)
    return;
  struct timespec now = {.tv_sec = (time_t)(now_ns / 1000000000),
                         .tv_nsec = (long)(now_ns % 1000000000)};
  if (clock_settime(CLOCK_REALTIME, &now) < 0)
    fail(errno, "report this as a bug of the lab", "cannot set the clock");
}

static size_t decode_hex(const char* hex, unsigned char* bytes, size_t size) {
  size_t count = 0;
  for (; count < size && hex[0] && hex[1]; hex += 2) {
    const char pair[3] = {hex[0], hex[1], '\0'};
    bytes[count++] = (unsigned char)strtoul(pair, NULL, 16);
  }
  return count;
}

// All machines restored from one snapshot start with the same random state. Without fresh bytes
// two runs would get the same "random" numbers.
static void reseed_random(const char* entropy_hex) {
  enum { POOL_BYTES = 64 };
  struct rand_pool_info* pool = allocate(sizeof *pool + POOL_BYTES);
  size_t count = decode_hex(entropy_hex, (unsigned char*)pool->buf, POOL_BYTES);
  pool->buf_size = (int)count;
  pool->entropy_count = (int)count * 8;
  int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
  if (fd < 0 || ioctl(fd, RNDADDENTROPY, pool) < 0 || ioctl(fd, RNDRESEEDCRNG) < 0)
    fail(errno, "report this as a bug of the lab", "cannot reseed the random numbers");
  free(pool);
  close(fd);
}

static void set_sysctl(const char* path, const char* value) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  int error = fd < 0 ? errno : write_all(fd, value, strlen(value));
  if (error)
    fail(error, "use a kernel with this setting: export NODEWISE_KERNEL_DEB=FILE.deb",
         "cannot write %s to %s", value, path);
  close(fd);
}

void settings_apply(const struct job* job) {
  set_clock(job->clock_ns);
  reseed_random(job->entropy_hex);
  set_sysctl("/proc/sys/kernel/numa_balancing", job->numa_balancing);
  set_sysctl("/sys/kernel/mm/transparent_hugepage/enabled", job->transparent_hugepage);
  // The guest has no other users: lets a profile sample all page faults, even inside system calls,
  // with events of whole processors, which cost nothing when threads are switched.
  set_sysctl("/proc/sys/kernel/perf_event_paranoid", "0");
  if (sethostname(job->hostname, strlen(job->hostname)) < 0)
    fail(errno, "shorten the machine's name to 64 characters", "cannot set the host name '%s'",
         job->hostname);
}
