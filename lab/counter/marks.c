// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "marks.h"

#include <stdlib.h>
#include <string.h>

#include "announcements.h"
#include "books.h"
#include "result.h"
#include "selftest.h"

int mark_in(const unsigned char* bytes, size_t count) {
  static const unsigned char head[] = {0x0f, 0x1f, 0x84, 0x00};
  if (count != 8 || memcmp(bytes, head, sizeof head) != 0 || bytes[6] != 0x57 || bytes[7] != 0x4e)
    return -1;
  return bytes[4] | bytes[5] << 8;
}

static void drop_message(struct task* task) {
  free(task->message);
  task->message = NULL;
}

static void begin_message(struct task* task) {
  if (task->message) { // a signal handler interrupted this message with its own; it is lost
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
  if (task->message_bytes < MESSAGE_BYTES_MAX)
    task->message[task->message_bytes] = (char)(task->half << 4 | half);
  task->message_bytes++;
  task->half = -1;
}

// Whether the message is complete, not too long, and text.
static bool is_whole(const struct task* task) {
  return task->half < 0 && task->message_bytes < MESSAGE_BYTES_MAX &&
         strlen(task->message) == task->message_bytes;
}

static void end_message(struct processor* processor) {
  struct task* task = processor->task;
  if (!task->message)
    return;
  const struct program* before = task->program;
  if (!is_whole(task) || !obey(processor, task->message))
    messages_lost++;
  if (task->program != before)
    forget_translations(processor);
  if (!task->uses)
    processor->executed = 0; // these may belong to the task's earlier thread
  update_activity(processor);
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
