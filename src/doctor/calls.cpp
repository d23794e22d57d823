// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <string_view>
#include <thread>

#include <sys/mman.h>

#include <nodewise/error.hpp>

#include "doctor/examine.hpp"

namespace nodewise::doctor {

namespace {

/// How much depends on a call.
enum class need { required, optional };

std::string container_cure(std::string_view capability) {
  return "if this is a container, its seccomp filter refuses: start it with --cap-add " +
         std::string(capability) +
         " (Docker, Podman; securityContext.capabilities.add in Kubernetes), or with "
         "--security-opt seccomp=unconfined";
}

std::string memory_call_cure(int errno_value) {
  switch (errno_value) {
  case EPERM:
  case EACCES:
    return container_cure("SYS_NICE");
  case ENOSYS:
    return "the kernel was built without NUMA (CONFIG_NUMA), or a sandbox such as gVisor stands in "
           "for it: run outside of it";
  case EINVAL:
    return "the node is outside this process' cpuset (Mems_allowed_list below): ask the batch "
           "system "
           "or the container's --cpuset-mems for it";
  default:
    return "`strace -f -e trace=%memory,%process` shows the call; the kernel's log may say more";
  }
}

std::string affinity_cure(int errno_value) {
  return errno_value == EINVAL ? "no processor of the set is in this process' cpuset"
                               : container_cure("SYS_NICE");
}

std::string huge_page_cure(int errno_value) {
  return errno_value == EINVAL ? "the kernel has no transparent huge pages: mappings use base pages"
                               : container_cure("SYS_ADMIN");
}

std::string populate_cure(int errno_value) {
  return errno_value == EINVAL ? "needs Linux 5.14; until then pages are touched one by one"
                               : "pages are touched one by one instead";
}

std::string counter_cure(int errno_value) {
  switch (errno_value) {
  case EPERM:
  case EACCES:
    return "sysctl kernel.perf_event_paranoid=2 as root; in a container also --cap-add PERFMON";
  case ENOSYS:
    return "the kernel was built without CONFIG_PERF_EVENTS";
  case EMFILE:
    return "raise the limit of open files: ulimit -n";
  default:
    return "profiles will lack page faults";
  }
}

std::string userfault_cure(int errno_value) {
  return errno_value == EPERM ? "optional; sysctl vm.unprivileged_userfaultfd=1 as root permits it"
                              : "optional; the kernel was built without CONFIG_USERFAULTFD";
}

class prober {
 public:
  explicit prober(const surroundings& around) : around_(around), kernel_(*around.kernel) {}

  std::vector<finding> all() {
    thread_calls();
    memory_calls();
    add("perf_event_open", need::optional, around_.open_fault_counter(), counter_cure);
    add("userfaultfd", need::optional, around_.open_userfaultfd(), userfault_cure);
    return std::move(found_);
  }

 private:
  using cure_for = std::string (*)(int);

  void add(std::string name, need how, int errno_value, cure_for cure) {
    finding f;
    f.name = std::move(name);
    f.errno_value = errno_value;
    if (errno_value == 0) {
      f.found = "permitted";
    } else {
      f.verdict = how == need::required ? verdict::bad : verdict::warning;
      f.found = "refused: " + errno_text(errno_value);
      f.cure = cure(errno_value);
    }
    found_.push_back(std::move(f));
  }

  /// What follows from a call that could not be made.
  void add_untried(std::string name, const std::string& why) {
    found_.push_back({std::move(name), verdict::unavailable, "not tried: " + why, "", 0});
  }

  void thread_calls() {
    const auto cpus = kernel_.get_affinity(0);
    add("sched_getaffinity", need::required, cpus.errno_value, affinity_cure);
    if (cpus) {
      add("sched_setaffinity", need::required, kernel_.set_affinity(0, cpus.value), affinity_cure);
    } else {
      add_untried("sched_setaffinity", "the processors are not known");
    }
    add("getcpu", need::optional, kernel_.current_cpu().errno_value, affinity_cure);
    add("get_mempolicy", need::required, kernel_.get_mempolicy().errno_value, memory_call_cure);
    add("set_mempolicy", need::required, kernel_.set_mempolicy(sys::policy::local, {}),
        memory_call_cure);
  }

  void memory_calls() {
    const std::size_t bytes = 2 * std::max(kernel_.base_page_bytes(), kernel_.thp_bytes());
    const auto range = kernel_.map(bytes, sys::access::read_write, 0);
    if (!range) {
      for (const char* const name :
           {"mbind", "move_pages (query)", "move_pages (move)", "get_mempolicy (address)",
            "mincore", "madvise (huge page)", "madvise (populate)"}) {
        add_untried(name, "no memory to try it on: mmap answered " + errno_text(range.errno_value));
      }
      return;
    }
    calls_on(range.value, bytes);
    kernel_.unmap(range.value, bytes);
  }

  void calls_on(void* start, std::size_t bytes) {
    add("madvise (huge page)", need::optional, kernel_.madvise(start, bytes, MADV_HUGEPAGE),
        huge_page_cure);
    const auto node = kernel_.node_of_page(start); // brings the page into memory
    add("get_mempolicy (address)", need::required, node.errno_value, memory_call_cure);
    const std::size_t page = kernel_.base_page_bytes();
    add("madvise (populate)", need::optional, kernel_.madvise(start, page, MADV_POPULATE_WRITE),
        populate_cure);
    std::vector<unsigned char> resident(bytes / page);
    add("mincore", need::optional, kernel_.mincore(start, bytes, resident), memory_call_cure);
    const int where = query(start);
    const node_id target = node ? node.value : node_id{std::max(where, 0)};
    add("mbind", need::required, kernel_.mbind(start, bytes, sys::policy::bind, {target}, 0),
        memory_call_cure);
    move(start, target);
  }

  /// Returns the node of the page, or a negative number.
  int query(void* start) {
    const std::array<void*, 1> pages = {start};
    std::array<int, 1> status = {-ENOENT};
    add("move_pages (query)", need::required, kernel_.query_pages(pages, status), memory_call_cure);
    return status.front();
  }

  /// To the node where it is: permitted or not, nothing has to be copied.
  void move(void* start, node_id target) {
    const std::array<void*, 1> pages = {start};
    const std::array<int, 1> nodes = {to_int(target)};
    std::array<int, 1> status = {0};
    const int refused = kernel_.move_pages(pages, nodes, status);
    // A page that is not there, or is there already, says nothing about permission.
    const bool page_refused = refused == 0 && (status[0] == -EPERM || status[0] == -EACCES);
    add("move_pages (move)", need::required, page_refused ? -status[0] : refused, memory_call_cure);
  }

  const surroundings& around_;
  sys::kernel& kernel_;
  std::vector<finding> found_;
};

} // namespace

std::vector<finding> try_calls(const surroundings& around) {
  std::vector<finding> found;
  // Policy and affinity belong to a thread and end with it.
  std::thread([&] { found = prober(around).all(); }).join();
  return found;
}

} // namespace nodewise::doctor
