// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A program may limit its own address space. The agent's reserved address space counts as well, so
// the agent gives it back.
#include <sys/resource.h>
#include <unistd.h>

#include "agent/alloc/groups.hpp"
#include "agent/alloc/kept.hpp"
#include "agent/alloc/large.hpp"

using namespace nodewise::agent;

namespace {

constinit next_function<int(__rlimit_resource_t, const struct rlimit*)> next_setrlimit{"setrlimit"};
constinit next_function<int(__rlimit_resource_t, const struct rlimit64*)> next_setrlimit64{
    "setrlimit64"};
constinit next_function<int(pid_t, __rlimit_resource, const struct rlimit*, struct rlimit*)>
    next_prlimit{"prlimit"};
constinit next_function<int(pid_t, __rlimit_resource, const struct rlimit64*, struct rlimit64*)>
    next_prlimit64{"prlimit64"};

template <class Limit>
void make_room_for(pid_t pid, int resource, const Limit* limit) noexcept {
  if (resource == RLIMIT_AS && limit != nullptr && limit->rlim_cur != RLIM_INFINITY &&
      (pid == 0 || pid == ::getpid())) {
    if (limit->rlim_cur < arenas_bytes) { // else the limit was computed from the present usage
      shrink_arenas();
    }
    (void)kept_memory.give_back_all(kept_blocks::shortage::memory);
  }
}

} // namespace

void nodewise::agent::find_next_limits() noexcept {
  look_up(next_setrlimit, next_setrlimit64, next_prlimit, next_prlimit64);
}

NODEWISE_INTERPOSED int setrlimit(__rlimit_resource_t resource,
                                  const struct rlimit* limit) noexcept {
  make_room_for(0, static_cast<int>(resource), limit);
  return next_setrlimit.get()(resource, limit);
}

NODEWISE_INTERPOSED int setrlimit64(__rlimit_resource_t resource,
                                    const struct rlimit64* limit) noexcept {
  make_room_for(0, static_cast<int>(resource), limit);
  return next_setrlimit64.get()(resource, limit);
}

NODEWISE_INTERPOSED int prlimit(pid_t pid, __rlimit_resource resource, const struct rlimit* limit,
                                struct rlimit* before) noexcept {
  make_room_for(pid, resource, limit);
  return next_prlimit.get()(pid, resource, limit, before);
}

NODEWISE_INTERPOSED int prlimit64(pid_t pid, __rlimit_resource resource,
                                  const struct rlimit64* limit, struct rlimit64* before) noexcept {
  make_room_for(pid, resource, limit);
  return next_prlimit64.get()(pid, resource, limit, before);
}
