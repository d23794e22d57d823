// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "announcements.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"
#include "selftest.h"

uint64_t messages_lost;

int mark_in(const unsigned char* bytes, size_t count) {
  static const unsigned char head[] = {0x0f, 0x1f, 0x84, 0x00};
  if (count != 8 || memcmp(bytes, head, sizeof head) != 0 || bytes[6] != 0x57 || bytes[7] != 0x4e)
    return -1;
  return bytes[4] | bytes[5] << 8;
}

static bool begin_program(struct task* task, const char* text) {
  uint64_t pid = 0;
  char name[300];
  if (sscanf(text, "%" SCNu64 " %299s", &pid, name) != 2)
    return false;
  task_begins(task, program_begins(pid, pid, name));
  return true;
}

static bool begin_fork(struct task* task, const char* text) {
  uint64_t pid = 0;
  uint64_t parent_pid = 0;
  if (sscanf(text, "%" SCNu64 " %" SCNu64, &pid, &parent_pid) != 2)
    return false;
  const struct program* parent = program_of(parent_pid);
  struct program* child =
      program_begins(pid, parent ? parent->key : parent_pid, parent ? parent->name : "-");
  if (parent)
    program_inherits(child, parent);
  task_begins(task, child);
  return true;
}

static bool begin_thread(struct task* task, const char* text) {
  uint64_t pid = 0;
  if (sscanf(text, "%" SCNu64, &pid) != 1)
    return false;
  struct program* program = program_of(pid);
  task_begins(task, program ? program : &nobody);
  return true;
}

// An object that was moved or resized is announced again: it keeps its account.
static bool begin_object(struct task* task, const char* text) {
  uint64_t id = 0;
  uint64_t start = 0;
  uint64_t bytes = 0;
  int rest = 0;
  if (sscanf(text, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %n", &id, &start, &bytes, &rest) != 3 ||
      rest == 0)
    return false;
  end_pages(task->program, start, bytes);
  struct object* before = object_with(task->program, id);
  if (before) {
    if (!before->freed)
      end_pages(task->program, before->start, before->bytes);
    object_moves(before, start, bytes);
  } else
    (void)object_begins(task->program, id, start, bytes, text + rest);
  forget_all_translations();
  return true;
}

static bool end_object(struct task* task, const char* text) {
  uint64_t id = 0;
  if (sscanf(text, "%" SCNx64, &id) != 1)
    return false;
  struct object* object = object_with(task->program, id);
  if (object && !object->freed) { // else it was one too many
    end_pages(task->program, object->start, object->bytes);
    object_ends(object);
    forget_all_translations();
  }
  return true;
}

static bool obey_init(struct processor* processor, char what, const char* text) {
  unsigned number = 0;
  uint64_t address = 0;
  if (what == 'k' && sscanf(text, "%u", &number) == 1)
    selftest_processor(processor, number);
  else if (what == 'n' && sscanf(text, "%u %" SCNx64, &number, &address) == 2)
    selftest_page(number, address);
  else
    return false;
  return true;
}

// False if it makes no sense.
static bool obey(struct processor* processor, const char* message) {
  struct task* task = processor->task;
  struct program* program = task->program;
  const char* text = message + 1;
  switch (message[0]) {
  case 'k':
  case 'n':
    return obey_init(processor, message[0], text);
  case 'x':
    return begin_program(task, text);
  case 'f':
    return begin_fork(task, text);
  case 't':
    return begin_thread(task, text);
  case 'o':
    return begin_object(task, text);
  case 'd':
    return end_object(task, text);
  case 'M':
    program_forgets_mappings(program);
    return true;
  case 'm':
    program_adds_mapping(program, text);
    return true;
  case 'e':
    program->ended = true;
    return true;
  case '[':
    region_starts(program, text);
    return true;
  case ']':
    region_stops(program, text);
    return true;
  case 'u':
    books_begin_use(program);
    return true;
  default:
    return false;
  }
}

static void drop_message(struct task* task) {
  free(task->message);
  task->message = NULL;
}

static void begin_message(struct task* task) {
  if (task->message) { // a signal handler has its own to say, and the one before it is lost
    messages_lost++;
    drop_message(task);
  }
  task->message = allocate(MESSAGE_BYTES_MAX);
  task->message_bytes = 0;
  task->half = -1;
}

static void add_half_byte(struct task* task, int half) {
  if (!task->message)
    return;
  if (task->half < 0) {
    task->half = half;
    return;
  }
  if (task->message_bytes < MESSAGE_BYTES_MAX - 1)
    task->message[task->message_bytes++] = (char)(task->half << 4 | half);
  task->half = -1;
}

static void end_message(struct processor* processor) {
  struct task* task = processor->task;
  if (!task->message)
    return;
  task->message[task->message_bytes] = '\0';
  const struct program* before = task->program;
  if (!obey(processor, task->message))
    messages_lost++;
  if (task->program != before)
    forget_translations(processor);
  drop_message(task);
}

static void observe(struct task* task) {
  task->excluded = false;
  if (state != STATE_SELFTEST)
    return;
  const char* wrong = selftest_verdict();
  state = wrong ? STATE_REFUSED : STATE_COUNTING;
  if (wrong)
    write_refusal(wrong);
}

static void finish(void) {
  if (state != STATE_COUNTING)
    return;
  state = STATE_FINISHED;
  close_books();
  write_result();
}

void on_mark(unsigned vcpu, void* code) {
  struct processor* processor = &processors[vcpu];
  const int mark = (int)(intptr_t)code;
  lock_shared();
  struct task* task = processor->task;
  if (!task)
    messages_lost++;
  else if (mark < MARK_BYTE)
    add_half_byte(task, mark);
  else if (mark == MARK_BEGIN)
    begin_message(task);
  else if (mark == MARK_END)
    end_message(processor);
  else if (mark == MARK_OBSERVE)
    observe(task);
  else if (mark == MARK_EXCLUDE)
    task->excluded = true;
  else if (mark == MARK_FINISH)
    finish();
  for (unsigned i = 0; mark >= MARK_OBSERVE && i < VCPUS_MAX; i++)
    update_activity(&processors[i]);
  unlock_shared();
}
