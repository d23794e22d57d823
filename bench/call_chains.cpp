// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a call chain of a copied stack takes. Prints one line a question: name, then the
// microseconds per chain of each turn.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <elfutils/libdwfl.h>
#include <ucontext.h>
#include <unistd.h>

#include "symbols/chain_names.hpp"
#include "symbols/unwind.hpp"

namespace {

using namespace nodewise::symbols;

constexpr int turns = 5;
constexpr std::size_t stack_bytes = 4096;
constexpr std::size_t chains = 100'000;

struct sample {
  registers at;
  std::vector<std::byte> stack;
};

code_map own_map() {
  code_map map;
  std::ifstream lines("/proc/self/maps");
  for (std::string line; std::getline(lines, line);) {
    code_mapping one;
    std::string permissions;
    std::string ignored;
    char dash = 0;
    std::istringstream in(line);
    in >> std::hex >> one.start >> dash >> one.end >> permissions >> one.file_offset >> ignored >>
        ignored >> one.file;
    if (permissions.find('x') != std::string::npos) {
      map.add(one);
    }
  }
  return map;
}

/// This very place, ten calls and a sort deep.
[[gnu::noinline]] void sample_here(std::vector<sample>& into) {
  ucontext_t context;
  ::getcontext(&context);
  const auto& values = context.uc_mcontext.gregs;
  const auto word = [&](int which) { return static_cast<std::uint64_t>(values[which]); };
  registers at(processor::x86_64, word(REG_RIP), word(REG_RSP));
  at.set(3, word(REG_RBX));
  at.set(6, word(REG_RBP));
  for (int i = 0; i < 4; ++i) {
    at.set(static_cast<std::uint64_t>(12 + i), word(REG_R12 + i));
  }
  sample one{at, std::vector<std::byte>(stack_bytes)};
  std::memcpy(one.stack.data(), reinterpret_cast<const void*>(word(REG_RSP)), stack_bytes);
  into.push_back(std::move(one));
}

[[gnu::noinline]] int deeper(int calls, std::vector<sample>& into) {
  if (calls > 0) {
    return deeper(calls - 1, into) + 1;
  }
  std::array<int, 8> numbers{3, 1, 4, 1, 5, 9, 2, 6};
  static std::vector<sample>* all = nullptr;
  all = &into;
  std::qsort(numbers.data(), numbers.size(), sizeof(int), [](const void*, const void*) {
    sample_here(*all);
    return 1;
  });
  return numbers[0];
}

void time(const char* name, const std::function<void()>& prepare, std::size_t count,
          const std::function<void()>& question) {
  std::printf("%s", name);
  for (int turn = 0; turn < turns; ++turn) {
    prepare();
    const auto begin = std::chrono::steady_clock::now();
    question();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    std::printf("\t%.4f", took.count() / static_cast<double>(count));
  }
  std::printf("\n");
}

/// The same chains by elfutils, which unwinds a thread whose memory and registers a caller gives.
class dwfl_unwinder {
 public:
  dwfl_unwinder() : session_(dwfl_begin(&files)) {
    const bool known = session_ != nullptr && dwfl_linux_proc_report(session_, ::getpid()) == 0 &&
                       dwfl_report_end(session_, nullptr, nullptr) == 0 &&
                       dwfl_attach_state(session_, nullptr, ::getpid(), &thread, this);
    if (!known) {
      std::fprintf(stderr, "libdwfl: %s\n", dwfl_errmsg(-1));
      std::exit(1);
    }
  }
  dwfl_unwinder(const dwfl_unwinder&) = delete;
  dwfl_unwinder& operator=(const dwfl_unwinder&) = delete;
  ~dwfl_unwinder() { dwfl_end(session_); }

  std::size_t frames(const sample& of) {
    sample_ = &of;
    std::size_t count = 0;
    (void)dwfl_getthread_frames(
        session_, ::getpid(),
        [](Dwfl_Frame* frame, void* into) -> int {
          Dwarf_Addr pc = 0;
          if (dwfl_frame_pc(frame, &pc, nullptr)) {
            ++*static_cast<std::size_t*>(into);
          }
          return DWARF_CB_OK;
        },
        &count);
    return count;
  }

 private:
  static const sample& sample_of(void* unwinder) {
    return *static_cast<dwfl_unwinder*>(unwinder)->sample_;
  }
  static pid_t next_thread(Dwfl*, void* unwinder, void** state) {
    const bool first = *state == nullptr;
    *state = unwinder;
    return first ? ::getpid() : 0;
  }
  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* into, void* unwinder) {
    const sample& of = sample_of(unwinder);
    const std::uint64_t offset = address - of.at.get(of.at.stack_pointer_number()).value_or(0);
    if (offset + sizeof *into > of.stack.size()) {
      return false;
    }
    std::memcpy(into, of.stack.data() + offset, sizeof *into);
    return true;
  }
  static bool set_registers(Dwfl_Thread* of, void* unwinder) {
    const sample& from = sample_of(unwinder);
    for (int number = 0; number <= 16; ++number) {
      const Dwarf_Word value = from.at.get(static_cast<std::uint64_t>(number)).value_or(0);
      if (!dwfl_thread_state_registers(of, number, 1, &value)) {
        return false;
      }
    }
    return true;
  }

  static constexpr Dwfl_Callbacks files{dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo,
                                        nullptr, nullptr};
  static constexpr Dwfl_Thread_Callbacks thread{next_thread,   nullptr, read_memory,
                                                set_registers, nullptr, nullptr};
  Dwfl* session_;
  const sample* sample_ = nullptr;
};

} // namespace

int main() {
  std::vector<sample> samples;
  if (deeper(10, samples) < 0) {
    return 1;
  }
  const code_map map = own_map();
  unwinder by;
  chain_namer namer;
  std::size_t frames = 0;
  const auto chain = [&](std::size_t i) {
    const sample& s = samples[i % samples.size()];
    const std::uint64_t start = s.at.get(s.at.stack_pointer_number()).value_or(0);
    return by.chain(map, s.at, {start, s.stack}).addresses;
  };
  time("first chain", [&] { by = unwinder(); }, 1, [&] { frames += chain(0).size(); });
  time(
      "chain", [] {}, chains,
      [&] {
        for (std::size_t i = 0; i < chains; ++i) {
          frames += chain(i).size();
        }
      });
  dwfl_unwinder peer;
  constexpr std::size_t fewer = chains / 10;
  time(
      "chain by libdwfl", [] {}, fewer,
      [&] {
        for (std::size_t i = 0; i < fewer; ++i) {
          frames += peer.frames(samples[i % samples.size()]);
        }
      });
  if (peer.frames(samples[0]) != chain(0).size()) {
    std::fprintf(stderr, "libdwfl finds %zu frames, not %zu\n", peer.frames(samples[0]),
                 chain(0).size());
  }
  time(
      "chain with names", [&] { namer = chain_namer(); }, chains,
      [&] {
        for (std::size_t i = 0; i < chains; ++i) {
          frames += namer.frames(map, chain(i)).size();
        }
      });
  return frames == 0 ? 1 : 0;
}
