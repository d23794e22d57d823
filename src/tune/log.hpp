// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The log of a race: a file to which each run is added as soon as it is measured, so that nothing
// is lost if the race is interrupted, and from which it is resumed.
//
// The file holds lines of JSON. The first describes the race (`nodewise/tune-log/1`), each other
// one is an event. Because a race is a function of its options and its events, replaying them
// restores it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/log_events.hpp"

namespace nodewise::tune {

/// A log as it was read.
struct log_contents {
  log_header header;
  std::vector<log_event> events;
  std::uint64_t whole_bytes = 0; ///< up to the end of the last whole line
  /// A sentence if the last line was cut short, and therefore dropped; else empty.
  std::string remark;
};

/// Adds events to a log. Each is written at once, without a buffer.
class log_writer {
 public:
  /// Begins a log; a file of that name is replaced. Throws `error` (system) if the header cannot be
  /// written.
  [[nodiscard]] static log_writer create(const std::filesystem::path& file,
                                         const log_header& header);
  /// Goes on with a log that was read: removes a last line that was cut short. Throws `error`
  /// (system) if the file cannot be written, (input) if it is shorter than it was.
  [[nodiscard]] static log_writer resume(const std::filesystem::path& file,
                                         const log_contents& read);

  /// Adds an event. If it cannot be written (the disk is full), the race may go on: the event is
  /// kept and written with the next one. Returns a sentence about the failure, with the errno's
  /// text, but only about the first one since the file was complete.
  std::optional<std::string> write(const log_event& event);

  /// Whether all events are in the file.
  [[nodiscard]] bool is_complete() const noexcept { return pending_.empty(); }

 private:
  struct closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  log_writer(std::filesystem::path file, const char* mode);
  /// Writes as much of `pending_` as possible. Returns the errno; 0 if all of it is written.
  int flush();

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, closer> file_;
  std::string pending_;
  bool has_failed_ = false; ///< and this was reported
};

/// Reads a log. A last line without its end is dropped, with a remark, since an interrupted write
/// leaves such a line. Throws `error` (input) for any other damage, naming line and field; also if
/// not even the first line is whole.
[[nodiscard]] log_contents read_log(const std::filesystem::path& file);
/// The same, from the contents of a file.
[[nodiscard]] log_contents parse_log(std::string_view text, const std::string& file_name);

/// Throws `error` (input), with a hint, if a race that was logged by `before` cannot go on as
/// `now`: another command, other candidates, a changed program, another machine, other options of
/// the race or another figure. (A caller whose user did not give an option takes it from `before`.)
/// Numbers of cores may differ: they do not affect the race.
void check_same(const log_header& now, const log_header& before);

/// Restores a race, which must be new and have the log's options. Throws `error` (input) that names
/// the line if an event does not fit: its run is not the race's next one, or the race has ended.
/// The race is then unusable.
void replay(std::span<const log_event> events, race& into);

} // namespace nodewise::tune
