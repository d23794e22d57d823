// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// std_threads COUNT: threads of the C++ library, one after the other; prints where each may run.
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <sched.h>

namespace {

void note(int number) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (::sched_getaffinity(0, sizeof mine, &mine) != 0) {
    std::abort();
  }
  std::printf("%d", number);
  const char* before = " ";
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mine)) {
      std::printf("%s%zu", before, cpu);
      before = ",";
    }
  }
  std::puts("");
}

} // namespace

int main(int argc, char** argv) {
  const int count = argc == 2 ? std::atoi(argv[1]) : 0;
  for (int i = 0; i < count; ++i) {
    std::thread([i] { note(i); }).join();
  }
  // The unwinder passes the first frames of a thread.
  std::thread([] {
    try {
      throw 42;
    } catch (int) {
    }
  }).join();
  return 0;
}
