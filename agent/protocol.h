/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * The settings that the launcher passes to the preloaded agent, and the records that the agent
 * writes. Plain C without dependencies.
 *
 * Settings: the environment variable NODEWISE_AGENT, for example
 *
 *     v3;threshold=1048576;group=256;owners=0*4,1*4;default=blocked;
 *     rule=kind=heap,least=8388608,code=solver+4660-4672:cyclic@65536@0*1,1*1;
 *     pin=0|1|2-3;report=/tmp/nodewise-x/report
 *
 * in one line. The parts, in any order but the last:
 *
 *     threshold=BYTES    objects of at least this size are large; required
 *     group=BYTES        blocks of at least this size are grouped by their site; without it no
 *                        blocks are
 *     huge=BYTES         the size of a huge page: request huge pages for large objects of at least
 *                        this size
 *     owners=RUNS        the node of each thread in order: NODE*COUNT,..., or NODE for NODE*1
 *     default=PLACEMENT  of large objects that no rule fits, but not of files; without it they have
 *                        none
 *     rule=CONDITION[,CONDITION...]:PLACEMENT
 *                        the first rule that fits decides
 *     pin=CPUS|CPUS...   the places of threads that the program itself starts: those that run
 *                        together, in the order of their creation
 *     main               the main thread works too: it has the first place, the other threads have
 *                        the next ones
 *     read-files         of files that are placed, read what is not cached
 *     observe            place nothing; count pages by the owners, if given
 *     trace              record more of each object: when and on which stack it was allocated,
 *                        where each of its pages is, which system calls wrote into it
 *     numa-pin           with `trace`: the kernel's NUMA balancing samples pages but migrates none
 *     quiet              write nothing to stderr
 *     announce           report programs, threads and objects to the lab's traffic counter
 *                        (nodewise/marker.h)
 *     report=PATH        comes last and takes the rest of the text
 *
 * A PLACEMENT is KIND[@GRANULE_BYTES][@RUNS]. Which of the two a kind has is in the traits of the
 * kinds (src/placement/kind.hpp):
 *
 *     none, local, bind@RUNS, prefer@RUNS, interleave@RUNS
 *     blocked                       over the owners
 *     blocked@ROW_BYTES             over the owners, in whole rows
 *     cyclic@GRANULE_BYTES@RUNS     granule 0: by the size of the object
 *     map@RUNS                      relative parts, each with its node: NODE*PARTS,...; of P parts
 *                                   part k begins at page pages*k/P
 *
 * A CONDITION is one of
 *
 *     kind=heap|map|static|group|file    several: any of them; without it: any but files
 *     least=BYTES, most=BYTES
 *     symbol=NAME                   of a static array
 *     file=GLOB                     of a mapping of a file: of its path if GLOB has a slash, else of
 *                                   the path's last part. * is any text, ? any character; both are
 *                                   plain, every other special character is encoded
 *     code=MODULE+FIRST-LAST        the code that asked for the object; several: any of them
 *     above=MODULE+FIRST-LAST       code that called that, directly or not; several: each of them,
 *                                   in this order from the innermost frame outwards
 *     nth=FIRST-LAST                of the objects that all other conditions fit, even if an
 *                                   earlier rule decides about them, these in the order of creation
 *
 * FIRST-LAST is half-open. Code is given by the byte before a return address, which is in the call,
 * as offset from the module's first mapping. For `above` the agent does not unwind: it looks for
 * return addresses among the words of the stack. A return address follows a call instruction in a
 * module's code. In names %XX stands for a byte.
 *
 * Records: the report file has a head, followed by records. The launcher makes the file, all zeros,
 * and reserves its blocks. The agent maps it when a program begins and writes through the mapping,
 * so that it needs no descriptor later. The file never grows: a record without room is lost and
 * counted. A writer reserves its bytes by moving `used` in one atomic operation, and stores the
 * magic number last: a record without it was not finished when the process ended. A reader looks
 * for the next header with a correct checksum. Numbers are in the machine's byte order, since
 * writer and reader are on the same machine. Times are CLOCK_MONOTONIC in ns.
 *
 * The process also has a table of its objects for debuggers: see the view below.
 */
