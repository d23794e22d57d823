// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "exports/pprof_tables.hpp"

#include <algorithm>

#include <protozero/pbf_writer.hpp>

#include "base/path.hpp"
#include "base/text.hpp"
#include "exports/pprof_fields.hpp"

namespace nodewise::exports {

namespace {

/// The same call that a return address returns to: debuggers and pprof look up the byte before.
std::uint64_t address_of_call(const profile::frame& at, bool is_return) {
  return is_return && at.offset > 0 ? at.offset - 1 : at.offset;
}

void write_line(protozero::pbf_writer& into, std::uint64_t function, std::int64_t line) {
  protozero::pbf_writer one(into, location_field::line);
  one.add_uint64(line_field::function_id, function);
  one.add_int64(line_field::line, line);
}

} // namespace

std::int64_t pprof_tables::text(std::string_view what) {
  std::string shown = printable(what);
  const auto found = numbers_.find(shown);
  if (found != numbers_.end()) {
    return found->second;
  }
  const auto number = static_cast<std::int64_t>(texts_.size());
  texts_.push_back(shown);
  numbers_.emplace(std::move(shown), number);
  return number;
}

void pprof_tables::enter(const profile::program& which) {
  program_ = &which;
  (void)binary_of(which.name); // pprof takes the first for the main one
}

table_number pprof_tables::binary_number(std::string_view file, std::string_view build_id) {
  const std::pair key(text(file), text(build_id));
  const auto [found, is_new] = binary_numbers_.try_emplace(key, binaries_.size() + 1);
  if (is_new) {
    binaries_.push_back({key.first, key.second});
  }
  return found->second;
}

table_number pprof_tables::binary_of(const std::string& module) {
  if (module.empty()) {
    return 0;
  }
  const std::string& file = program_->file;
  if (module == program_->name || (!file.empty() && module == last_part(file))) {
    return binary_number(file.empty() ? module : file, program_->build_id);
  }
  const auto known = std::ranges::find(program_->libraries, module, &profile::library::name);
  return binary_number(module, known == program_->libraries.end() ? "" : known->build_id);
}

table_number pprof_tables::function(std::string_view name, std::string_view file) {
  const function_key key(text(name), text(file));
  return functions_.try_emplace(key, functions_.size() + 1).first->second;
}

pprof_tables::line_of_code pprof_tables::line_of(const profile::frame& at, table_number in) {
  if (in != 0) {
    binary& of = binaries_[in - 1];
    of.functions = of.functions && !at.function.empty();
    of.files = of.files && !at.file.empty();
    of.lines = of.lines && at.line > 0;
    of.inlined = of.inlined || at.inlined;
  }
  return {function(at.function.empty() ? profile::label_of(at) : at.function, at.file), at.line};
}

table_number pprof_tables::place(place_key what) {
  return places_.try_emplace(std::move(what), places_.size() + 1).first->second;
}

std::vector<table_number> pprof_tables::places(std::span<const profile::frame> chain) {
  std::vector<table_number> all;
  bool is_return = false;
  while (!chain.empty()) {
    const auto last = std::ranges::find(chain, false, &profile::frame::inlined);
    const auto count = std::min(static_cast<std::size_t>(last - chain.begin()) + 1, chain.size());
    const std::span<const profile::frame> same_code = chain.first(count);
    chain = chain.subspan(count);
    const profile::frame& code = same_code.back();
    if (!code.module.starts_with("libnodewise-agent")) {
      const table_number in = binary_of(code.module);
      std::vector<line_of_code> lines;
      for (const profile::frame& each : same_code) {
        lines.push_back(line_of(each, in));
      }
      all.push_back(place({in, address_of_call(code, is_return), std::move(lines)}));
    }
    is_return = true;
  }
  return all;
}

table_number pprof_tables::named_place(std::string_view name, const profile::frame* made_at) {
  const bool known = made_at != nullptr;
  return place({0, 0, {{function(name, known ? made_at->file : ""), known ? made_at->line : 0}}});
}

std::string pprof_tables::encoded() const {
  std::string out;
  protozero::pbf_writer all(out);
  for (std::size_t i = 0; i < binaries_.size(); ++i) {
    // Without a range of addresses, readers take addresses as offsets in the file's image.
    protozero::pbf_writer one(all, profile_field::mapping);
    one.add_uint64(mapping_field::id, i + 1);
    one.add_int64(mapping_field::filename, binaries_[i].file);
    one.add_int64(mapping_field::build_id, binaries_[i].build_id);
    one.add_bool(mapping_field::has_functions, binaries_[i].functions);
    one.add_bool(mapping_field::has_filenames, binaries_[i].files);
    one.add_bool(mapping_field::has_line_numbers, binaries_[i].lines);
    one.add_bool(mapping_field::has_inline_frames, binaries_[i].inlined);
  }
  for (const auto& [key, number] : places_) {
    protozero::pbf_writer one(all, profile_field::location);
    one.add_uint64(location_field::id, number);
    one.add_uint64(location_field::mapping_id, std::get<0>(key));
    one.add_uint64(location_field::address, std::get<1>(key));
    for (const auto& [function, line] : std::get<2>(key)) {
      write_line(one, function, line);
    }
  }
  for (const auto& [key, number] : functions_) {
    protozero::pbf_writer one(all, profile_field::function);
    one.add_uint64(function_field::id, number);
    one.add_int64(function_field::name, key.first);
    one.add_int64(function_field::system_name, key.first);
    one.add_int64(function_field::filename, key.second);
  }
  for (const std::string& each : texts_) {
    all.add_string(profile_field::string_table, each);
  }
  return out;
}

} // namespace nodewise::exports
