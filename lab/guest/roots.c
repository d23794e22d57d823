// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "roots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "port.h"
#include "support.h"

#define NEW_ROOT "/newroot"

static const char bug[] = "run it again with --verbose, and report the console's text as a bug";

// After the change of root, both are reachable only through these descriptors.
static int layer_directory = -1;
static int host_work_directory = -1;

// mkdir -p. Returns 0 or errno.
static int make_directories(const char* path) {
  char* copy = format_text("%s", path);
  int error = 0;
  for (char* end = copy; end && error == 0;) {
    end = strchr(end + 1, '/');
    if (end)
      *end = '\0';
    if (mkdir(copy, 0755) < 0 && errno != EEXIST)
      error = errno;
    if (end)
      *end = '/';
  }
  free(copy);
  return error;
}

static void mount_or_fail(const char* source, const char* target, const char* type,
                          unsigned long flags, const char* options) {
  int error = make_directories(target);
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
  make_directories(user_directory);
  if (chown(user_directory, uid, gid) == 0)
    chmod(user_directory, 0700);
  free(user_directory);
}

static void mount_scratch_disk(void) {
  // Its files belong to the caller: the file system was made so.
  mount_or_fail(NEW_ROOT "/dev/vda", NEW_ROOT "/scratch", "ext4", MS_NOSUID | MS_NODEV, NULL);
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

// Below the new root. False: the file cannot be written.
static bool append_to_file(const char* path, const char* text) {
  char* below = format_text(NEW_ROOT "%s", path);
  FILE* file = fopen(below, "ae");
  free(below);
  if (!file)
    return false;
  const bool written = fputs(text, file) >= 0;
  return fclose(file) == 0 && written;
}

// The guest's name resolves without a network, as a host's own name does.
static void name_loopback(const char* hostname) {
  char* line = format_text("127.0.0.1 %s\n", hostname);
  append_to_file("/etc/hosts", line);
  free(line);
}

static void write_files_of_job(const struct job* job) {
  for (size_t i = 0; i < job->files.count; i++) {
    char* path = job->files.items[i];
    char* text = strchr(path, ':');
    if (!text)
      fail(EINVAL, "report this as a bug of the lab", "cannot use the file '%s'", path);
    *text++ = '\0';
    if (!append_to_file(path, text))
      fail(errno, bug, "cannot write %s", path);
  }
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
  if (job->disk)
    mount_scratch_disk();
  if (!job->network)
    name_loopback(job->hostname);
  write_files_of_job(job);
  enter_new_root();
}

// A temporary file next to the final one, so that the host never shows half a file.
static const char unfinished_prefix[] = ".nodewise-unfinished-";
enum { unfinished_bytes = sizeof unfinished_prefix + 16 };

static const char hint[] =
    "free space or grant access on the host; the remaining changes of this run are lost";

_Noreturn static void refuse(const char* what, const char* name) {
  fail(errno, hint, "cannot %s '%s'", what, name);
}

static int open_directory(int at, const char* name) {
  return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Calls `visit` for each entry except . and .. in the directory.
typedef void (*visitor)(int directory, const char* name, int argument);
static void for_each_entry(int directory, visitor visit, int argument) {
  DIR* entries = fdopendir(open_directory(directory, "."));
  if (!entries)
    fail(errno, hint, "cannot list a changed directory");
  for (struct dirent* entry; (entry = readdir(entries));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      visit(directory, entry->d_name, argument);
  closedir(entries);
}

static void remove_tree(int at, const char* name, int ignored) {
  if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
    return;
  int directory = open_directory(at, name);
  if (directory < 0)
    refuse("remove", name);
  for_each_entry(directory, remove_tree, ignored);
  close(directory);
  if (unlinkat(at, name, AT_REMOVEDIR) < 0)
    refuse("remove", name);
}

// The owner needs no change unless the command ran as root and changed it.
static void copy_attributes(int to, const char* name, const struct stat* from) {
  struct stat now;
  const struct timespec times[2] = {from->st_atim, from->st_mtim};
  if (fstatat(to, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
    refuse("read the attributes of", name);
  bool foreign = now.st_uid != from->st_uid || now.st_gid != from->st_gid;
  if (foreign && fchownat(to, name, from->st_uid, from->st_gid, AT_SYMLINK_NOFOLLOW) < 0)
    note("cannot set the owner of '%s', which was copied back: %s", name, strerror(errno));
  if (!S_ISLNK(from->st_mode) && fchmodat(to, name, from->st_mode & 07777, 0) < 0)
    refuse("set the mode of", name);
  if (utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0)
    refuse("set the times of", name);
}

static void copy_data(int source, int target, const char* name) {
  static char data[1 << 18];
  for (ssize_t count; (count = read(source, data, sizeof data)) != 0;) {
    if (count > 0)
      errno = write_all(target, data, (size_t)count);
    if (count < 0 || errno != 0)
      refuse("write", name);
  }
}

// Creates a file with an unused name: another guest may copy back into the same directory. It may
// come from the same snapshot and draw the same random numbers, so an existing name is no error.
static int open_unfinished(int to, char name[unfinished_bytes]) {
  for (int attempt = 0; attempt < 1000; attempt++) {
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
      number = (uint64_t)attempt;
    snprintf(name, unfinished_bytes, "%s%016" PRIx64, unfinished_prefix, number);
    int file = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

static void copy_file(int from, int to, const char* name, const struct stat* status) {
  char unfinished[unfinished_bytes];
  int source = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  int target = open_unfinished(to, unfinished);
  if (source < 0 || target < 0)
    refuse("copy back", name);
  copy_data(source, target, name);
  close(source);
  if (close(target) < 0)
    refuse("write", name);
  copy_attributes(to, unfinished, status);
  struct stat existing;
  if (fstatat(to, name, &existing, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(existing.st_mode))
    remove_tree(to, name, 0);
  if (renameat(to, unfinished, to, name) < 0)
    refuse("copy back", name);
}

static void copy_link(int from, int to, const char* name, const struct stat* status) {
  char destination[PATH_MAX];
  ssize_t length = readlinkat(from, name, destination, sizeof destination - 1);
  if (length < 0)
    refuse("read the link", name);
  destination[length] = '\0';
  remove_tree(to, name, 0);
  if (symlinkat(destination, to, name) < 0)
    refuse("create the link", name);
  copy_attributes(to, name, status);
}

// An opaque directory replaces the host's instead of being merged into it.
static bool is_opaque(int directory) {
  char value = 'n';
  return fgetxattr(directory, "trusted.overlay.opaque", &value, 1) == 1 && value == 'y';
}

static void copy_entry(int from, const char* name, int to);

static void copy_directory(int from, int to, const char* name, const struct stat* status) {
  int source = open_directory(from, name);
  if (source < 0)
    refuse("open", name);
  int target = open_directory(to, name);
  if (target < 0 || is_opaque(source)) {
    remove_tree(to, name, 0);
    if (mkdirat(to, name, 0700) < 0)
      refuse("create the directory", name);
    if (target >= 0)
      close(target);
    target = open_directory(to, name);
    if (target < 0)
      refuse("open", name);
  }
  for_each_entry(source, copy_entry, target);
  close(source);
  close(target);
  copy_attributes(to, name, status);
}

static void copy_entry(int from, const char* name, int to) {
  struct stat status;
  if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
    refuse("read the attributes of", name);
  // A deletion is recorded as a character device 0:0 of the same name.
  bool deleted = S_ISCHR(status.st_mode) && status.st_rdev == makedev(0, 0);
  if (deleted)
    remove_tree(to, name, 0);
  else if (S_ISDIR(status.st_mode))
    copy_directory(from, to, name, &status);
  else if (S_ISREG(status.st_mode))
    copy_file(from, to, name, &status);
  else if (S_ISLNK(status.st_mode))
    copy_link(from, to, name, &status);
  else
    note("'%s' was not copied back: it is not a file, directory or link", name);
}

// Copies the changes of a layered working directory back to the host: applies the changes to `path`
// in the overlay's upper directory `changes` to the directory `host`. Ends the machine, naming the
// file, if the host refuses.
static void write_back(int changes, const char* path, int host) {
  while (*path == '/')
    path++;
  int changed = open_directory(changes, *path ? path : ".");
  if (changed < 0 && errno == ENOENT)
    return; // nothing below the working directory was changed
  if (changed < 0)
    refuse("open the changes of", path);
  for_each_entry(changed, copy_entry, host);
  close(changed);
}

void roots_settle(const struct job* job) {
  if (job->overlay)
    write_back(layer_directory, job->working_directory, host_work_directory);
  sync();
}
