/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What the launcher tells the preloaded agent, and what the agent tells back. Plain C without
 * dependencies.
 *
 * There: the environment variable NODEWISE_AGENT, for example
 *
 *     v1;threshold=1048576;blocked=0*4,1*4;report=/tmp/nodewise-x/report
 *
 * `blocked` lists the nodes of the owners in order, each with the number of its consecutive owners.
 * `observe` leaves the program's own policy in force and only reports; owners, if given with it,
 * are those that a static loop's threads would want, and pages are counted by them. `quiet` keeps
 * the agent from saying on stderr that memory could not be placed. `report` is optional and comes
 * last: it takes the rest of the text.
 *
 * Back: the report file, opened for appending, one write() a record, so that records of several
 * processes and threads do not mix. A record that a full disk cut short may be followed by whole
 * ones: a reader looks for the next header whose checksum is right. Numbers are in the machine's
 * byte order, as writer and reader are on the same machine.
 */
#ifndef NODEWISE_AGENT_PROTOCOL_H
#define NODEWISE_AGENT_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#define NODEWISE_AGENT_VARIABLE "NODEWISE_AGENT"
#define NODEWISE_AGENT_SETTINGS "v1"
#define NODEWISE_AGENT_MAGIC UINT32_C(0x4744574e) /* "NWDG" */
#define NODEWISE_AGENT_RECORDS 1                  /* version of the records below */

#define NODEWISE_AGENT_MAX_RUNS 1024 /* of equal owners in a row, after merging */
#define NODEWISE_AGENT_MAX_NODES 1024
#define NODEWISE_AGENT_CELLS 64
#define NODEWISE_AGENT_NAME_BYTES 64 /* longer names are cut off; always ends with a 0 */

enum nodewise_agent_kind {
  NODEWISE_AGENT_START = 1,  /* a program was loaded, or a process forked */
  NODEWISE_AGENT_OBJECT = 2, /* a large object was freed, or lived at the end */
  NODEWISE_AGENT_END = 3,    /* the process ended by exit() or _exit() */
  NODEWISE_AGENT_MADE = 4,   /* the process has its first large object: a header alone */
};

enum nodewise_agent_flag {
  NODEWISE_AGENT_PLACED = 1,    /* the kernel took the whole distribution */
  NODEWISE_AGENT_MAP_LIMIT = 2, /* not placed: the mappings that policies may take are used up */
  NODEWISE_AGENT_REDUCED = 4, /* move_pages was refused: pages asked one by one, perhaps not all */
  NODEWISE_AGENT_LIVE_AT_END = 8, /* never freed */
  NODEWISE_AGENT_RESIZED = 16,    /* by realloc, in place: owners as for the size it had before */
};

/* What a cell of the strip shows where no node's number stands. */
enum nodewise_agent_cell {
  NODEWISE_AGENT_CELL_EMPTY = -1,   /* no page of the cell is in memory */
  NODEWISE_AGENT_CELL_UNKNOWN = -2, /* pages in memory, nobody says where */
};

struct nodewise_agent_header {
  uint32_t magic;
  uint16_t version;
  uint16_t kind;
  uint32_t bytes;    /* of the whole record */
  uint32_t checksum; /* of all that follows this field */
  int32_t pid;
  int32_t tid;
};

struct nodewise_agent_start {
  struct nodewise_agent_header header;
  uint64_t page_bytes;
  uint32_t
      foreign_malloc; /* 1: the program defines malloc itself, the agent never sees a request */
  uint32_t reserved;
  char program[NODEWISE_AGENT_NAME_BYTES]; /* the last part of argv[0] */
};

/* Pages that are on one node. */
struct nodewise_agent_share {
  uint64_t pages;
  int32_t node;
  uint32_t reserved;
};

/* Followed by `shares` of struct nodewise_agent_share, ascending by node. Pages are base pages. */
struct nodewise_agent_object {
  struct nodewise_agent_header header;
  uint64_t sequence; /* 0, 1, ... in the order of allocation, in one process */
  uint64_t bytes;    /* as asked for by the program */
  uint64_t
      granule_bytes; /* edges of blocks are multiples of this: the base page or the huge page */
  uint64_t pages;
  uint64_t resident;
  uint64_t on_owner;
  uint64_t unknown; /* in memory, but the kernel would not say where */
  uint64_t
      caller_offset; /* the return address into the caller of malloc, from its module's start */
  char caller_module[NODEWISE_AGENT_NAME_BYTES]; /* the file's last part, "" if unknown */
  uint32_t refused_errno;                        /* why mbind did not place it, or 0 */
  uint32_t flags;
  uint32_t extents; /* policies in force for it */
  uint32_t cells;   /* used of the strip below: as many as pages, if there are fewer */
  int16_t strip[NODEWISE_AGENT_CELLS]; /* the commonest node of each equal part of the object */
  uint32_t shares;
  uint32_t reserved;
};

struct nodewise_agent_end {
  struct nodewise_agent_header header;
  uint64_t objects;       /* of at least the threshold, in all */
  uint64_t placed;        /* of these */
  uint64_t refused;       /* not placed: mbind answered an errno */
  uint64_t map_limited;   /* not placed: too many mappings */
  uint64_t left_out;      /* objects without a record of their own: there were too many */
  uint64_t lost;          /* records that could not be written */
  uint32_t refused_errno; /* the first */
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
