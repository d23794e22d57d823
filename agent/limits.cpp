// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A program that limits its own address space: what the agent has reserved of it counts, too.
#include <sys/resource.h>
#include <unistd.h>

#include "agent/groups.hpp"
#include "agent/interposed.hpp"

using namespace nodewise::agent;

namespace {

template <class Resource, class Limit>
void make_room_for(Resource resource, const Limit* limit) noexcept {
  if (static_cast<int>(resource) == RLIMIT_AS && limit != nullptr &&
      limit->rlim_cur != RLIM_INFINITY) {
    shrink_arenas();
  }
}

} // namespace

NODEWISE_INTERPOSED int setrlimit(__rlimit_resource_t resource,
                                  const struct rlimit* limit) noexcept {
  static constinit next_function<int(__rlimit_resource_t, const struct rlimit*)> next_one{
      "setrlimit"};
  make_room_for(resource, limit);
  return next_one.get()(resource, limit);
}

NODEWISE_INTERPOSED int setrlimit64(__rlimit_resource_t resource,
                                    const struct rlimit64* limit) noexcept {
  static constinit next_function<int(__rlimit_resource_t, const struct rlimit64*)> next_one{
      "setrlimit64"};
  make_room_for(resource, limit);
  return next_one.get()(resource, limit);
}

NODEWISE_INTERPOSED int prlimit(pid_t pid, __rlimit_resource resource, const struct rlimit* limit,
                                struct rlimit* before) noexcept {
  static constinit next_function<int(pid_t, __rlimit_resource, const struct rlimit*,
                                     struct rlimit*)>
      next_one{"prlimit"};
  if (pid == 0 || pid == ::getpid()) {
    make_room_for(resource, limit);
  }
  return next_one.get()(pid, resource, limit, before);
}

NODEWISE_INTERPOSED int prlimit64(pid_t pid, __rlimit_resource resource,
                                  const struct rlimit64* limit, struct rlimit64* before) noexcept {
  static constinit next_function<int(pid_t, __rlimit_resource, const struct rlimit64*,
                                     struct rlimit64*)>
      next_one{"prlimit64"};
  if (pid == 0 || pid == ::getpid()) {
    make_room_for(resource, limit);
  }
  return next_one.get()(pid, resource, limit, before);
}
