// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Programs that copy registers and stack at their page faults, or after each of their instructions,
// and what glibc's backtrace() says of the same moment.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/unwind.hpp"
#include "unit/symbols_programs.hpp"

namespace nodewise::test {

/// Linked to each program. `untouched(bytes)` is memory in which the first touch of every page is
/// recorded; between `step_begin` and `step_end` every instruction is. A record: 16 registers by
/// DWARF's numbers, pc, bytes of stack, count of addresses; the addresses, the stack.
inline constexpr std::string_view recorder_source = R"C(#define _GNU_SOURCE
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
static int file;
static long page_bytes;
static const int numbers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                              REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
static void record(int signal, siginfo_t* info, void* context) {
  const ucontext_t* at = context;
  static _Thread_local struct {
    uint64_t registers[17], stack_bytes, addresses, words[64];
    char stack[4096];
  } all;
  for (int i = 0; i < 17; ++i) all.registers[i] = (uint64_t)at->uc_mcontext.gregs[numbers[i]];
  struct iovec to = {all.stack, sizeof all.stack}, from = {(void*)all.registers[7], sizeof all.stack};
  const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  all.stack_bytes = got > 0 ? (uint64_t)got : 0;
  all.addresses = (uint64_t)backtrace((void**)all.words, 64);
  const struct iovec parts[2] = {{&all, sizeof all - sizeof all.stack}, {all.stack, all.stack_bytes}};
  if (writev(file, parts, 2) < 0) _exit(3);
  if (signal == SIGSEGV &&
      mprotect((void*)((uintptr_t)info->si_addr & -(uintptr_t)page_bytes), (size_t)page_bytes, PROT_READ | PROT_WRITE) != 0) {
    _exit(4);
  }
}
static void save_map(void) {
  static char text[1 << 16];
  const int maps = open("/proc/self/maps", O_RDONLY), copy = open("maps", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  for (ssize_t got; (got = read(maps, text, sizeof text)) > 0;)
    if (write(copy, text, (size_t)got) != got) _exit(5);
}
__attribute__((constructor)) static void start(void) {
  void* ignored[4];
  backtrace(ignored, 4);  // loads what it needs
  page_bytes = sysconf(_SC_PAGESIZE);
  file = open("records", O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
  struct sigaction how = {.sa_sigaction = record, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &how, NULL);
  sigaction(SIGTRAP, &how, NULL);
  atexit(save_map);
}
void* untouched(size_t bytes) {
  return mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
#define FLAGS(change) \
  __asm__ volatile("pushfq; .cfi_adjust_cfa_offset 8;" change "; popfq; .cfi_adjust_cfa_offset -8" ::: "memory", "cc")
void step_begin(void) { FLAGS("orq $256, (%%rsp)"); }
void step_end(void) { FLAGS("andq $-257, (%%rsp)"); }
)C";

struct record {
  std::uint64_t registers[17]{};
  std::vector<std::uint64_t> chain; ///< by backtrace(), from the interrupted instruction on
  std::vector<std::byte> stack;

  [[nodiscard]] symbols::registers at() const {
    symbols::registers all(symbols::processor::x86_64, registers[16], registers[7]);
    for (std::size_t i = 0; i < 16; ++i) {
      all.set(i, registers[i]);
    }
    return all;
  }
  [[nodiscard]] symbols::stack_copy copy() const { return {registers[7], stack}; }
};

class unwind_test : public symbols_test {
 protected:
  void SetUp() override {
#ifndef __x86_64__
    GTEST_SKIP() << "the recorder knows the registers of x86-64 only";
#endif
    symbols_test::SetUp();
  }
  /// Compiles the recorder too, runs the program; `options` may name what else to link.
  std::string run(const std::string& name, std::string_view source, const std::string& options,
                  const std::string& after_build = "") {
    std::ofstream(folder_ / "recorder.c") << recorder_source;
    output_of("cd " + folder_.string() + " && gcc -O2 -g -fomit-frame-pointer -c recorder.c 2>&1");
    const std::string program = build(name, source, options + " recorder.o");
    if (!after_build.empty()) {
      output_of(after_build + " " + program);
    }
    output_of("cd " + folder_.string() + " && " + program);
    read_map();
    read_records();
    return program;
  }

  symbols::code_map map_;
  std::vector<record> records_;

 private:
  void read_map() {
    map_ = {};
    std::ifstream lines(folder_ / "maps");
    for (std::string line; std::getline(lines, line);) {
      symbols::code_mapping one;
      std::string permissions;
      std::string ignored;
      char dash = 0;
      std::istringstream in(line);
      in >> std::hex >> one.start >> dash >> one.end >> permissions >> one.file_offset >> ignored >>
          ignored >> one.file;
      if (permissions.find('x') != std::string::npos) {
        map_.add(one);
      }
    }
  }
  void read_records() {
    records_.clear();
    std::ifstream in(folder_ / "records", std::ios::binary);
    struct {
      std::uint64_t registers[17];
      std::uint64_t stack_bytes;
      std::uint64_t addresses;
      std::uint64_t words[64];
    } head{};
    while (in.read(reinterpret_cast<char*>(&head), sizeof head)) {
      record one;
      std::memcpy(one.registers, head.registers, sizeof head.registers);
      const std::span words(head.words, head.addresses);
      one.chain.assign(std::ranges::find(words, head.registers[16]), words.end());
      one.stack.resize(head.stack_bytes);
      in.read(reinterpret_cast<char*>(one.stack.data()),
              static_cast<std::streamsize>(head.stack_bytes));
      records_.push_back(std::move(one));
    }
  }
};

} // namespace nodewise::test
