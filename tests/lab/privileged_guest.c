/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Linked into a copy of the lab's guest (--wrap), in the place of the calls that take its
 * privileges from the command. For tests of what only root may read; the lab itself has no such
 * way.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int __wrap_setresuid(uid_t real, uid_t effective, uid_t saved);
int __wrap_prctl(int option, ...);
long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

int __wrap_setresuid(uid_t real, uid_t effective, uid_t saved) {
  (void)real, (void)effective, (void)saved;
  return 0; /* the guest's root, whoever the caller is */
}

int __wrap_prctl(int option, ...) {
  if (option != PR_CAPBSET_DROP)
    return 0;
  errno = EINVAL; /* as after the last capability: the loop that drops them ends */
  return -1;
}

long __wrap_syscall(long number, ...) {
  if (number == SYS_capset)
    return 0;
  long argument[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) /* as syscall(2) itself does, however many were given */
    argument[i] = va_arg(list, long);
  va_end(list);
  return __real_syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                        argument[5]);
}
