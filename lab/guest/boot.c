// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "boot.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "port.h"

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

void boot_prepare(void) {
  mount_early("devtmpfs", "/dev");
  open_console();
  mount_early("proc", "/proc");
  mount_early("sysfs", "/sys");
  load_modules();
  raise_loopback();
}
