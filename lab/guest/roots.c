// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "roots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port.h"
#include "protocol.h"
#include "support.h"
#include "writeback.h"

#define NEW_ROOT "/newroot"

static const char bug[] = "run it again with --verbose, and report the console's text as a bug";

// After the change of root, both are reachable only through these descriptors.
static int layer_directory = -1;
static int host_work_directory = -1;

static void mount_or_fail(const char* source, const char* target, const char* type,
                          unsigned long flags, const char* options) {
  int error = make_directories(target, 0755);
  if (error)
    fail(error, "run the command from another directory", "cannot create the mount point %s",
         target);
  if (mount(source, target, type, flags, options) < 0)
    fail(errno, bug, "cannot mount %s on %s", type, target);
}

// `cache`: the host's root does not change while a command runs, so the guest may cache what it has
// read. The working directory must show the writes of both sides at once: caches only mapped pages.
static void mount_host(const char* tag, const char* target, unsigned long flags,
                       const char* cache) {
  char* options = format_text("trans=virtio,version=9p2000.L,msize=524288,cache=%s", cache);
  mount_or_fail(tag, target, "9p", flags, options);
  free(options);
}

static void mount_layered_root(void) {
  mount_host(HOST_ROOT_TAG, "/host", MS_RDONLY, "loose");
  mount_or_fail("tmpfs", "/layer", "tmpfs", 0, NULL);
  mkdir("/layer/changes", 0755);
  mkdir("/layer/scratch", 0755);
  mount_or_fail("overlay", NEW_ROOT, "overlay", 0,
                "lowerdir=/host,upperdir=/layer/changes,workdir=/layer/scratch");
  layer_directory = open("/layer/changes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// The host's own would show the host's processes and devices. /tmp stays: it may hold programs.
static void mount_kernel_views(uid_t uid, gid_t gid) {
  mount_or_fail("proc", NEW_ROOT "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  mount_or_fail("sysfs", NEW_ROOT "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  mount("cgroup2", NEW_ROOT "/sys/fs/cgroup", "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  mount_or_fail("devtmpfs", NEW_ROOT "/dev", "devtmpfs", MS_NOSUID, NULL);
  mount_or_fail("devpts", NEW_ROOT "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                "mode=620,ptmxmode=666,gid=5");
  mount_or_fail("tmpfs", NEW_ROOT "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  mount_or_fail("tmpfs", NEW_ROOT "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
  symlink("/proc/self/fd", NEW_ROOT "/dev/fd");
  symlink("/proc/self/fd/0", NEW_ROOT "/dev/stdin");
  symlink("/proc/self/fd/1", NEW_ROOT "/dev/stdout");
  symlink("/proc/self/fd/2", NEW_ROOT "/dev/stderr");

  char* user_directory = format_text(NEW_ROOT "/run/user/%u", uid);
  make_directories(user_directory, 0755);
  if (chown(user_directory, uid, gid) == 0)
    chmod(user_directory, 0700);
  free(user_directory);
}

static void mount_working_directory(const struct job* job) {
  if (job->discard)
    return; // it is in the layered root
  if (job->overlay) {
    mount_host(WORK_TAG, "/work", 0, "mmap");
    host_work_directory = open("/work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  } else if (strcmp(job->working_directory, "/") == 0) {
    note("the working directory is /: files that the command writes stay in the virtual machine");
  } else {
    char* target = format_text(NEW_ROOT "%s", job->working_directory);
    mount_host(WORK_TAG, target, 0, "mmap");
    free(target);
  }
}

// The guest's name resolves without a network, as a host's own name does.
static void name_loopback(const char* hostname) {
  FILE* hosts = fopen(NEW_ROOT "/etc/hosts", "ae");
  if (!hosts)
    return;
  fprintf(hosts, "127.0.0.1 %s\n", hostname);
  fclose(hosts);
}

// The initial root cannot be unmounted or pivoted away: it is covered, as switch_root(8) does.
static void enter_new_root(void) {
  if (chdir(NEW_ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
      chdir("/") < 0)
    fail(errno, bug, "cannot make %s the root", NEW_ROOT);
}

void roots_mount(const struct job* job) {
  mount_layered_root();
  mount_kernel_views(job->uid, job->gid);
  mount_working_directory(job);
  name_loopback(job->hostname);
  enter_new_root();
}

void roots_settle(const struct job* job) {
  if (job->overlay)
    writeback(layer_directory, job->working_directory, host_work_directory);
  sync();
}
