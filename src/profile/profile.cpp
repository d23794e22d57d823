// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "profile/profile.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "base/last_part.hpp"
#include "base/library_header.hpp"
#include "symbols/names.hpp"

namespace nodewise::profile {

std::string label_of(const frame& where) {
  if (!where.file.empty()) {
    const std::string name(last_part(where.file));
    return where.line > 0 ? fmt::format("{}:{}", name, where.line) : name;
  }
  if (!where.function.empty()) {
    return where.function;
  }
  return where.module.empty() ? "?" : symbols::module_and_offset(where.module, where.offset);
}

namespace {

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

/// Also true if this project's library is linked into the program.
bool is_helping(const frame& code) noexcept {
  return qualified_name(code.function).starts_with("nodewise::v0::") ||
         is_helping_library(code.module);
}

} // namespace

const frame* own_frame(std::span<const frame> where) noexcept {
  const frame* inlined = nullptr; // code of a library's header, inlined into the program
  for (const frame& each : where) {
    if (is_helping(each)) {
      continue;
    }
    if (!is_library_header(each.file)) {
      return &each;
    }
    inlined = inlined == nullptr ? &each : inlined;
  }
  return inlined;
}

std::vector<const frame*> returns_of(std::span<const frame> where) {
  std::vector<const frame*> all;
  for (const frame& each : where) {
    const bool ours = each.module.starts_with("libnodewise-agent");
    if (!each.inlined && !ours && !each.module.empty()) {
      all.push_back(&each);
    }
  }
  return all;
}

void keep_most_used(std::vector<using_code>& all, std::size_t most) {
  std::map<std::string, using_code> by_label;
  for (const using_code& each : all) {
    const auto [found, is_new] = by_label.try_emplace(label_of(each.where), each);
    found->second.amount += is_new ? 0 : each.amount;
  }
  std::vector<std::pair<double, const std::string*>> order;
  for (const auto& [label, each] : by_label) {
    order.emplace_back(each.amount, &label);
  }
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return std::pair(b.first, *a.second) < std::pair(a.first, *b.second);
  });
  order.resize(std::min(order.size(), most));
  all.clear();
  for (const auto& [amount, label] : order) {
    all.push_back(std::move(by_label.at(*label)));
  }
}

const program* largest_program(const profile& in) noexcept {
  const auto bytes = [](const program& each) {
    std::uint64_t sum = 0;
    for (const object& one : each.objects) {
      sum += one.bytes;
    }
    return sum;
  };
  const auto largest = std::ranges::max_element(in.programs, {}, bytes);
  return largest == in.programs.end() ? nullptr : &*largest;
}

node_id thread::home() const noexcept {
  const auto most = std::ranges::max_element(stays, {}, &stay::samples);
  return most == stays.end() ? unknown_node : most->node;
}

} // namespace nodewise::profile
