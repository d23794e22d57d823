/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Functions whose newest version in the C library is of glibc 2.29. The older version gives the same results, so
 * programs that use it run with glibc 2.28. Part of each C++ program of the packages, and visible only in it. */
#ifdef __aarch64__
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif
#define OLDER(name) __asm__(".symver older_" #name ", " #name "@" FIRST)
OLDER(exp);
OLDER(log);
OLDER(pow);

double older_exp(double x);
double older_log(double x);
double older_pow(double x, double y);
double exp(double x);
double log(double x);
double pow(double x, double y);

double exp(double x) {
  return older_exp(x);
}

double log(double x) {
  return older_log(x);
}

double pow(double x, double y) {
  return older_pow(x, y);
}
