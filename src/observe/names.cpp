// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/names.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <unistd.h>

#include <fmt/core.h>

#include "symbols/names.hpp"

namespace nodewise::observe {

namespace {

bool is_named(const mapping& m, std::string_view name) {
  return m.path.starts_with('[') && std::string_view(m.path).substr(1).starts_with(name);
}

bool is_shared_memory(const mapping& m) {
  if (!m.shared && !m.path.starts_with("/memfd:")) {
    return false;
  }
  constexpr std::array folders = {std::string_view("/dev/shm/"), std::string_view("/SYSV"),
                                  std::string_view("/memfd:"), std::string_view("/dev/zero"),
                                  std::string_view("[anon_shmem")};
  return m.path.empty() ||
         std::ranges::any_of(folders, [&](std::string_view f) { return m.path.starts_with(f); });
}

} // namespace

std::optional<symbols::module> module_cache::get(const loaded_module& which, int pid) {
  if (which.deleted) {
    return std::nullopt; // another file may have the name by now
  }
  const auto [found, is_new] = opened_.try_emplace(which.path);
  if (is_new) {
    // The process may have a different root directory.
    found->second = symbols::module::open(fmt::format("/proc/{}/root{}", pid, which.path));
    if (!found->second) {
      found->second = symbols::module::open(which.path);
    }
  }
  return found->second;
}

name_finder::name_finder(std::span<const mapping> mappings, int pid, module_cache& cache)
    : mappings_(mappings), pid_(pid), cache_(cache) {
  std::set<identity> with_code;
  for (const mapping& m : mappings_) {
    if (m.executable && m.inode != 0) {
      with_code.insert({m.device, m.inode});
    }
  }
  for (const mapping& m : mappings_) {
    if (with_code.contains({m.device, m.inode})) {
      const auto [at, is_new] = modules_.try_emplace(
          {m.device, m.inode}, loaded_module{m.path, m.where.first, m.deleted});
      at->second.start = std::min(at->second.start, m.where.first);
    }
  }
  // Policies may have split the .bss into many mappings: each continues the previous one.
  before_.resize(mappings_.size());
  for (std::size_t i = 1; i < mappings_.size(); ++i) {
    const mapping& m = mappings_[i];
    if (m.path.empty() && !m.shared && m.writable && mappings_[i - 1].where.last == m.where.first) {
      const loaded_module* const owner = module_of(mappings_[i - 1]);
      before_[i] = owner != nullptr ? owner : before_[i - 1];
    }
  }
}

const loaded_module* name_finder::module_of(const mapping& m) const {
  const auto found = m.inode == 0 ? modules_.end() : modules_.find({m.device, m.inode});
  return found == modules_.end() ? nullptr : &found->second;
}

const mapping* name_finder::at(std::uint64_t address) const {
  const auto found = std::ranges::partition_point(
      mappings_, [&](const mapping& m) { return m.where.last <= address; });
  return found == mappings_.end() || address < found->where.first ? nullptr : &*found;
}

area_kind name_finder::kind_of(std::size_t i, bool huge) const {
  const mapping& m = mappings_[i];
  if (huge) {
    return area_kind::huge_pages;
  }
  if (is_named(m, "heap]")) {
    return area_kind::heap;
  }
  if (is_named(m, "stack")) {
    return area_kind::stack;
  }
  if (is_shared_memory(m)) {
    return area_kind::shared_memory;
  }
  if (m.path.empty() || is_named(m, "anon")) {
    return before_[i] != nullptr ? area_kind::static_data : area_kind::anonymous;
  }
  if (m.path.starts_with('[')) {
    return area_kind::system;
  }
  if (module_of(m) != nullptr) {
    return m.writable ? area_kind::static_data : area_kind::code;
  }
  return area_kind::file;
}

std::string name_finder::name_of(std::size_t i) const {
  return before_[i] != nullptr ? before_[i]->path : mappings_[i].path;
}

std::vector<named_range> name_finder::static_arrays(std::uint64_t least_bytes) {
  std::vector<named_range> all;
  // Each module's writable memory; few have enough for an array.
  struct writable_memory {
    std::uint64_t bytes = 0;
    std::vector<sys::address_range> anonymous;
  };
  std::map<const loaded_module*, writable_memory> writable;
  for (std::size_t i = 0; i < mappings_.size(); ++i) {
    const mapping& m = mappings_[i];
    const bool own = m.writable && !m.shared;
    if (const loaded_module* const owner = own ? module_of(m) : nullptr; owner != nullptr) {
      writable[owner].bytes += m.where.last - m.where.first;
    } else if (before_[i] != nullptr) {
      writable[before_[i]].bytes += m.where.last - m.where.first;
      writable[before_[i]].anonymous.push_back(m.where);
    }
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const auto& [owner, memory] : writable) {
    const auto file = memory.bytes < least_bytes ? std::nullopt : cache_.get(*owner, pid_);
    if (!file) {
      continue;
    }
    for (const symbols::data_object& o : file->data_objects(least_bytes)) {
      const sys::address_range range{owner->start + o.offset, owner->start + o.offset + o.bytes};
      const mapping* const inside = at(range.first);
      if (inside != nullptr && inside->writable) {
        all.push_back({range, area_kind::static_data, o.name});
      }
    }
    // Anonymous memory that follows the .bss by chance looks like a part of it.
    const std::uint64_t end = (owner->start + file->mapped_bytes() + page - 1) / page * page;
    for (const sys::address_range& m : memory.anonymous) {
      if (end < m.last) {
        all.push_back({{std::max(end, m.first), m.last}, area_kind::anonymous, ""});
      }
    }
  }
  return all;
}

std::vector<named_range> name_finder::stacks(const std::vector<thread_facts>& threads,
                                             std::uint64_t most_bytes) const {
  std::vector<named_range> all;
  for (const thread_facts& t : threads) {
    const mapping* const m = t.stack_pointer ? at(*t.stack_pointer) : nullptr;
    if (!t.stack_pointer || m == nullptr || !m->path.empty() || !m->writable || m->shared) {
      continue;
    }
    // The kernel may have merged a stack with anonymous memory above it; below is its guard.
    const sys::address_range stack{m->where.first,
                                   std::min(m->where.last, m->where.first + most_bytes)};
    if (*t.stack_pointer < stack.last) {
      all.push_back({stack, area_kind::stack, fmt::format("thread {}", t.tid)});
    }
  }
  return all;
}

std::optional<std::uint64_t> name_finder::agent_view() {
  for (const auto& [id, loaded] : modules_) {
    const bool is_agent = last_part(loaded.path).starts_with("libnodewise-agent.so");
    const auto file = is_agent ? cache_.get(loaded, pid_) : std::nullopt;
    if (!file) {
      continue;
    }
    for (const symbols::data_object& o : file->data_objects(1)) {
      if (o.name == "nodewise_agent_view") {
        return loaded.start + o.offset;
      }
    }
  }
  return std::nullopt;
}

std::string name_finder::code_name(std::uint64_t return_address) {
  const mapping* const where = return_address == 0 ? nullptr : at(return_address - 1);
  const loaded_module* const loaded = where == nullptr ? nullptr : module_of(*where);
  if (loaded == nullptr) {
    return "";
  }
  const std::uint64_t offset = return_address - 1 - loaded->start;
  const auto file = cache_.get(*loaded, pid_);
  const auto place = file ? file->locate(offset) : std::nullopt;
  std::string name = place ? symbols::short_name(*place) : std::string{};
  return name.empty() ? symbols::module_and_offset(loaded->path, offset) : name;
}

} // namespace nodewise::observe