#ifndef NODEWISE_AGENT_PROTOCOL_H
#define NODEWISE_AGENT_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#define NODEWISE_AGENT_VARIABLE "NODEWISE_AGENT"
#define NODEWISE_AGENT_SETTINGS "v3"
#define NODEWISE_AGENT_MAGIC UINT32_C(0x4744574e) /* "NWDG" */
#define NODEWISE_AGENT_RECORDS 6                  /* version of the records below */

/* An environment string has at most 128 KiB, which holds about this many runs. */
#define NODEWISE_AGENT_MAX_RUNS 32768 /* of equal owners in a row, of all placements together */
#define NODEWISE_AGENT_MAX_NODES 1024
#define NODEWISE_AGENT_MAX_RULES 256
#define NODEWISE_AGENT_MAX_CODE 2048 /* code ranges of all rules; also the limit for `above` */
#define NODEWISE_AGENT_CELLS 64
#define NODEWISE_AGENT_MAX_RESIDENT_RUNS 4096 /* of one object */
#define NODEWISE_AGENT_REGISTERS 33           /* DWARF's numbers 0 to 32 */
#define NODEWISE_AGENT_STACK_BYTES 8192       /* of a copy, at most */
#define NODEWISE_AGENT_NAME_BYTES 64          /* longer names are cut off; always ends with a 0 */

enum nodewise_agent_kind {
  NODEWISE_AGENT_START = 1,  /* a program was loaded, or a process forked */
  NODEWISE_AGENT_OBJECT = 2, /* a large object was freed, or lived at the end */
  NODEWISE_AGENT_END = 3,    /* the process ended by exit() or _exit() */
  NODEWISE_AGENT_MADE = 4,   /* the process has its first large object: a header alone */
  NODEWISE_AGENT_THREAD = 5, /* a thread, when the process ended; before that if it was pinned, with
                              * `trace` any that the program itself started or of inner teams */
  /* With `trace`: */
  NODEWISE_AGENT_ALLOCATED = 6, /* a large object was made, has moved, or has changed its size */
  NODEWISE_AGENT_STACK = 7,     /* on which an object was made or written; before its first use */
  NODEWISE_AGENT_WROTE = 8,     /* system calls wrote into an object */
  NODEWISE_AGENT_NUMA_PINNED =
      9, /* with `numa-pin`: when the agent's thread begins, and when the process ends */
  NODEWISE_AGENT_HELPER = 10, /* a process of the agent's own begins, the header's tid: it opens
                               * files and does not belong to the program; a header alone */
};

enum nodewise_agent_object_kind {
  NODEWISE_AGENT_HEAP = 0,   /* malloc and its family, new, Fortran's allocate */
  NODEWISE_AGENT_MAP = 1,    /* the program's own mmap */
  NODEWISE_AGENT_STATIC = 2, /* a static array, found by its ELF symbol */
  NODEWISE_AGENT_GROUP = 3,  /* many small blocks of one site, in the order of their allocation */
  NODEWISE_AGENT_REGION = 4, /* of the Nodewise library in the program, which places it */
  NODEWISE_AGENT_FILE = 5,   /* a read-only mapping of a file: its pages are the page cache's */
};

