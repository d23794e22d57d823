// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/module.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <gelf.h>
#include <unistd.h>

#include "base/path.hpp"
#include "symbols/debug_lines.hpp"
#include "symbols/elf_file.hpp"

namespace nodewise::symbols {

namespace {

std::optional<std::uint64_t> lowest_address(Elf* elf) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::optional<std::uint64_t> lowest;
  for_each_segment(elf, PT_LOAD, [&](const GElf_Phdr& s) {
    const std::uint64_t start = s.p_vaddr - s.p_vaddr % page; // whole pages are mapped
    lowest = std::min(lowest.value_or(start), start);
  });
  return lowest;
}

Elf_Scn* section_of_type(Elf* elf, GElf_Word type, GElf_Shdr& header) {
  return find_section(elf, header, [&](const GElf_Shdr& each) { return each.sh_type == type; });
}

template <class F>
void for_each_symbol(Elf* elf, GElf_Word table, F&& f) {
  GElf_Shdr header;
  Elf_Scn* const section = section_of_type(elf, table, header);
  Elf_Data* const data = section == nullptr ? nullptr : ::elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) {
    return;
  }
  const std::size_t count = header.sh_size / header.sh_entsize;
  for (std::size_t i = 1; i < count; ++i) {
    GElf_Sym symbol;
    if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
      return;
    }
    const char* const name = ::elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr && *name != '\0') {
      f(symbol, name);
    }
  }
}

bool has_symbol_table(Elf* elf) {
  GElf_Shdr header;
  return elf != nullptr && section_of_type(elf, SHT_SYMTAB, header) != nullptr;
}

struct function_symbol {
  std::uint64_t last; ///< the same as the first: of unknown length
  std::string name;   ///< the linker's
};
using function_map = std::map<std::uint64_t, function_symbol>; ///< by first address

struct found_object {
  data_object object;
  bool is_public;

  /// Least for the best of several names: public, without underscores in front, short.
  [[nodiscard]] auto rank() const {
    const std::string& name = object.name;
    return std::tuple(!is_public, name.starts_with('_') && !name.starts_with("_Z"), name.size(),
                      std::string_view(name));
  }
};

/// The compiler numbers variables local to a function: "a.7". The number is dropped if there is
/// only one `a`.
void drop_local_numbers(std::vector<data_object>& objects) {
  std::map<std::string, int> uses;
  const auto plain = [](const std::string& name) {
    const std::size_t dot = name.rfind('.');
    const bool numbered = dot != name.npos && dot != 0 && dot + 1 < name.size() &&
                          name.find_first_not_of("0123456789", dot + 1) == name.npos;
    return numbered ? name.substr(0, dot) : name;
  };
  for (const data_object& o : objects) {
    ++uses[plain(o.name)];
  }
  for (data_object& o : objects) {
    if (uses[plain(o.name)] == 1) {
      o.name = plain(o.name);
    }
  }
}

std::vector<code_range> as_offsets(std::vector<code_range> ranges, std::uint64_t base) {
  for (code_range& r : ranges) {
    r.first -= base;
    r.last -= base;
  }
  return ranges;
}

} // namespace

struct module::contents {
  explicit contents(const std::string& file)
      : own(file), separate(debug_file_of(own.get())), code(own.get()),
        helping_(is_helping_library(last_part(file))) {}

  /// The file that has the full symbol table.
  [[nodiscard]] Elf* symbol_file() const {
    return !has_symbol_table(own.get()) && has_symbol_table(separate.get()) ? separate.get()
                                                                            : own.get();
  }
  [[nodiscard]] debug_lines& lines() {
    if (!lines_) {
      Dwarf* dwarf = own.dwarf();
      Dwarf_CU* unit = nullptr;
      if (dwarf == nullptr ||
          dwarf_get_units(dwarf, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) != 0) {
        // Unpacking glibc's takes longer than everything else, and its lines are never needed.
        dwarf = helping_ ? nullptr : separate.dwarf();
      }
      lines_.emplace(dwarf);
    }
    return *lines_;
  }
  [[nodiscard]] const function_map& functions() {
    if (functions_) {
      return *functions_;
    }
    function_map& all = functions_.emplace();
    const auto add = [&](const GElf_Sym& symbol, const char* name) {
      const int type = GELF_ST_TYPE(symbol.st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) {
        return;
      }
      const std::uint64_t last = symbol.st_value + symbol.st_size;
      const auto at = all.try_emplace(symbol.st_value, last, name).first;
      at->second.last = std::max(at->second.last, last);
    };
    for_each_symbol(symbol_file(), SHT_SYMTAB, add);
    for_each_symbol(own.get(), SHT_DYNSYM, add);
    return all;
  }

  elf_file own;
  elf_file separate;
  segment_addresses code;
  std::uint64_t base = 0;

 private:
  bool helping_;
  std::optional<debug_lines> lines_;
  std::optional<function_map> functions_;
};

std::optional<module> module::open(const std::string& file) {
  auto all = std::make_shared<contents>(file);
  const auto base = lowest_address(all->own.get());
  if (!is_mapped_program(all->own.get()) || !base) {
    return std::nullopt;
  }
  all->base = *base;
  return module(std::move(all));
}

std::uint64_t module::mapped_bytes() const {
  std::uint64_t end = all_->base;
  for_each_segment(all_->own.get(), PT_LOAD, [&](const GElf_Phdr& s) {
    end = std::max<std::uint64_t>(end, s.p_vaddr + s.p_memsz);
  });
  return end - all_->base;
}

bool module::stripped() const {
  return !has_symbol_table(all_->symbol_file());
}

