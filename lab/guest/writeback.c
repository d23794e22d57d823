// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "writeback.h"

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
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "port.h"
#include "support.h"

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

void writeback(int changes, const char* path, int host) {
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
