// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/debug_lines.hpp"

#include <algorithm>
#include <array>

#include <dwarf.h>

namespace nodewise::symbols {

namespace {

std::vector<code_range> ranges_of(Dwarf_Die* die) {
  std::vector<code_range> ranges;
  Dwarf_Addr base = 0;
  Dwarf_Addr first = 0;
  Dwarf_Addr last = 0;
  ptrdiff_t at = 0;
  while ((at = dwarf_ranges(die, at, &base, &first, &last)) > 0) {
    // Code that the linker left out keeps its entry, at address 0.
    if (first != 0 && first < last) {
      ranges.push_back({first, last});
    }
  }
  return ranges;
}

const char* linkage_name(Dwarf_Die* die) {
  Dwarf_Attribute found;
  for (const unsigned which : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (dwarf_attr_integrate(die, which, &found) != nullptr) {
      return dwarf_formstring(&found);
    }
  }
  return nullptr;
}

int number_of(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  return dwarf_attr(die, attribute, &found) != nullptr && dwarf_formudata(&found, &value) == 0
             ? static_cast<int>(value)
             : 0;
}

bool is_fortran(Dwarf_Die* unit) {
  constexpr std::array<int, 5> all = {DW_LANG_Fortran77, DW_LANG_Fortran90, DW_LANG_Fortran95,
                                      DW_LANG_Fortran03, DW_LANG_Fortran08};
  return std::ranges::find(all, dwarf_srclang(unit)) != all.end();
}

std::string text_or_empty(const char* text) {
  return text != nullptr ? text : "";
}

std::string function_name(Dwarf_Die* die, Dwarf_Die* unit, const std::string& plain) {
  const char* const linked = linkage_name(die);
  if (linked == nullptr) {
    return plain;
  }
  const std::string name = demangle(linked);
  // A Fortran procedure outside modules: the compiler adds the underscore.
  return is_fortran(unit) && name == plain + "_" ? plain : name;
}

/// Whether it may contain functions or their inlined copies.
bool has_children_of_interest(int tag) {
  constexpr std::array<int, 7> all = {DW_TAG_namespace,    DW_TAG_module,
                                      DW_TAG_class_type,   DW_TAG_structure_type,
                                      DW_TAG_subprogram,   DW_TAG_inlined_subroutine,
                                      DW_TAG_lexical_block};
  return std::ranges::find(all, tag) != all.end();
}

} // namespace

bool contain(const std::vector<code_range>& ranges, Dwarf_Addr address) {
  return std::ranges::any_of(
      ranges, [&](const code_range& r) { return r.first <= address && address < r.last; });
}

std::vector<code_range> merged(std::vector<code_range> ranges) {
  std::ranges::sort(ranges, {}, &code_range::first);
  std::vector<code_range> all;
  for (const code_range& r : ranges) {
    if (!all.empty() && r.first <= all.back().last) {
      all.back().last = std::max(all.back().last, r.last);
    } else {
      all.push_back(r);
    }
  }
  return all;
}

std::vector<debug_lines::unit>& debug_lines::units() {
  if (read_ || dwarf_ == nullptr) {
    return units_;
  }
  read_ = true;
  Dwarf_CU* at = nullptr;
  Dwarf_Die die;
  Dwarf_Die split;
  std::uint8_t type = 0;
  while (dwarf_get_units(dwarf_, at, &at, nullptr, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) {
      continue;
    }
    for (const code_range& r : ranges_of(&die)) {
      code_.push_back({r, units_.size()});
    }
    units_.push_back({die, split.addr != nullptr ? split : die, false, {}});
  }
  std::ranges::sort(code_, {}, [](const unit_code& c) { return c.where.first; });
  return units_;
}

debug_lines::unit* debug_lines::unit_of(Dwarf_Addr address) {
  std::vector<unit>& all = units();
  const auto after = std::ranges::upper_bound(code_, address, {},
                                              [](const unit_code& c) { return c.where.first; });
  if (after == code_.begin() || address >= std::prev(after)->where.last) {
    return nullptr;
  }
  return &all[std::prev(after)->unit];
}

void debug_lines::collect(unit& into, Dwarf_Die* die, std::size_t parent, int depth) {
  Dwarf_Die child;
  if (dwarf_child(die, &child) != 0) {
    return;
  }
  Dwarf_Files* files = nullptr;
  (void)dwarf_getsrcfiles(&into.skeleton, &files, nullptr);
  do {
    const int tag = dwarf_tag(&child);
    if (!has_children_of_interest(tag)) {
      continue;
    }
    std::size_t inside = parent;
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
      instance one;
      one.code = ranges_of(&child);
      if (one.code.empty() && tag == DW_TAG_inlined_subroutine) {
        continue;
      }
      one.plain = text_or_empty(dwarf_diename(&child));
      one.function = function_name(&child, &into.die, one.plain);
      one.depth = depth + 1;
      if (tag == DW_TAG_inlined_subroutine) {
        one.parent = parent;
        const auto file = static_cast<std::size_t>(number_of(&child, DW_AT_call_file));
        one.call_file = text_or_empty(dwarf_filesrc(files, file, nullptr, nullptr));
        one.call_line = number_of(&child, DW_AT_call_line);
      }
      inside = into.instances.size();
      into.instances.push_back(std::move(one));
    }
    collect(into, &child, inside, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

void debug_lines::index(unit& of) {
  if (!of.indexed) {
    of.indexed = true;
    collect(of, &of.die, none, 0);
  }
}

std::size_t debug_lines::innermost(const unit& in, Dwarf_Addr address) {
  std::size_t found = none;
  for (std::size_t i = 0; i < in.instances.size(); ++i) {
    if ((found == none || in.instances[i].depth > in.instances[found].depth) &&
        contain(in.instances[i].code, address)) {
      found = i;
    }
  }
  return found;
}

std::vector<source_place> debug_lines::places(Dwarf_Addr address) {
  unit* const in = unit_of(address);
  if (in == nullptr) {
    return {};
  }
  index(*in);
  source_place place;
  if (Dwarf_Line* const row = dwarf_getsrc_die(&in->skeleton, address); row != nullptr) {
    place.file = text_or_empty(dwarf_linesrc(row, nullptr, nullptr));
    (void)dwarf_lineno(row, &place.line);
  }
  std::vector<source_place> all;
  // Outwards, from callee to caller.
  for (std::size_t at = innermost(*in, address); at != none; at = in->instances[at].parent) {
    const instance& here = in->instances[at];
    place.function = here.function;
    all.push_back(std::move(place));
    place = {{}, here.call_file, here.call_line};
  }
  if (all.empty() && !place.file.empty()) {
    all.push_back(std::move(place));
  }
  return all;
}

template <class Is>
void debug_lines::add_code(unit& of, std::vector<code_range>& into, const Is& is) {
  index(of);
  for (const instance& each : of.instances) {
    if (is(each)) {
      into.insert(into.end(), each.code.begin(), each.code.end());
    }
  }
}

std::vector<code_range> debug_lines::of_line(std::string_view file_suffix, int line) {
  std::vector<code_range> ranges;
  for (unit& u : units()) {
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(&u.skeleton, &lines, &count) != 0) {
      continue;
    }
    for (std::size_t i = 0; i + 1 < count; ++i) {
      Dwarf_Line* const row = dwarf_onesrcline(lines, i);
      int number = 0;
      bool ends = false;
      Dwarf_Addr first = 0;
      Dwarf_Addr last = 0;
      if (dwarf_lineno(row, &number) == 0 && number == line &&
          dwarf_lineendsequence(row, &ends) == 0 && !ends && dwarf_lineaddr(row, &first) == 0 &&
          dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &last) == 0 && first != 0 &&
          first < last &&
          path_ends_in(text_or_empty(dwarf_linesrc(row, nullptr, nullptr)), file_suffix)) {
        ranges.push_back({first, last});
      }
    }
    // Inlined code has the lines of the function that it was copied from.
    add_code(u, ranges, [&](const instance& i) {
      return i.call_line == line && path_ends_in(i.call_file, file_suffix);
    });
  }
  return merged(std::move(ranges));
}

std::vector<code_range> debug_lines::of_function(std::string_view name) {
  std::vector<code_range> ranges;
  for (unit& u : units()) {
    add_code(u, ranges, [&](const instance& i) {
      return names_function(name, i.function) || names_function(name, i.plain);
    });
  }
  return merged(std::move(ranges));
}

} // namespace nodewise::symbols