enum nodewise_agent_flag {
  NODEWISE_AGENT_PLACED = 1,    /* the kernel took the whole distribution */
  NODEWISE_AGENT_MAP_LIMIT = 2, /* not placed: the mappings that policies may take are used up */
  NODEWISE_AGENT_REDUCED = 4,   /* move_pages was refused: pages read one by one, perhaps not all */
  NODEWISE_AGENT_LIVE_AT_END = 8,    /* never freed */
  NODEWISE_AGENT_RESIZED = 16,       /* grew or shrank a little: owners as for the earlier size */
  NODEWISE_AGENT_COARSER = 32,       /* larger granules or parts than requested: the map limit */
  NODEWISE_AGENT_INTERLEAVED = 64,   /* the kernel's interleave, not cyclic: the map limit */
  NODEWISE_AGENT_BASE_PAGES = 128,   /* blocks under 8 huge pages: huge pages were switched off */
  NODEWISE_AGENT_PARTLY_GONE = 256,  /* the program unmapped or moved a part of it */
  NODEWISE_AGENT_MANY_THREADS = 512, /* a group that several threads allocate: left alone */
  NODEWISE_AGENT_NO_THREADS = 1024,  /* a group, and no thread was started after it: not placed */
  NODEWISE_AGENT_UNASKED = 2048,     /* no rule and no default fits it: only observed */
  NODEWISE_AGENT_NOT_ASKED = 8192,   /* trace: its pages were not looked up, to save time */
  NODEWISE_AGENT_RUNS_CUT = 4096,    /* only the first runs of pages fit into the record */
};

/* The values of a cell of the strip that are not a node. */
enum nodewise_agent_cell {
  NODEWISE_AGENT_CELL_EMPTY = -1,   /* no page of the cell is in memory */
  NODEWISE_AGENT_CELL_UNKNOWN = -2, /* pages in memory, but their nodes are unknown */
  NODEWISE_AGENT_CELL_MIXED = -3,   /* no node has more than half of its pages in memory */
};

/* The first bytes of the report file. */
struct nodewise_agent_head {
  uint64_t used; /* bytes of this head and of reserved records; 0: no record yet */
  uint64_t lost; /* records that had no room, of all processes */
  uint64_t reserved[6];
};

struct nodewise_agent_header {
  uint32_t magic;
  uint16_t version;
  uint16_t kind;
  uint32_t bytes;    /* of the whole record, a multiple of 8 */
  uint32_t checksum; /* of all that follows this field */
  int32_t pid;
  int32_t tid;
};

struct nodewise_agent_start {
  struct nodewise_agent_header header;
  uint64_t page_bytes;
  uint64_t time_ns;
  /* 1: the program defines malloc itself, so the agent sees no requests */
  uint32_t foreign_malloc;
  int32_t parent;                            /* process */
  char program[NODEWISE_AGENT_NAME_BYTES];   /* the last part of argv[0] */
  char allocator[NODEWISE_AGENT_NAME_BYTES]; /* library of small blocks; "": the C library's */
};

/* Pages that are on one node. */
struct nodewise_agent_share {
  uint64_t pages;
  int32_t node;
  uint32_t reserved;
};

/* Consecutive pages on one node, or on unknown nodes: NODEWISE_AGENT_CELL_UNKNOWN. */
struct nodewise_agent_run {
  uint64_t first; /* counted from the object's start */
  uint32_t count;
  int32_t node;
};

/* Followed by `shares` of struct nodewise_agent_share, ascending by node, and `runs` of struct
 * nodewise_agent_run, ascending. Pages are base pages. The fields of `trace` are 0 without it. */
struct nodewise_agent_object {
  struct nodewise_agent_header header;
  uint64_t sequence; /* 0, 1, ... in the order of creation, in one process */
  uint64_t start;    /* address */
  uint64_t bytes;    /* as requested by the program */
  /* Edges of blocks are multiples of this: the base page or the huge page. */
  uint64_t granule_bytes;
  uint64_t pages;
  uint64_t resident;
  uint64_t on_owner;
  uint64_t unknown; /* in memory, but the kernel did not report the node */
  /* The return address into the caller of malloc, from its module's start. */
  uint64_t caller_offset;
  char caller_module[NODEWISE_AGENT_NAME_BYTES]; /* the file's last part, "" if unknown */
  uint32_t refused_errno; /* why mbind, or move_pages for a file, did not place it, or 0 */
  uint32_t flags;
  uint32_t extents; /* policies in force for it */
  uint32_t cells;   /* in use in the strip below: one for each page if there are fewer pages */
  int16_t strip[NODEWISE_AGENT_CELLS]; /* the node of most pages in each equal part of the object */
  uint32_t shares;
  uint32_t object_kind;                 /* enum nodewise_agent_object_kind */
  uint64_t blocks;                      /* of a group, else 1 */
  int32_t rule;                         /* its position among the rules, or -1 for the default */
  char name[NODEWISE_AGENT_NAME_BYTES]; /* of a static array or a file (last part), else "" */
  int32_t maker;                        /* trace: the allocating thread, by its tid */
  uint32_t stack;                       /* trace: number of a record of the process, or 0 */
  uint32_t runs;                        /* trace */
  uint64_t allocated_ns;                /* trace */
  uint64_t freed_ns;                    /* trace: freed, or the end of the process */
};

