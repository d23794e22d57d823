// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "base/text.hpp"
#include "topology/json_field.hpp"
#include "tune/log_json.hpp"

namespace nodewise::tune {

namespace {

constexpr const char* begin_another = "begin another log: name another file, without --resume";

std::string log_name(const std::filesystem::path& file) {
  return fmt::format("the log {}", printable(file.string()));
}

[[noreturn]] void refuse_file(const std::filesystem::path& file, const char* answered,
                              int errno_value) {
  throw error(error_kind::system, log_name(file), answered,
              "name a file that you may write, on a file system with room", errno_value);
}

std::string line_name(const std::string& file, std::size_t line) {
  return fmt::format("{}, line {}", log_name(file), line);
}

[[noreturn]] void refuse_resuming(const std::string& answered, const std::string& hint) {
  throw error(error_kind::input, "resuming a race", answered, hint);
}

std::string command_text(const log_header& of) {
  return printable(in_quotes(joined(of.command, " ", shell_word)));
}

/// As the file has it: a comparison must not fail because a byte cannot be written in JSON.
template <class Value>
bool same_in_file(const Value& a, const Value& b) {
  return json_line(nlohmann::ordered_json(a)) == json_line(nlohmann::ordered_json(b));
}

void check_candidates(const log_header& now, const log_header& before) {
  const std::size_t both = std::min(now.candidates.size(), before.candidates.size());
  const char* const hint =
      "give the same settings as before, or begin another log without --resume";
  for (std::size_t i = 0; i < both; ++i) {
    if (!same_in_file(now.candidates[i].options, before.candidates[i].options)) {
      refuse_resuming(fmt::format("candidate {} was {} and is now {}", i,
                                  printable(in_quotes(text(before.candidates[i]))),
                                  printable(in_quotes(text(now.candidates[i])))),
                      hint);
    }
  }
  if (now.candidates.size() != before.candidates.size()) {
    refuse_resuming(fmt::format("there were {} candidates and are now {}", before.candidates.size(),
                                now.candidates.size()),
                    hint);
  }
}

/// Names the first field in which two objects differ.
void check_fields(const nlohmann::ordered_json& now, const nlohmann::ordered_json& before,
                  std::string_view what) {
  const auto shown = [](const nlohmann::ordered_json& in, const std::string& key) {
    const auto found = in.find(key);
    std::string line = found == in.end() ? "absent\n" : json_line(*found);
    line.pop_back();
    return line;
  };
  const auto check = [&](const nlohmann::ordered_json& keys) {
    for (const auto& each : keys.items()) {
      if (const std::string was = shown(before, each.key()), is = shown(now, each.key());
          was != is) {
        refuse_resuming(fmt::format("{}: {} was {} and is now {}", what, each.key(),
                                    printable(in_quotes(was)), printable(in_quotes(is))),
                        "give the same options as before, or begin another log without --resume");
      }
    }
  };
  check(before);
  check(now);
}

void replay_one(const logged_run& event, race& into, const std::string& where) {
  const auto refuse = [&](const std::string& answered) {
    throw error(error_kind::input, where, answered, begin_another);
  };
  const std::optional<run_request> next = into.next();
  if (!next) {
    refuse("the race has ended before this run");
  } else if (*next != event.run) {
    refuse(fmt::format("it is a run of candidate {}, and the race's next one is of candidate {}{}",
                       event.run.candidate, next->candidate,
                       next->candidate == event.run.candidate ? " in another block" : ""));
  } else if (!std::isfinite(event.figure) || event.figure <= 0) {
    refuse("its figure is not finite and above 0");
  }
  into.record(event.figure);
}

void replay_one(const logged_disqualification& event, race& into, const std::string& where) {
  try {
    into.disqualify(event.candidate, event.reason);
  } catch (const error& e) {
    throw error(error_kind::input, where, e.answered(), begin_another);
  }
}

void replay_one(const logged_forecast& /*event*/, race& /*into*/, const std::string& /*where*/) {}

} // namespace

log_writer::log_writer(std::filesystem::path file, const char* mode)
    : path_(std::move(file)), file_(std::fopen(path_.c_str(), mode)) {
  if (!file_) {
    refuse_file(path_, "it cannot be opened", errno);
  }
  // Without a buffer fwrite writes at once, and returns how much of it is in the file.
  (void)std::setvbuf(file_.get(), nullptr, _IONBF, 0);
}

log_writer log_writer::create(const std::filesystem::path& file, const log_header& header) {
  std::string first = json_line(header_json(header)); // before an old file is lost
  log_writer made(file, "wbe");
  made.pending_ = std::move(first);
  if (const int failed = made.flush(); failed != 0) {
    refuse_file(file, "it cannot be written", failed);
  }
  return made;
}

log_writer log_writer::resume(const std::filesystem::path& file, const log_contents& read) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(file, failed);
  if (failed) {
    refuse_file(file, "its size cannot be read", failed.value());
  }
  if (size < read.whole_bytes) {
    throw error(error_kind::input, log_name(file), "it is shorter than it was when it was read",
                "resume a race by one process at a time");
  }
  if (size > read.whole_bytes) {
    std::filesystem::resize_file(file, read.whole_bytes, failed);
    if (failed) {
      refuse_file(file, "its last line, which was cut short, cannot be removed", failed.value());
    }
  }
  return {file, "abe"};
}

