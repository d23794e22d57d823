/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Names of errors, which the C library has had since glibc 2.32: part of each program of the packages that asks for
 * them, and visible only in it. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

const char* strerrorname_np(int number) {
  switch (number) {
#include "errno_names.inc" // from <errno.h>, by packaging/sysroot
    default: return NULL;
  }
}

const char* strerrordesc_np(int number) {
  return strerrorname_np(number) == NULL ? NULL : strerror(number);
}