/* The facts about an object while it lives. */
struct nodewise_agent_allocation {
  struct nodewise_agent_header header;
  uint64_t sequence;
  uint64_t start;
  uint64_t bytes;
  uint64_t time_ns;
  uint64_t caller_offset;
  uint32_t object_kind;
  uint32_t stack;
  char caller_module[NODEWISE_AGENT_NAME_BYTES];
  char name[NODEWISE_AGENT_NAME_BYTES];
  int32_t tid; /* of the thread that made it */
  uint32_t reserved;
};

/* The start for an unwinder: registers at one instruction of the agent, and the stack from there
 * on. Followed by `bytes` of the stack. The header has the thread. */
struct nodewise_agent_stack {
  struct nodewise_agent_header header;
  uint64_t time_ns;
  uint64_t end;    /* of the thread's stack: the copy may be shorter */
  uint64_t caller; /* address that the agent's function returns to */
  uint64_t ip;     /* absolute, as all registers */
  uint64_t sp;     /* where the copy begins */
  uint64_t known;  /* bit n: registers[n] is known; at least the callee-saved ones are */
  uint64_t registers[NODEWISE_AGENT_REGISTERS]; /* by their numbers in DWARF */
  uint32_t number;                              /* above 0, unique in the process */
  uint32_t machine;                             /* EM_X86_64 or EM_AARCH64 */
  uint32_t bytes;
  uint32_t reserved;
};

/* Calls by one place and one thread that wrote into neighbouring bytes. Written when the thread
 * writes elsewhere or ends, or after a second: a killed process may lose its last record. */
struct nodewise_agent_writes {
  struct nodewise_agent_header header;
  uint64_t sequence; /* of the object; NODEWISE_AGENT_NO_SEQUENCE for blocks of a group */
  uint64_t start;    /* of the object, or of the blocks' arena: an address */
  uint64_t first;    /* bytes from there on, half-open */
  uint64_t last;
  uint64_t bytes; /* written in all: more than last - first if some were written again */
  uint64_t calls;
  uint64_t first_ns; /* when the first call returned */
  uint64_t last_ns;
  uint64_t caller_offset; /* of read(), fread(), ... */
  char caller_module[NODEWISE_AGENT_NAME_BYTES];
  int32_t tid;
  uint32_t stack; /* of the first call */
};
#define NODEWISE_AGENT_NO_SEQUENCE UINT64_MAX

/* Pages that were bound so that the kernel does not migrate them. The last record of a process
 * counts. */
struct nodewise_agent_numa_pinned {
  struct nodewise_agent_header header;
  int32_t tid;            /* of the agent's own thread, which is not the program's; or 0 */
  uint32_t refused_errno; /* why binding pages stopped, or 0 */
  uint64_t pages;         /* that were bound when their object ended */
};

enum nodewise_agent_thread_flag {
  NODEWISE_AGENT_PINNED = 1,       /* by the agent */
  NODEWISE_AGENT_OWN_AFFINITY = 2, /* the program bound it itself, which wins */
  NODEWISE_AGENT_MAIN = 4,         /* the process's first thread */
};

#define NODEWISE_AGENT_TEAM_LEVELS 4

