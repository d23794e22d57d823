// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// unwind REPORT MAPS: a line for each stack that the agent has copied, its number and the names of
// the functions on it, from the inside out. MAPS is what /proc/PID/maps was. By elfutils' unwinder.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <elfutils/libdwfl.h>

#include "launch/agent_report.hpp"

using nodewise::launch::stack_report;

namespace {

constexpr int pid = 1; // it is not asked for anything

bool read_word(Dwfl* /*all*/, Dwarf_Addr address, Dwarf_Word* into, void* argument) {
  const auto& stack = *static_cast<const stack_report*>(argument);
  if (address < stack.sp || stack.bytes.size() < sizeof *into ||
      address - stack.sp > stack.bytes.size() - sizeof *into) {
    return false;
  }
  std::memcpy(into, stack.bytes.data() + (address - stack.sp), sizeof *into);
  return true;
}

pid_t only_thread(Dwfl* /*all*/, void* argument, void** of_thread) {
  if (*of_thread != nullptr) {
    return 0;
  }
  *of_thread = argument;
  return pid;
}

bool set_registers(Dwfl_Thread* thread, void* argument) {
  const auto& stack = *static_cast<const stack_report*>(argument);
  for (std::size_t i = 0; i < stack.registers.size(); ++i) {
    const Dwarf_Word value = stack.registers[i].value_or(0);
    if (stack.registers[i] &&
        !dwfl_thread_state_registers(thread, static_cast<int>(i), 1, &value)) {
      return false;
    }
  }
  dwfl_thread_state_register_pc(thread, stack.ip);
  return true;
}

int print_frame(Dwfl_Frame* frame, void* /*nothing*/) {
  Dwarf_Addr address = 0;
  bool exact = false;
  if (!dwfl_frame_pc(frame, &address, &exact)) {
    return DWARF_CB_ABORT;
  }
  address -= exact ? 0 : 1;
  Dwfl_Module* const module = dwfl_addrmodule(dwfl_thread_dwfl(dwfl_frame_thread(frame)), address);
  const char* const name = module == nullptr ? nullptr : dwfl_module_addrname(module, address);
  std::printf(" %s", name == nullptr ? "?" : name);
  return DWARF_CB_OK;
}

void print(Dwfl* all, stack_report& stack) {
  const Dwfl_Thread_Callbacks calls = {only_thread,   nullptr, read_word,
                                       set_registers, nullptr, nullptr};
  std::printf("%u:", stack.number);
  if (dwfl_attach_state(all, nullptr, pid, &calls, &stack)) {
    (void)dwfl_getthread_frames(all, pid, print_frame, nullptr);
  } else {
    std::printf(" %s", dwfl_errmsg(-1));
  }
  std::printf("\n");
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  std::ifstream file(argv[1]);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  auto report = nodewise::launch::read_agent_file(bytes.str());
  for (auto& process : report.processes) {
    for (stack_report& stack : process.stacks) {
      const Dwfl_Callbacks find = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr,
                                   nullptr};
      Dwfl* const all = dwfl_begin(&find);
      std::FILE* const maps = std::fopen(argv[2], "r");
      if (all == nullptr || maps == nullptr || dwfl_linux_proc_maps_report(all, maps) != 0 ||
          dwfl_report_end(all, nullptr, nullptr) != 0) {
        return 1;
      }
      std::fclose(maps);
      print(all, stack);
      dwfl_end(all);
    }
  }
  return 0;
}