std::vector<data_object> module::data_objects(std::uint64_t least_bytes) const {
  Elf* const own = all_->own.get();
  std::vector<code_range> read_only;
  for_each_segment(own, PT_GNU_RELRO, [&](const GElf_Phdr& s) {
    read_only.push_back({s.p_vaddr, s.p_vaddr + s.p_memsz});
  });
  std::map<std::uint64_t, found_object> by_address;
  const auto add = [&](const GElf_Sym& symbol, const char* name) {
    Elf_Scn* const section = ::elf_getscn(own, symbol.st_shndx);
    GElf_Shdr header;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if ((type != STT_OBJECT && type != STT_COMMON) || symbol.st_size == 0 ||
        symbol.st_shndx >= SHN_LORESERVE || section == nullptr ||
        ::gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_WRITE) == 0 ||
        (header.sh_flags & SHF_ALLOC) == 0 || contain(read_only, symbol.st_value)) {
      return;
    }
    found_object one{{name, symbol.st_value, symbol.st_size},
                     GELF_ST_BIND(symbol.st_info) != STB_LOCAL};
    const auto [at, is_new] = by_address.try_emplace(symbol.st_value, one);
    if (!is_new) {
      one.object.bytes = std::max(one.object.bytes, at->second.object.bytes);
      at->second.object.bytes = one.object.bytes;
      if (one.rank() < at->second.rank()) {
        at->second = std::move(one);
      }
    }
  };
  for_each_symbol(all_->symbol_file(), SHT_SYMTAB, add);
  for_each_symbol(own, SHT_DYNSYM, add);

  std::vector<data_object> objects;
  std::uint64_t end = 0;
  for (auto& [address, found] : by_address) {
    data_object& o = found.object;
    if (o.offset >= end) { // otherwise it is a part of the previous one
      end = o.offset + o.bytes;
      o.name = demangle(o.name.c_str());
      o.offset -= all_->base;
      objects.push_back(std::move(o));
    }
  }
  drop_local_numbers(objects);
  std::erase_if(objects, [&](const data_object& o) { return o.bytes < least_bytes; });
  return objects;
}

std::optional<source_place> module::locate(std::uint64_t offset) const {
  std::vector<source_place> all = inlined_places(offset);
  if (all.empty()) {
    return std::nullopt;
  }
  // From callee to caller, up to the first that is not a library's.
  const auto of_compiler = [](const source_place& p) { return is_library_header(p.file); };
  const auto own = std::ranges::find_if_not(
      all, [&](const source_place& p) { return of_compiler(p) || is_of_this_library(p.function); });
  if (own != all.end()) {
    return *own;
  }
  const auto ours = std::ranges::find_if_not(all, of_compiler);
  return ours != all.end() ? *ours : all.back();
}

std::vector<source_place> module::inlined_places(std::uint64_t offset) const {
  const std::uint64_t address = offset + all_->base;
  std::vector<source_place> all = all_->lines().places(address);
  if (!all.empty() && !all.front().function.empty()) {
    return all;
  }
  const function_map& functions = all_->functions();
  const auto after = functions.upper_bound(address);
  if (after != functions.begin()) {
    const auto& [first, found] = *std::prev(after);
    // Assembly code often has no length: it extends to the next function.
    if (address < found.last || found.last == first) {
      all.resize(1);
      all.front().function = demangle(found.name.c_str());
    }
  }
  return all;
}

std::optional<std::uint64_t> module::offset_at(std::uint64_t file_offset) const {
  const auto address = all_->code.at(file_offset);
  return address ? std::optional(*address - all_->base) : std::nullopt;
}

std::vector<code_range> module::ranges_of_line(std::string_view file_suffix, int line) const {
  return as_offsets(all_->lines().of_line(file_suffix, line), all_->base);
}

std::vector<code_range> module::ranges_of_function(std::string_view name) const {
  std::vector<code_range> ranges = all_->lines().of_function(name);
  for (const auto& [first, f] : all_->functions()) {
    if (first < f.last && (f.name == name || names_function(name, demangle(f.name.c_str())))) {
      ranges.push_back({first, f.last});
    }
  }
  return as_offsets(merged(std::move(ranges)), all_->base);
}

std::string build_id(const std::string& file) {
  return build_id_of(elf_file(file).get());
}

bool imports_any(const std::string& file, std::span<const std::string_view> symbols) {
  const elf_file opened(file);
  GElf_Shdr header;
  Elf_Scn* const section = opened.get() == nullptr
                               ? nullptr
                               : find_section(opened.get(), header, [](const GElf_Shdr& each) {
                                   return each.sh_type == SHT_DYNSYM;
                                 });
  Elf_Data* const data = section == nullptr ? nullptr : ::elf_getdata(section, nullptr);
  GElf_Sym symbol;
  for (int i = 0; data != nullptr && ::gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    const char* const name = ::elf_strptr(opened.get(), header.sh_link, symbol.st_name);
    if (symbol.st_shndx == SHN_UNDEF && name != nullptr &&
        std::ranges::any_of(symbols, [&](std::string_view each) {
          return std::string_view(name).starts_with(each);
        })) {
      return true;
    }
  }
  return false;
}

std::string interpreter(const std::string& file) {
  const elf_file opened(file);
  std::size_t bytes = 0;
  const char* const all = ::elf_rawfile(opened.get(), &bytes);
  std::string found;
  for_each_segment(opened.get(), PT_INTERP, [&](const GElf_Phdr& s) {
    if (found.empty() && all != nullptr && s.p_offset < bytes && s.p_filesz <= bytes - s.p_offset) {
      found.assign(all + s.p_offset, s.p_filesz);
    }
  });
  return found.substr(0, found.find('\0'));
}

} // namespace nodewise::symbols
