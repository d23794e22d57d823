// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "page_cache/warm.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/core.h>

#include <nodewise/error.hpp>
#include <nodewise/topology.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/verbs/warm/flags.hpp"
#include "cli/verbs/warm/target.hpp"
#include "cli/verbs/warm/view.hpp"
#include "observe/mapped_by.hpp"
#include "page_cache/tensors.hpp"
#include "report/progress.hpp"

namespace nodewise::cli::verbs {

namespace {

page_target target_of(const invocation& given, const topology& where) {
  const auto count = given.number(flags::readers, 1);
  const std::string_view text = given.text(flags::warm_to).value_or("blocked");
  if (count && text != "blocked") {
    throw error(error_kind::usage, option_name(flags::readers), "only blocks have readers",
                "give --to blocked, or leave it out");
  }
  constexpr long long most_readers = 1 << 13; // as for --threads
  if (count && *count > most_readers) {
    throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::readers), *count),
                fmt::format("more than {} readers", most_readers), "give fewer");
  }
  const auto readers =
      reader_nodes(with_cpus_of_readers(sys::real_kernel(), where),
                   count ? std::optional(static_cast<std::size_t>(*count)) : std::nullopt);
  return for_option(flags::warm_to, [&] {
    return page_target(text, where, readers, sys::real_kernel().base_page_bytes());
  });
}

std::uint64_t count_on_owner(const page_cache::file_location& of,
                             const std::function<node_id(std::size_t)>& owner) {
  std::uint64_t right = 0;
  std::size_t page = 0;
  for (const page_cache::cached_run& run : of.runs) {
    for (const std::size_t end = page + run.pages; page < end; ++page) {
      right += run.node == owner(page) ? 1U : 0U;
    }
  }
  return right;
}

/// What is looked at and placed, with its progress on the terminal.
class warming {
 public:
  warming(const page_target& target, const warmed_files& asked)
      : target_(target), by_tensor_(asked.by_tensor), only_check_(asked.only_checked) {}

  placed_file place(const std::string& path) const {
    placed_file made;
    made.path = path;
    const auto file = sys::cached_file::open(path);
    if (!file) {
      made.errno_value = file.errno_value;
      return made;
    }
    const auto tensors = by_tensor_ ? tensors_of(file.value, made) : no_tensors{};
    if (!made.problem.empty()) {
      return made;
    }
    if (only_check_) {
      auto found = page_cache::locate(kernel_, file.value);
      made.errno_value = found.errno_value;
      made.done.before = found.value;
      made.done.now = std::move(found.value);
    } else {
      warm(file.value, tensors, made);
    }
    if (made.errno_value == 0) {
      const page_cache::file_location& now = made.done.now;
      made.on_owner_pages = count_on_owner(now, target_.owners(now.bytes, tensors));
    }
    return made;
  }

 private:
  using no_tensors = std::vector<page_cache::tensor>;

  static std::vector<page_cache::tensor> tensors_of(const sys::cached_file& file,
                                                    placed_file& into) {
    try {
      if (auto found = page_cache::read_tensors(file, into.path)) {
        return std::move(*found);
      }
      into.problem = "it is neither a GGUF nor a safetensors file: leave --by-tensor out";
    } catch (const error& e) {
      into.problem = fmt::format("{}: {}", e.asked(), e.answered());
    }
    return {};
  }

  void warm(const sys::cached_file& file, const std::vector<page_cache::tensor>& tensors,
            placed_file& into) const {
    const auto size = file.size();
    report::progress shown(fmt::format("warming {}", printable(into.path)), size.value);
    std::uint64_t bytes = 0;
    const page_cache::warm_request request{
        .owner = target_.owners(size.value, tensors),
        .memory = [&](node_id node) { return sys::read_node_memory(kernel_, node); },
        .done =
            [&](std::uint64_t more) {
              bytes += more;
              shown.done(bytes);
            }};
    auto done = page_cache::warm(kernel_, file, request);
    into.errno_value = done.errno_value;
    into.done = std::move(done.value);
    if (into.done.stayed.contains(EACCES)) {
      into.mapped_by = observe::mapped_by(into.path);
    }
  }

  sys::kernel& kernel_ = sys::real_kernel();
  const page_target& target_;
  bool by_tensor_;
  bool only_check_;
};

int exit_code_for(const warmed_files& result, bool strict) {
  const auto failed = [](const placed_file& each) {
    return each.errno_value != 0 || !each.problem.empty() || each.done.errno_value != 0;
  };
  const auto is_elsewhere = [](const placed_file& each) {
    return !each.done.now.is_known || each.on_owner_pages != each.pages();
  };
  if (std::ranges::any_of(result.files, failed)) {
    return exit_code::bad_input;
  }
  return strict && std::ranges::any_of(result.files, is_elsewhere) ? exit_code::check_failed
                                                                   : exit_code::ok;
}

} // namespace

int warm(const invocation& given) {
  check_output(given);
  if (given.operands.empty()) {
    throw error(error_kind::usage, "nodewise warm", "no file is named",
                "write nodewise warm FILE...");
  }
  const topology where = topology::from_sysfs();
  const page_target target = target_of(given, where);
  warmed_files result{where.machine(),
                      std::string(given.text(flags::warm_to).value_or("blocked")),
                      target.text(),
                      given.has(flags::by_tensor),
                      given.has(flags::only_look),
                      {}};
  const warming work(target, result);
  for (const std::string& path : given.operands) {
    result.files.push_back(work.place(path));
  }
  show_result(given, warm_forms, result,
              [&](const report::style& how) { return warm_text(result, how); });
  return exit_code_for(result, given.has(flags::strict));
}

} // namespace nodewise::cli::verbs
