// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fcntl.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/verbs/survey/flags.hpp"
#include "cli/verbs/survey/record.hpp"
#include "cli/verbs/survey/view.hpp"
#include "survey/expected.hpp"
#include "survey/lines.hpp"
#include "sys/programs.hpp"

namespace nodewise::cli::verbs {

namespace {

namespace fs = std::filesystem;

/// Records read from files, folders and standard input.
class records_of_job {
 public:
  void add(const std::string& name) {
    std::error_code unknown;
    if (fs::is_directory(name, unknown)) {
      std::vector<fs::path> files;
      for (const auto& each : fs::directory_iterator(name, unknown)) {
        if (each.path().extension() == ".jsonl") {
          files.push_back(each.path());
        }
      }
      std::ranges::sort(files);
      std::ranges::for_each(files, [&](const fs::path& file) { add_file(file.string()); });
      return;
    }
    add_file(name);
  }

  /// Throws `error` (input) without a record, or with those of several jobs.
  [[nodiscard]] surveyed_job judged(const std::optional<std::string_view>& job,
                                    const survey::expected_shape& expected) {
    finder_.finish();
    if (builder_.empty() && !finder_.problems().empty()) {
      throw error(error_kind::input, "the records of a job", finder_.problems().front(),
                  "run the job again with nodewise survey");
    }
    surveyed_job made{builder_.build(job), {}, {}};
    const auto& damaged = finder_.problems();
    made.what.problems.insert(made.what.problems.end(), damaged.begin(), damaged.end());
    made.shape = survey::shape_of(made.what);
    made.findings = survey::judge_shape(made.what, expected);
    std::ranges::move(survey::judge(made.what), std::back_inserter(made.findings));
    return made;
  }

 private:
  void add_file(const std::string& name) {
    std::ifstream opened(name);
    std::istream& from = name == "-" ? std::cin : opened;
    if (!from) {
      throw error(error_kind::input, name, "it cannot be read",
                  "name a folder or file that nodewise survey has written", errno);
    }
    finder_.read(from, name == "-" ? "standard input" : name);
    if (from.bad()) {
      throw error(error_kind::input, name, "it cannot be read to its end", "read it again", errno);
    }
  }

  survey::job_builder builder_;
  survey::record_finder finder_{[this](survey::rank_record record, const std::string& place) {
    builder_.add(std::move(record), place);
  }};
};

survey::expected_shape read_expected(const invocation& given) {
  const auto text = given.text(flags::expect);
  return text ? for_option(flags::expect, [&] { return survey::parse_expected_shape(*text); })
              : survey::expected_shape{};
}

/// Whether --expect or --strict asks for exit code 1.
bool is_refused(const invocation& given, const surveyed_job& job) {
  const bool is_other =
      !job.findings.empty() && job.findings.front().what == survey::fault::other_shape;
  return is_other ||
         (given.has(flags::strict) && !(job.findings.empty() && job.what.problems.empty()));
}

/// The job's name as a part of a file name.
std::string folder_of(const invocation& given, const std::string& job) {
  if (const auto chosen = given.text(flags::records)) {
    return std::string(*chosen);
  }
  std::string name(cut(job, 64));
  std::ranges::replace_if(
      name,
      [](unsigned char c) {
        return !(std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_') || c >= 0x80;
      },
      '_');
  return name == "-" ? "nodewise-survey" : "nodewise-survey-" + name;
}

std::string file_of(const std::string& folder, int rank) {
  return fmt::format("{}/rank-{}.jsonl", folder, rank);
}

void write_record(const std::string& folder, const survey::rank_record& record) {
  std::error_code refused;
  fs::create_directories(folder, refused);
  const int failed =
      refused ? refused.value()
              : replace_file(file_of(folder, record.rank), survey::record_text(record) + "\n");
  if (failed != 0) {
    throw error(error_kind::system, fmt::format("the record of rank {} in {}", record.rank, folder),
                "it cannot be written", "choose another folder by --records, or give --lines",
                failed);
  }
}

/// Whether this rank is the one that ended last and shows the job: all records are there, and no
/// other rank has said so before.
bool shows_the_job(const std::string& folder, const survey::rank_record& record) {
  if (!record.ranks) {
    return false;
  }
  // From the next rank on: each rank finds another one missing, after few looks while many are.
  for (int i = 1; i < *record.ranks; ++i) {
    const int rank = (record.rank + i) % *record.ranks;
    if (::access(file_of(folder, rank).c_str(), F_OK) != 0) {
      return false;
    }
  }
  if (*record.ranks == 1) {
    return true;
  }
  const int mark =
      ::open(fmt::format("{}/shown", folder).c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (mark >= 0) {
    ::close(mark);
  }
  return mark >= 0;
}

/// Of a job of the same name that ran before.
void remove_older(const std::string& folder, int rank) {
  std::error_code ignored;
  fs::remove(file_of(folder, rank), ignored);
  fs::remove(folder + "/shown", ignored);
}

/// Each line in one call, so that lines of other ranks do not come in between.
void print_lines(const survey::rank_record& record) {
  for (const std::string& line : survey::lines_of(record)) {
    write_out(line);
  }
}

[[noreturn]] void run_rank(const invocation& given, const survey::expected_shape& expected) {
  const survey::launched_rank launched = survey::find_launched_rank(process_environment);
  const std::string folder = folder_of(given, launched.job);
  if (!given.has(flags::lines)) {
    remove_older(folder, launched.rank);
  }
  const recorded_rank found = record_rank(given, launched);
  if (!found.end.started) {
    sys::end_as(found.end);
  }
  const survey::rank_record& record = found.record;
  bool refused = false;
  if (given.has(flags::lines)) {
    print_lines(record);
  } else {
    write_record(folder, record);
    if (shows_the_job(folder, record)) {
      records_of_job all;
      all.add(folder);
      const surveyed_job job = all.judged(record.job, expected);
      refused = is_refused(given, job);
      write_form(given, survey_forms, job);
      if (!given.has(flags::quiet) && given.selected_form() == nullptr) {
        write_error(survey_text(job, style_of(STDERR_FILENO, given)));
      }
    } else if (!record.ranks && !given.has(flags::quiet)) {
      write_error(fmt::format("nodewise: rank {} is recorded: nodewise survey {} shows the job\n",
                              record.rank, shell_word(folder)));
    }
  }
  if (refused && found.end.wait_status == 0) {
    ::_exit(exit_code::check_failed);
  }
  sys::end_as(found.end);
}

} // namespace

int survey(const invocation& given) {
  if (given.operands.empty() == given.program.empty()) {
    throw error(error_kind::usage, "nodewise survey",
                given.operands.empty() ? "the program or the records are missing"
                                       : "it takes either records or a program to run",
                "write mpirun nodewise survey -- PROGRAM, then nodewise survey DIR");
  }
  const survey::expected_shape expected = read_expected(given);
  check_output(given);
  if (!given.program.empty()) {
    run_rank(given, expected);
  }
  records_of_job all;
  std::ranges::for_each(given.operands, [&](std::string_view name) { all.add(std::string(name)); });
  const surveyed_job job = all.judged(given.text(flags::job), expected);
  show_result(given, survey_forms, job,
              [&](const report::style& how) { return survey_text(job, how); });
  return is_refused(given, job) ? exit_code::check_failed : exit_code::ok;
}

} // namespace nodewise::cli::verbs
