// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "port.h"
#include "support.h"

static void set_clock(unsigned long long now_ns) {
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
  int error = write_text(path, value);
  if (error)
    fail(error, "use a kernel with this setting: export NODEWISE_KERNEL_DEB=FILE.deb",
         "cannot write %s to %s", value, path);
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