struct nodewise_agent_thread {
  struct nodewise_agent_header header;
  int32_t tid;
  /* Number among the threads that the program itself started, from 0 again when all earlier ones
   * were joined; else -1 */
  int32_t ordinal;
  uint32_t flags;
  char name[16];                         /* as in the kernel */
  char cpus[NODEWISE_AGENT_NAME_BYTES];  /* where it may run: "0-3,8"; ends with "..." if cut off */
  char start[NODEWISE_AGENT_NAME_BYTES]; /* the module of its start routine, "" if unknown */
  /* A thread of an inner OpenMP team: its number among the threads of all inner teams, and the
   * sizes of the teams that it is in, outermost first. No sizes: it is in no inner team. */
  uint32_t inner_number;
  uint32_t team_sizes[NODEWISE_AGENT_TEAM_LEVELS];
  /* Of a thread that lives at the end: its processor time in milliseconds, and the processor where
   * it ran last; -1 if unknown. */
  int64_t busy_ms;
  int32_t last_cpu;
  uint32_t unused;
};

/* The objects that one rule decided about. */
struct nodewise_agent_matched {
  uint64_t objects;
  uint64_t placed; /* of these */
};

/* Followed by `rules` of struct nodewise_agent_matched, in the order of the settings. */
struct nodewise_agent_end {
  struct nodewise_agent_header header;
  uint64_t time_ns;
  uint64_t objects;              /* of at least the threshold, in all */
  uint64_t placed;               /* of these */
  uint64_t refused;              /* not placed: mbind failed with an errno */
  uint64_t map_limited;          /* not placed: too many mappings */
  uint64_t left_out;             /* objects without a record of their own: there were too many */
  uint64_t lost;                 /* records that the report file had no room for */
  uint64_t own_threads;          /* started by the program itself, not by a runtime */
  uint64_t pinned;               /* own threads that the agent pinned */
  uint64_t own_affinity;         /* threads that the program bound itself */
  uint64_t stripped;             /* modules with large static memory and no symbols: left alone */
  uint64_t groups;               /* sites whose small blocks were grouped */
  uint64_t allocations_left_out; /* trace: records over the limit, for each kind */
  uint64_t stacks_left_out;
  uint64_t writes_left_out;
  uint32_t refused_errno; /* the first */
  uint32_t pin_errno;     /* the first refusal of a thread's place, or 0 */
  uint32_t rules;
  uint32_t no_memory; /* records that were not made for lack of memory */
};

/* A table of objects. `keys` has `count` words, each 0 or an object's address. `objects` has as
 * many records. Each has the address in its key unless the table changes meanwhile. */
struct nodewise_agent_view_table {
  uint64_t keys;
  uint64_t objects;
  uint64_t count;
};

/* The data symbol `nodewise_agent_view`: the live objects, in two tables. A record has
 * `object_bytes` bytes, with 8-byte fields (the kind has 4 bytes) at the given offsets. `changes`
 * is odd while a thread writes to the first table. */
#define NODEWISE_AGENT_VIEW_MAGIC UINT32_C(0x5657574e) /* "NWWV" */
struct nodewise_agent_view {
  uint32_t magic;
  uint32_t version; /* 2 */
  struct nodewise_agent_view_table all;
  struct nodewise_agent_view_table lent; /* objects in reused memory */
  uint32_t object_bytes;
  uint32_t at_start;
  uint32_t at_bytes;
  uint32_t at_sequence;
  uint32_t at_caller;
  uint32_t at_kind;
  uint32_t changes;
  uint32_t reserved;
};

/* FNV-1a over what follows the checksum field in a record of `bytes` bytes. */
static inline uint32_t nodewise_agent_checksum(const void* record, size_t bytes) {
  const unsigned char* const at = (const unsigned char*)record;
  uint32_t sum = UINT32_C(2166136261);
  for (size_t i = offsetof(struct nodewise_agent_header, pid); i < bytes; ++i) {
    sum = (sum ^ at[i]) * UINT32_C(16777619);
  }
  return sum;
}

#endif
