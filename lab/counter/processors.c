// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "processors.h"

#include "books.h"

enum state state = STATE_SELFTEST;
struct processor processors[VCPUS_MAX];

static const uint64_t epoch_step = UINT64_C(1) << 36; // above any page number

void processors_prepare(void) {
  for (unsigned i = 0; i < VCPUS_MAX; i++)
    processors[i].epoch = epoch_step;
}

void update_activity(struct processor* processor) {
  const bool active =
      state == STATE_COUNTING && processor->task != NULL && !processor->task->excluded;
  __atomic_store_n(&processor->active, active, __ATOMIC_RELAXED);
}

void forget_translations(struct processor* processor) {
  // Another processor may also do this; every change gives an epoch never used before.
  __atomic_fetch_add(&processor->epoch, epoch_step, __ATOMIC_RELAXED);
}

void forget_all_translations(void) {
  for (unsigned i = 0; i < VCPUS_MAX; i++)
    forget_translations(&processors[i]);
}

void switch_task(struct processor* processor, uint64_t address) {
  lock_shared();
  struct task* before = processor->task;
  struct task* task = task_at(address);
  // The kernel gives the structure of a task that has ended to a new one, which may never announce
  // itself.
  if (task->program->ended)
    task_begins(task, &nobody, 0);
  if (!before || before->program != task->program)
    forget_translations(processor);
  // Instructions after the task's last requested line are use if that line was use. Others wait for
  // its next line.
  if (before && before->uses)
    book_work(before, &processor->executed);
  if (before)
    before->executed = processor->executed;
  processor->task = task;
  processor->executed = task->executed;
  update_activity(processor);
  unlock_shared();
}
