// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/perf.hpp"

#include <array>
#include <cerrno>
#include <ctime>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/perf_registers.hpp"

namespace nodewise::sys {

namespace {

/// The records' fields are those that decode_record reads, in its order.
perf_event_attr attributes_of(const perf_request& what) noexcept {
  constexpr std::array numbers = {PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS,
                                  PERF_COUNT_SW_CPU_MIGRATIONS, PERF_COUNT_SW_DUMMY};
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = numbers[static_cast<std::size_t>(what.what)];
  attr.sample_period = what.period;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  if (what.stack_bytes != 0 && perf_register_mask != 0) {
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = perf_register_mask;
    attr.sample_stack_user = what.stack_bytes;
  }
  if (what.frames) {
    attr.sample_type |= PERF_SAMPLE_PHYS_ADDR;
  }
  if (what.page_sizes) {
    attr.sample_type |= PERF_SAMPLE_DATA_PAGE_SIZE;
  }
  attr.sample_id_all = 1;
  attr.inherit = 1;
  attr.disabled = what.from_exec || what.disabled ? 1 : 0;
  attr.enable_on_exec = what.from_exec ? 1 : 0;
  attr.exclude_kernel = what.user_only ? 1 : 0;
  attr.exclude_hv = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = what.wake_bytes;
  if (what.task_records) {
    attr.task = 1;
    attr.comm = 1;
    attr.comm_exec = 1;
    attr.mmap = 1;
    attr.mmap2 = 1;
    attr.build_id = what.build_ids ? 1 : 0;
  }
  return attr;
}

std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

int control(int file, unsigned long request, unsigned long argument) noexcept {
  return ::ioctl(file, request, argument) == 0 ? 0 : errno;
}

} // namespace

answer<perf_event> perf_event::open(const perf_request& what) noexcept {
  perf_event_attr attr = attributes_of(what);
  const long file = ::syscall(SYS_perf_event_open, &attr, what.tid, to_int(what.cpu), -1,
                              static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
  return {perf_event(static_cast<int>(file)), file < 0 ? errno : 0};
}

int perf_event::enable(bool on) const noexcept {
  return control(descriptor(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

int perf_event::redirect_to(const perf_event& other) const noexcept {
  return control(descriptor(), PERF_EVENT_IOC_SET_OUTPUT,
                 static_cast<unsigned long>(other.descriptor()));
}

answer<std::uint64_t> perf_event::count() const noexcept {
  std::uint64_t count = 0;
  const bool whole = ::read(descriptor(), &count, sizeof count) == ssize_t{sizeof count};
  return {whole ? count : 0, whole ? 0 : errno};
}

answer<perf_ring> perf_ring::map(const perf_event& of, std::size_t bytes) noexcept {
  void* const start =
      ::mmap(nullptr, bytes + page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, of.descriptor(), 0);
  return start == MAP_FAILED ? answer<perf_ring>{{}, errno}
                             : answer<perf_ring>{perf_ring(start, bytes), 0};
}

void unmap_ring::operator()(void* start) const noexcept {
  ::munmap(start, bytes + page_bytes());
}

std::uint64_t perf_ring::drain(const std::function<void(std::span<const std::byte>)>& take) {
  auto* const control_page = static_cast<perf_event_mmap_page*>(memory_.get());
  static_assert(sizeof(control_page->data_head) == sizeof(std::uint64_t));
  // The kernel writes the records, then the head: perf_event_open(2), data_head.
  const std::uint64_t head = __atomic_load_n(&control_page->data_head, __ATOMIC_ACQUIRE);
  const std::uint64_t tail = control_page->data_tail;
  if (tail == head) {
    return 0;
  }
  const auto* const data = static_cast<const std::byte*>(memory_.get()) + page_bytes();
  ring_walk walk({data, bytes()}, tail, head);
  for (auto record = walk.next(); !record.empty(); record = walk.next()) {
    take(record);
  }
  __atomic_store_n(&control_page->data_tail, head, __ATOMIC_RELEASE);
  return walk.damaged();
}

std::size_t raise_open_files() noexcept {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) {
    return 0;
  }
  const rlimit most{files.rlim_max, files.rlim_max};
  const bool raised = ::setrlimit(RLIMIT_NOFILE, &most) == 0;
  return static_cast<std::size_t>(raised ? most.rlim_cur : files.rlim_cur);
}

} // namespace nodewise::sys
