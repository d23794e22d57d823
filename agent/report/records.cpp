// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/report/records.hpp"

#include <cstring>

#include "agent/asked.hpp"
#include "agent/modules.hpp"

namespace nodewise::agent {

bool is_tracing() noexcept {
  return asked.trace && asked.report != nullptr && reporting.pid != 0 && !reporting.finished;
}

void tell(nodewise_agent_kind kind, nodewise_agent_header& record, std::size_t bytes) noexcept {
  reporting.lost += reporting.file.append(kind, reporting.pid, record, bytes) ? 0 : 1;
}

void copy_name(char (&into)[NODEWISE_AGENT_NAME_BYTES], const char* name) noexcept {
  const std::size_t length = ::strnlen(name, sizeof into - 1);
  std::memcpy(into, name, length);
  std::memset(into + length, 0, sizeof into - length);
}

void name_code(const void* address, char (&module)[NODEWISE_AGENT_NAME_BYTES],
               std::uint64_t& offset) noexcept {
  const module_of found(address);
  if (address != nullptr && found.start != nullptr) {
    offset = static_cast<std::uint64_t>(static_cast<const char*>(address) - found.start);
    copy_name(module, found.name);
  }
}

} // namespace nodewise::agent
