// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "pages.h"
#include "result.h"
#include "selftest.h"

// A word of a message is a name, a kind of object, or a hexadecimal number with 0x. Words go into
// the result unchanged, so everything else is refused.
static bool is_name(const char* word, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (is_plain(word[i]))
      continue;
    if (word[i] != '%' || length - i < 3 || strspn(word + i + 1, "0123456789ABCDEF") < 2)
      return false;
    i += 2;
  }
  return length > 0;
}

static bool is_kind(const char* word, size_t length) {
  static const char* const kinds[] = {"heap", "map", "static", "group", "region", "file"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i]) == length && memcmp(kinds[i], word, length) == 0)
      return true;
  return false;
}

static bool is_number(const char* word, size_t length) {
  return length > 2 && length <= 18 && memcmp(word, "0x", 2) == 0 &&
         strspn(word + 2, "0123456789abcdef") >= length - 2;
}

static bool is_word(char sort, const char* word, size_t length) {
  return sort == 'n'   ? is_name(word, length)
         : sort == 'k' ? is_kind(word, length)
                       : is_number(word, length);
}

// Whether the text consists of words of these sorts, separated by single blanks.
static bool has_words(const char* text, const char* sorts) {
  for (; *sorts; sorts++) {
    const size_t length = strcspn(text, " ");
    if (!is_word(*sorts, text, length))
      return false;
    text += length;
    if (sorts[1] != '\0' && *text++ != ' ')
      return false;
  }
  return *text == '\0';
}

static bool is_pid(uint64_t number) {
  return number > 0 && number < PROGRAM_GENERATION;
}

static bool begin_program(struct task* task, const char* text) {
  uint64_t pid = 0;
  int name = 0;
  if (sscanf(text, "%lu %n", &pid, &name) != 1 || !is_pid(pid) || !has_words(text + name, "n"))
    return false;
  task_begins(task, program_begins(pid, 0, text + name), pid);
  return true;
}

static bool begin_fork(struct task* task, const char* text) {
  uint64_t pid = 0;
  uint64_t parent_pid = 0;
  if (sscanf(text, "%lu %lu", &pid, &parent_pid) != 2 || !is_pid(pid) || !is_pid(parent_pid))
    return false;
  const struct program* parent = program_of(parent_pid);
  struct program* child =
      program_begins(pid, parent ? parent->key : parent_pid, parent ? parent->name : "-");
  if (parent)
    program_inherits(child, parent);
  task_begins(task, child, pid);
  return true;
}

static bool begin_thread(struct task* task, const char* text) {
  uint64_t pid = 0;
  uint64_t tid = 0;
  const int words = sscanf(text, "%lu %lu", &pid, &tid);
  if (words < 1 || (words == 2 && !is_pid(tid)))
    return false;
  struct program* program = program_of(pid);
  task_begins(task, program ? program : &nobody, tid);
  return true;
}

// Whether the range is in the address space of programs.
static bool can_be(uint64_t start, uint64_t bytes) {
  return bytes > 0 && start < USER_BYTES && bytes <= USER_BYTES - start;
}

// The blocks of a group are already in use when it is announced, or announced again after it has
// grown: its pages go on. All other objects are new memory.
static bool is_group(const char* what) {
  return strncmp(what, "group ", strlen("group ")) == 0;
}

// Larger than any group: larger ones would only take time to search.
enum { GROUP_BYTES_MAX_SHIFT = 36 };

// An object that was moved or resized is announced again and keeps its account.
static bool begin_object(struct task* task, const char* text) {
  uint64_t id = 0;
  uint64_t start = 0;
  uint64_t bytes = 0;
  int rest = 0;
  if (sscanf(text, "%lx %lx %lx %n", &id, &start, &bytes, &rest) != 3 || id == REST_ID ||
      !can_be(start, bytes) || !has_words(text + rest, "knxn"))
    return false;
  const bool goes_on = is_group(text + rest);
  if (goes_on && bytes >> GROUP_BYTES_MAX_SHIFT)
    return false;
  if (!goes_on)
    end_pages(task->program, start, bytes);
  struct object* before = object_with(task->program, id);
  if (before) {
    if (!before->freed && !goes_on)
      end_pages(task->program, before->start, before->bytes);
    object_moves(before, start, bytes);
  } else
    (void)object_begins(task->program, id, start, bytes, text + rest);
  if (goes_on)
    adopt_pages(task->program, start, bytes);
  forget_all_translations();
  return true;
}

static bool end_object(struct task* task, const char* text) {
  uint64_t id = 0;
  if (sscanf(text, "%lx", &id) != 1 || id == REST_ID)
    return false;
  struct object* object = object_with(task->program, id);
  if (object && !object->freed) { // else it was beyond the limit
    end_pages(task->program, object->start, object->bytes);
    object_ends(object);
    forget_all_translations();
  }
  return true;
}

static bool obey_init(struct processor* processor, char what, const char* text) {
  unsigned number = 0;
  uint64_t address = 0;
  if (state != STATE_SELFTEST)
    return false;
  if (what == 'k' && sscanf(text, "%u", &number) == 1)
    selftest_processor(processor, number);
  else if (what == 'n' && sscanf(text, "%u %lx", &number, &address) == 2)
    selftest_page(number, address);
  else
    return false;
  return true;
}

// Does what the processor's current task announces. False if the message is invalid.
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
    return has_words(text, "xxxn") && program_adds_mapping(program, text);
  case 's':
    if (!has_words(text, "xxxn"))
      return false;
    program_adds_stack(program, text);
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