std::optional<std::string> log_writer::write(const log_event& event) {
  pending_ += json_line(event_json(event));
  const int failed = flush();
  const bool is_new = failed != 0 && !has_failed_;
  has_failed_ = failed != 0;
  if (!is_new) {
    return std::nullopt;
  }
  return fmt::format(
      "{} cannot be written: {}; the race goes on, and what is missing is written as "
      "soon as there is room",
      log_name(path_), errno_text(failed));
}

int log_writer::flush() {
  while (!pending_.empty()) {
    errno = 0;
    // The rest of a line that is in the file in part follows later.
    pending_.erase(0, std::fwrite(pending_.data(), 1, pending_.size(), file_.get()));
    const int failed = errno != 0 ? errno : EIO;
    std::clearerr(file_.get());
    if (!pending_.empty() && failed != EINTR) {
      return failed;
    }
  }
  // Until the disk has it, a power failure may lose it; and some file systems report a full disk
  // only here. A pipe or a device has no disk (EINVAL).
  return ::fdatasync(::fileno(file_.get())) == 0 || errno == EINVAL ? 0 : errno;
}

log_contents read_log(const std::filesystem::path& file) {
  return parse_log(read_whole(file, log_name(file), largest_result_file), file.string());
}

log_contents parse_log(std::string_view text, const std::string& file_name) {
  log_contents made;
  std::size_t line = 1;
  for (std::size_t end = 0; (end = text.find('\n')) != text.npos; ++line) {
    const std::string asked = line_name(file_name, line);
    const nlohmann::ordered_json document = parse_json(text.substr(0, end), asked);
    if (line == 1) {
      made.header = header_from_json(document, asked);
    } else {
      made.events.push_back(event_from_json({document, asked}, made.header.candidates.size()));
    }
    made.whole_bytes += end + 1;
    text.remove_prefix(end + 1);
  }
  if (line == 1) {
    throw error(error_kind::input, log_name(file_name),
                text.empty() ? "it is empty" : "its first line has no end",
                "name a log that `nodewise tune` wrote, or begin another one");
  }
  if (!text.empty()) {
    made.remark = fmt::format("{} was cut short and is not used", line_name(file_name, line));
  }
  return made;
}

void check_same(const log_header& now, const log_header& before) {
  if (!same_in_file(now.command, before.command)) {
    refuse_resuming(
        fmt::format("the log is of {}, not of {}", command_text(before), command_text(now)),
        "start the same command, or begin another log without --resume");
  }
  const nlohmann::ordered_json is = header_json(now);
  const nlohmann::ordered_json was = header_json(before);
  if (!same_in_file(is["program"], was["program"])) {
    refuse_resuming("the program has changed since the log was begun",
                    "begin another log without --resume: figures of two programs do not compare");
  }
  if (!same_in_file(is["machine"], was["machine"])) {
    refuse_resuming("the log is of another machine",
                    "resume it there, or begin another log without --resume");
  }
  check_candidates(now, before);
  check_fields(is["figure"], was["figure"], "the figure");
  check_fields(is["race"], was["race"], "the race");
}

void replay(std::span<const log_event> events, race& into) {
  std::size_t line = 2; // of the log: the first one is the header
  for (const log_event& event : events) {
    const std::string where = fmt::format("line {} of the log", line++);
    std::visit([&](const auto& each) { replay_one(each, into, where); }, event);
  }
}

} // namespace nodewise::tune
