// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <sys/mman.h>

#include "doctor/examine.hpp"
#include "doctor/settings.hpp"

namespace nodewise::doctor {

namespace {

/// Whether Nodewise needs a call.
enum class need { required, optional };

/// The fix for each errno of each kind of call; it depends on whether a seccomp filter is active.
struct cures {
  /// For calls that the default filters of containers refuse whatever capabilities there are.
  static constexpr std::string_view no_capability = "";

  privileges who;

  [[nodiscard]] std::string memory_call(int errno_value) const {
    switch (errno_value) {
    case EPERM:
    case EACCES:
      return refused("SYS_NICE");
    case ENOSYS:
      return "the kernel lacks NUMA support (CONFIG_NUMA), or a sandbox such as gVisor replaces "
             "it: run outside the sandbox";
    case EINVAL:
      return "the node is outside this process's cpuset (Mems_allowed_list below): request it from "
             "the batch system, or add it to the container's --cpuset-mems";
    default:
      return "`strace -f -e trace=%memory,%process` shows the call; the kernel's log may show more";
    }
  }
  [[nodiscard]] std::string moving_call(int errno_value) const {
    return errno_value == EPERM || errno_value == EACCES ? refused(no_capability)
                                                         : memory_call(errno_value);
  }
  [[nodiscard]] std::string affinity(int errno_value) const {
    return errno_value == EINVAL ? "no processor of the set is in this process's cpuset"
                                 : refused("SYS_NICE");
  }
  [[nodiscard]] std::string huge_page(int errno_value) const {
    return errno_value == EINVAL
               ? "the kernel has no transparent huge pages: mappings use base pages"
               : refused("SYS_ADMIN");
  }
  [[nodiscard]] std::string populate(int errno_value) const {
    return errno_value == EINVAL ? "needs Linux 5.14; before that, pages are touched one by one"
                                 : "pages are touched one by one instead";
  }
  [[nodiscard]] std::string counter(int errno_value) const {
    constexpr long long highest_of_linux = 2;
    switch (errno_value) {
    case EPERM:
    case EACCES:
      if (!who.perf_event_paranoid) {
        return "sysctl kernel.perf_event_paranoid=2 as root; in a container also --cap-add PERFMON";
      }
      if (*who.perf_event_paranoid <= highest_of_linux) {
        return refused("PERFMON");
      }
      return "sysctl kernel.perf_event_paranoid=2 as root" +
             (who.seccomp == 0 ? "" : "; " + refused("PERFMON"));
    case ENOSYS:
      return "the kernel lacks CONFIG_PERF_EVENTS, or a sandbox replaces it";
    case EMFILE:
      return "raise the limit of open files: ulimit -n";
    default:
      return "profiles will lack page faults";
    }
  }
  [[nodiscard]] std::string userfault(int errno_value) const {
    switch (errno_value) {
    case EPERM:
      return "optional; " + refused(no_capability);
    case EINVAL:
      return "optional; needs Linux 5.11";
    case ENOSYS:
      return "optional; the kernel lacks CONFIG_USERFAULTFD, or a sandbox replaces it";
    default:
      return "optional";
    }
  }

  /// Linux itself permits all of these calls to ordinary processes: a filter or module refuses.
  [[nodiscard]] std::string refused(std::string_view capability) const {
    if (who.seccomp == 0) {
      return "no seccomp filter is active: a security module (SELinux, AppArmor) refuses the call; "
             "its log (`dmesg`, `ausearch -m avc`) shows the rule";
    }
    const char* const by = who.seccomp ? "a seccomp filter is active (see seccomp below)"
                                       : "a container's seccomp filter may refuse the call";
    if (capability == no_capability) {
      return fmt::format("{}: no capability permits this call with the filters of Docker, Podman "
                         "and containerd: start the container with --security-opt seccomp=FILE, a "
                         "filter that permits it (share/doc/nodewise/install.md), or with "
                         "seccomp=unconfined (securityContext.seccompProfile in Kubernetes)",
                         by);
    }
    return fmt::format("{}: start the container with --cap-add {} (Docker, Podman; "
                       "securityContext.capabilities.add in Kubernetes), or with "
                       "--security-opt seccomp=unconfined",
                       by, capability);
  }
};

class prober {
 public:
  explicit prober(const surroundings& around)
      : around_(around), kernel_(*around.kernel), cures_{read_privileges(*around.kernel)} {}

