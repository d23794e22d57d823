// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The known patterns. Each is a detector of this name in patterns/; the most specific explanation
// of an object is first.
#pragma once

// clang-format off
#define NODEWISE_PATTERNS(use) \
  use(nameless) /* much of the remote traffic is to memory without a name */ \
  use(own_placement) /* the program itself places it, by the library, and wrongly */ \
  use(buffer_cache) /* cached files filled a node: pages touched there went elsewhere */ \
  use(larger_than_node) /* one process needs more than a node has */ \
  use(sparse_matrix) /* values, columns and row pointers on one node */ \
  use(far_tasks) /* any thread takes any task, wherever its data are */ \
  use(small_chunks) /* chunks shorter than a page: neighbours share pages */ \
  use(dynamic_schedule) /* any thread may work on any page */ \
  use(used_by_all) /* all threads read all of it */ \
  use(growth) /* enlarged step by step: placed for another size */ \
  use(serial_file_read) /* the system call that read a file touched it, in one thread */ \
  use(dynamic_members) /* many small blocks, all made by one thread */ \
  use(constructor_touch) /* std::vector, new T[n]: constructors touched it, in one thread */ \
  use(partly_parallel) /* initialised by one thread, unlike other arrays of the same loop */ \
  use(static_arrays) /* several static arrays, initialised by one thread */ \
  use(serial_initialisation) /* one thread touched it first */ \
  use(different_schedules) /* touched in parallel, but not by the threads that use it */ \
  use(few_threads) /* threads on fewer nodes than there are: idle memories */ \
  use(unpinned_threads) /* threads change their node */ \
  use(thread_stacks) /* threads use data on another thread's stack */ \
  use(unbalanced_work) /* threads have different amounts of work */ \
  use(false_sharing) /* cache lines written by several threads, each its own bytes */
// clang-format on
