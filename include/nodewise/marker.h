/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * Marks for the lab's traffic counter and for times of regions, for any C or C++ program; no
 * library is needed.
 *
 *     double a[1000], sum = 0;
 *     for (int i = 0; i < 1000; ++i) {
 *       a[i] = i;
 *     }
 *     NODEWISE_MARKER_USE();        // initialisation is over: all that follows is use
 *     NODEWISE_MARKER_START("sum"); // from here on, traffic of all threads also counts for "sum",
 *     for (int i = 0; i < 1000; ++i) {
 *       sum += a[i];
 *     }
 *     NODEWISE_MARKER_STOP("sum"); // up to here
 *     printf("%g\n", sum);
 *
 * A region is open from the first START of its name to the last STOP. If several regions are open,
 * traffic is attributed to the one opened last. Place marks in one thread, outside parallel loops.
 * Names are cut after 63 bytes.
 *
 * Outside the lab a mark costs a few NOP instructions (none on processors other than x86-64), and
 * START and STOP also a load and a branch. They need no system call and no privilege.
 *
 * If libnodewise-marks.so is preloaded and NODEWISE_MARK_TIMES names a file, the visits of each
 * region and the seconds in it are written there. A statically linked program has no times, because
 * nothing can be preloaded into it.
 *
 * Fortran calls nodewise_marker_start(name), nodewise_marker_stop(name) and nodewise_marker_use()
 * of the module in nodewise_marker.f90, next to this file. They need one object file, made by
 *
 *     cc -c -x c -DNODEWISE_MARKER_FUNCTIONS nodewise/marker.h -o nodewise_marker_c.o
 */
#ifndef NODEWISE_MARKER_H
#define NODEWISE_MARKER_H

/** Opens the region `name`: traffic of all threads of the process is also attributed to it. */
#define NODEWISE_MARKER_START(name) nodewise_marker_open(name)
/** Closes the region `name`. A region that was opened several times closes with the last STOP. */
#define NODEWISE_MARKER_STOP(name) nodewise_marker_close(name)
/** Ends initialisation: all that the process does from here on is use. */
#define NODEWISE_MARKER_USE() nodewise_marker_text('u', "")

/* How a mark is encoded. The counter sees instructions but no memory and no registers, so a mark is
 * a row of instructions: 8-byte NOPs (0F 1F 84 00) whose displacement is 0x4E570000 plus a code. A
 * message is BEGIN, two codes below 16 for each byte (the upper half first), END. */
#define NODEWISE_MARKER_BEGIN 0x10
#define NODEWISE_MARKER_END 0x11
/* This task is the observed program: count from here on. */
#define NODEWISE_MARKER_OBSERVE 0x20
/* This task is a helper: do not count it. */
#define NODEWISE_MARKER_EXCLUDE 0x21
/* The end: write the result. */
#define NODEWISE_MARKER_FINISH 0x22

#if defined(__x86_64__)
#define NODEWISE_MARKER_SAY(code)                                                                  \
  __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0"                                     \
                   :                                                                               \
                   : "i"(0x4e570000 | (code))                                                      \
                   : "memory")
#else
#define NODEWISE_MARKER_SAY(code) ((void)0)
#endif

static inline void nodewise_marker_half_byte(int half) {
#define NODEWISE_MARKER_CASE(code)                                                                 \
  case code:                                                                                       \
    NODEWISE_MARKER_SAY(code);                                                                     \
    break
  switch (half) {
    NODEWISE_MARKER_CASE(0x0);
    NODEWISE_MARKER_CASE(0x1);
    NODEWISE_MARKER_CASE(0x2);
    NODEWISE_MARKER_CASE(0x3);
    NODEWISE_MARKER_CASE(0x4);
    NODEWISE_MARKER_CASE(0x5);
    NODEWISE_MARKER_CASE(0x6);
    NODEWISE_MARKER_CASE(0x7);
    NODEWISE_MARKER_CASE(0x8);
    NODEWISE_MARKER_CASE(0x9);
    NODEWISE_MARKER_CASE(0xa);
    NODEWISE_MARKER_CASE(0xb);
    NODEWISE_MARKER_CASE(0xc);
    NODEWISE_MARKER_CASE(0xd);
    NODEWISE_MARKER_CASE(0xe);
    NODEWISE_MARKER_CASE(0xf);
  default:
    break;
  }
#undef NODEWISE_MARKER_CASE
}

static inline void nodewise_marker_byte(int byte) {
  nodewise_marker_half_byte((byte >> 4) & 15);
  nodewise_marker_half_byte(byte & 15);
}

/* Emits one message: a letter for its kind, and a text. */
static inline void nodewise_marker_text(char what, const char* text) {
  NODEWISE_MARKER_SAY(NODEWISE_MARKER_BEGIN);
  nodewise_marker_byte(what);
  for (; *text != '\0'; ++text) {
    nodewise_marker_byte(*text);
  }
  NODEWISE_MARKER_SAY(NODEWISE_MARKER_END);
}

/* The function that takes the times, if a preloaded library has one; else null. The address comes
 * from the global offset table: in a program that is not position-independent the linker replaces
 * every other reference to an undefined weak symbol by null. */
#if defined(__ELF__) && defined(__x86_64__) && !defined(__ILP32__)
#define NODEWISE_MARKER_FIND_TIME(found)                                                           \
  __asm__(".weak nodewise_marker_time\n\t"                                                         \
          "{movq nodewise_marker_time@GOTPCREL(%%rip), %0|"                                        \
          "mov %0, QWORD PTR nodewise_marker_time@GOTPCREL[rip]}"                                  \
          : "=r"(found))
#elif defined(__ELF__) && defined(__aarch64__) && !defined(__ILP32__)
#define NODEWISE_MARKER_FIND_TIME(found)                                                           \
  __asm__(".weak nodewise_marker_time\n\t"                                                         \
          "adrp %0, :got:nodewise_marker_time\n\t"                                                 \
          "ldr %0, [%0, :got_lo12:nodewise_marker_time]"                                           \
          : "=r"(found))
#else
#define NODEWISE_MARKER_FIND_TIME(found) ((found) = 0)
#endif

/* Calls that function with the whole name and '[' or ']'. */
static inline void nodewise_marker_call_time(const char* name, char what) {
  void (*time)(const char*, char);
  NODEWISE_MARKER_FIND_TIME(time);
  if (time) {
    time(name, what);
  }
}

/* The time is taken before the row of START and after that of STOP, so that in the lab the access
 * to the table does not count for the region. */
static inline void nodewise_marker_open(const char* name) {
  nodewise_marker_call_time(name, '[');
  nodewise_marker_text('[', name);
}

static inline void nodewise_marker_close(const char* name) {
  nodewise_marker_text(']', name);
  nodewise_marker_call_time(name, ']');
}

#ifdef NODEWISE_MARKER_FUNCTIONS
void nodewise_marker_start_c(const char* name);
void nodewise_marker_stop_c(const char* name);
void nodewise_marker_use_c(void);
void nodewise_marker_start_c(const char* name) {
  NODEWISE_MARKER_START(name);
}
void nodewise_marker_stop_c(const char* name) {
  NODEWISE_MARKER_STOP(name);
}
void nodewise_marker_use_c(void) {
  NODEWISE_MARKER_USE();
}
#endif

#endif