  std::vector<finding> all() {
    thread_calls();
    memory_calls();
    add("perf_event_open", around_.open_fault_counter(), &cures::counter, need::optional);
    add("userfaultfd", around_.open_userfaultfd(), &cures::userfault, need::optional);
    return std::move(found_);
  }

 private:
  using cure_for = std::string (cures::*)(int) const;

  void add(std::string name, int errno_value, cure_for cure, need how = need::required) {
    found_.push_back(errno_value == 0
                         ? fine(std::move(name), "permitted")
                         : finding{std::move(name),
                                   how == need::required ? verdict::bad : verdict::warning,
                                   "refused: " + errno_text(errno_value),
                                   (cures_.*cure)(errno_value), errno_value});
  }

  /// Records a call that could not be tried because an earlier one failed.
  void add_untried(std::string name, const std::string& why) {
    found_.push_back({std::move(name), verdict::unavailable, "not tried: " + why, "", 0});
  }

  void thread_calls() {
    const auto cpus = kernel_.get_affinity(0);
    add("sched_getaffinity", cpus.errno_value, &cures::affinity);
    if (cpus) {
      add("sched_setaffinity", kernel_.set_affinity(0, cpus.value), &cures::affinity);
    } else {
      add_untried("sched_setaffinity", "the allowed processors are unknown");
    }
    add("getcpu", kernel_.current_cpu().errno_value, &cures::affinity, need::optional);
    add("get_mempolicy", kernel_.get_mempolicy().errno_value, &cures::memory_call);
    add("set_mempolicy", kernel_.set_mempolicy(sys::policy::local, {}), &cures::memory_call);
  }

  void memory_calls() {
    const std::size_t bytes = 2 * std::max(kernel_.base_page_bytes(), kernel_.thp_bytes());
    const auto range = kernel_.map(bytes, sys::access::read_write, 0);
    if (!range) {
      for (const char* const name :
           {"mbind", "move_pages (query)", "move_pages (move)", "get_mempolicy (address)",
            "mincore", "madvise (huge page)", "madvise (populate)"}) {
        add_untried(name, "mmap failed: " + errno_text(range.errno_value));
      }
      return;
    }
    calls_on(range.value, bytes);
    kernel_.unmap(range.value, bytes);
  }

  void calls_on(void* start, std::size_t bytes) {
    add("madvise (huge page)", kernel_.madvise(start, bytes, MADV_HUGEPAGE), &cures::huge_page,
        need::optional);
    const std::size_t page = kernel_.base_page_bytes();
    add("madvise (populate)", kernel_.madvise(start, page, MADV_POPULATE_WRITE), &cures::populate,
        need::optional);
    const auto node = kernel_.node_of_page(start);
    add("get_mempolicy (address)", node.errno_value, &cures::memory_call);
    std::vector<unsigned char> resident(bytes / page);
    add("mincore", kernel_.mincore(start, bytes, resident), &cures::memory_call, need::optional);
    const int where = query(start);
    const node_id target = allowed(node ? node.value : node_id{std::max(where, 0)});
    add("mbind", kernel_.mbind(start, bytes, sys::policy::bind, {target}, 0), &cures::memory_call);
    move(start, target);
  }

  /// The node, or another if its memory is not allowed: a request for it would be refused for that
  /// reason alone. The shared zero page, which backs pages not yet written, may be on such a node.
  [[nodiscard]] node_id allowed(node_id node) {
    const node_set usable = read_allowance(kernel_).usable_nodes().value_or(node_set{});
    return usable.empty() || usable.contains(node) ? node : usable.first();
  }

  /// Returns the node of the page, or a negative number.
  int query(void* start) {
    const std::array<void*, 1> pages = {start};
    std::array<int, 1> status = {-ENOENT};
    add("move_pages (query)", kernel_.query_pages(pages, status), &cures::moving_call);
    return status.front();
  }

  /// Migrates the page to the node where it already is: tests permission without a copy.
  void move(void* start, node_id target) {
    const std::array<void*, 1> pages = {start};
    const std::array<int, 1> nodes = {to_int(target)};
    std::array<int, 1> status = {0};
    const int refused = kernel_.move_pages(pages, nodes, status);
    // A page that is missing, or already on the node, does not show permission.
    const bool page_refused = refused == 0 && (status[0] == -EPERM || status[0] == -EACCES);
    add("move_pages (move)", page_refused ? -status[0] : refused, &cures::moving_call);
  }

  const surroundings& around_;
  sys::kernel& kernel_;
  cures cures_;
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
