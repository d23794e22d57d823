// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/names.hpp"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace nodewise::symbols {

namespace {

/// A name in a Fortran module: `begin`, the module, a marker at `at`, the name. Empty for others.
std::string fortran_name(std::string_view name, std::string_view begin, std::size_t at,
                         std::size_t marker_length) {
  if (!name.starts_with(begin) || at == name.npos || at == begin.size() ||
      at + marker_length == name.size()) {
    return {};
  }
  return fmt::format("{}::{}", name.substr(begin.size(), at - begin.size()),
                     name.substr(at + marker_length));
}

/// The text before the parentheses that open the parameters, if there are any.
std::size_t end_of_name(std::string_view text) noexcept {
  if (!text.ends_with(')') && !text.ends_with(" const") && !text.ends_with(']') &&
      !text.ends_with('&')) {
    return text.size();
  }
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '{') {
      ++depth;
    } else if ((c == '>' || c == '}') && depth > 0) {
      --depth;
    } else if (c == '(' && depth == 0) {
      if (text.substr(i).starts_with("(anonymous namespace)")) {
        i += std::string_view("(anonymous namespace)").size() - 1;
      } else if (i >= 8 && text.substr(i - 8, 8) == "operator") {
        ++i; // operator()
      } else {
        return i;
      }
    }
  }
  return text.size();
}

/// "std::vector<T> a::make<T>(int)" is a::make: a template's demangled name begins with its return
/// type.
std::string_view qualified_name(std::string_view function) noexcept {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    const char c = function[i];
    const bool unnamed = c == '(' && function.substr(i).starts_with("(anonymous namespace)");
    if (c == '(' && depth == 0 && !unnamed) {
      return function.substr(begin, i - begin);
    }
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    begin = c == ' ' && depth == 0 ? i + 1 : begin;
  }
  return function.substr(begin);
}

} // namespace

std::string demangle(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  // A C name such as "a" is a mangled type to the demangler.
  if (status == 0 && text != nullptr && std::string_view(name).starts_with("_Z")) {
    return text.get();
  }
  // `__m_MOD_a`, as GCC names what is in a module.
  const std::string_view linked(name);
  std::string fortran = fortran_name(linked, "__", linked.find("_MOD_"), 5);
  if (fortran.empty()) {
    // `_QMmEa` (variable) and `_QMmPs` (procedure), as Flang does. Names there have no capitals.
    fortran = fortran_name(linked, "_QM", linked.find_first_of("EP", 3), 1);
  }
  return fortran.empty() ? name : fortran;
}

std::string_view without_parameters(std::string_view demangled) noexcept {
  const std::string_view name = demangled.substr(0, end_of_name(demangled));
  // "void ns::f<int>": the return type of a template ends at the last blank outside of brackets.
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    const char c = name[i];
    depth += c == '>' || c == ')' || c == '}' ? 1 : c == '<' || c == '(' || c == '{' ? -1 : 0;
    if (c == ' ' && depth == 0 && name.find("operator") == name.npos) {
      return name.substr(i + 1);
    }
  }
  return name;
}

bool is_of_this_library(std::string_view demangled) noexcept {
  return qualified_name(demangled).starts_with("nodewise::v0::");
}

std::string_view without_clone_suffix(std::string_view name) noexcept {
  name = name.substr(0, name.find(" [clone"));
  return name.substr(0, name.find('.', 1));
}

bool names_function(std::string_view asked, std::string_view demangled) noexcept {
  if (asked.empty() || asked == demangled) {
    return !asked.empty();
  }
  const std::string_view plain = without_parameters(without_clone_suffix(demangled));
  const auto ends_in = [&](std::string_view what) {
    return what == asked ||
           (what.ends_with(asked) && what.substr(0, what.size() - asked.size()).ends_with("::"));
  };
  // "f" means every instance of the template f, too. Fortran's procedures outside modules carry an
  // underscore at the end.
  return ends_in(plain) || (plain.ends_with('>') && ends_in(plain.substr(0, plain.find('<')))) ||
         (plain.ends_with('_') && ends_in(plain.substr(0, plain.size() - 1))) ||
         (asked.ends_with('_') && asked.substr(0, asked.size() - 1) == plain);
}

bool path_ends_in(std::string_view path, std::string_view suffix) noexcept {
  return !suffix.empty() && path.ends_with(suffix) &&
         (path.size() == suffix.size() || suffix.front() == '/' ||
          path[path.size() - suffix.size() - 1] == '/');
}

std::string short_name(const source_place& of) {
  return of.file.empty() || of.line == 0 ? of.function
                                         : fmt::format("{}:{}", last_part(of.file), of.line);
}

} // namespace nodewise::symbols
