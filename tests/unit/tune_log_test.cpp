// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Logs of races: written, damaged, read and replayed.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "recorded_machines.hpp"
#include "tune/log.hpp"

namespace nodewise::tune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Call>
std::string refused_log(Call call, error_kind kind = error_kind::input) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

log_header example_header() {
  log_header made;
  made.command = {"./app", "-n", "a b", "\xff"};
  made.candidates = {{{}, 0}, {{"--threads", "2", "--bind", "close"}, 2}, {{"--smt", "off"}, 4}};
  made.options.candidates = 3;
  made.options.seed = 18446744073709551615U;
  made.options.equal = 0.1 + 0.2; // needs all digits
  made.options.predicted = {1, 0.5, 1e-300};
  made.options.pinned = {1};
  made.options.most_spread = 5;
  made.figure = {"rate: ([0-9.]+)", "out.txt", true};
  made.options.higher_is_better = true;
  made.machine = R"({"host":"n1","cpus":"0-3"})";
  made.program = R"(["build",1.5])";
  return made;
}

/// A race of three candidates with made-up figures, of which one is disqualified on the way.
std::vector<log_event> example_events(race& of) {
  std::vector<log_event> events;
  double figure = 1;
  while (const auto next = of.next()) {
    figure = figure * 1.37 - (figure > 3 ? 2.1 : 0);
    const logged_run run{*next, figure + (next->candidate == 1 ? 4 : 0), 0.125, 0.1, 1e-7};
    of.record(run.figure);
    events.emplace_back(run);
    if (events.size() == 6) {
      of.disqualify(2, "signal 11\n\x1b");
      events.emplace_back(logged_disqualification{2, "signal 11\n\x1b"});
    }
  }
  return events;
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string standing_text(const race& of) {
  const race_standing all = of.standing();
  std::string text = std::to_string(static_cast<int>(all.result)) + " " + std::to_string(all.p);
  for (const candidate_standing& each : all.candidates) {
    text += " " + std::to_string(static_cast<int>(each.state)) + " " +
            std::to_string(each.race_runs) + " " + std::to_string(each.median) + each.reason;
  }
  return text;
}

class TuneLog : public testing::Test {
 protected:
  TuneLog() {
    race of(header_.options);
    events_ = example_events(of);
    log_writer writer = log_writer::create(file_, header_);
    for (const log_event& each : events_) {
      EXPECT_EQ(writer.write(each), std::nullopt);
      // Nothing stays in a buffer.
      EXPECT_EQ(read_log(file_).events.back(), each);
    }
    text_ = contents(file_);
  }

  /// The log with one line changed.
  [[nodiscard]] std::string with_line(std::size_t number, const std::string& line) const {
    std::string all;
    std::size_t from = 0;
    for (std::size_t i = 1; from < text_.size(); ++i) {
      const std::size_t end = text_.find('\n', from) + 1;
      all += i == number ? line + "\n" : text_.substr(from, end - from);
      from = end;
    }
    return all;
  }
  [[nodiscard]] std::string refused_line(std::size_t number, const std::string& line) const {
    return refused_log([&] { (void)parse_log(with_line(number, line), "x.log"); });
  }
  /// What a changed field of the header answers.
  [[nodiscard]] std::string refused_field(const char* pointer, const nlohmann::json& value) const {
    nlohmann::json first = nlohmann::json::parse(text_.substr(0, text_.find('\n')));
    first[nlohmann::json::json_pointer(pointer)] = value;
    return refused_line(1, first.dump());
  }

  test::scratch_folder folder_;
  std::filesystem::path file_ = folder_.path() / "race.log";
  log_header header_ = example_header();
  std::vector<log_event> events_;
  std::string text_;
};

TEST_F(TuneLog, ForecastsAndOtherFiguresChangeNothingInTheRace) {
  logged_run first = std::get<logged_run>(events_[0]);
  first.others = {1.5, 0};
  first.output = "00ff";
  std::vector<log_event> events = {first, logged_forecast{1, {0.5, 0.75, 1.25}}};
  log_writer writer = log_writer::create(file_, header_);
  for (const log_event& each : events) {
    EXPECT_EQ(writer.write(each), std::nullopt);
  }
  EXPECT_EQ(read_log(file_).events, events);
  race with(header_.options);
  replay(events, with);
  race without(header_.options);
  replay({events_.data(), 1}, without);
  EXPECT_EQ(with.next(), without.next());
  EXPECT_THAT(refused_line(2, R"({"forecast": 9, "low": 1, "likely": 1, "high": 1})"),
              HasSubstr("forecast"));
}

TEST_F(TuneLog, IsReadAsItWasWritten) {
  const log_contents read = read_log(file_);
  ASSERT_GT(events_.size(), 12U);
  EXPECT_EQ(read.events, events_);
  EXPECT_EQ(read.remark, "");
  EXPECT_EQ(read.whole_bytes, text_.size());
  EXPECT_EQ(read.header.command, (std::vector<std::string>{"./app", "-n", "a b", "\xef\xbf\xbd"}));
  EXPECT_EQ(read.header.candidates, header_.candidates);
  EXPECT_EQ(read.header.figure, header_.figure);
  EXPECT_EQ(read.header.machine, header_.machine);
  EXPECT_EQ(read.header.program, header_.program);
  EXPECT_EQ(read.header.options.seed, header_.options.seed);
  EXPECT_EQ(read.header.options.equal, header_.options.equal);
  EXPECT_EQ(read.header.options.predicted, header_.options.predicted);
  EXPECT_EQ(read.header.options.pinned, header_.options.pinned);
  EXPECT_EQ(read.header.options.most_spread, header_.options.most_spread);
  EXPECT_EQ(read.header.options.candidates, 3U);
  EXPECT_NO_THROW(check_same(header_, read.header));
  EXPECT_NO_THROW(check_same(read.header, header_));
}

TEST_F(TuneLog, RestoresTheRace) {
  race whole(header_.options);
  (void)example_events(whole);
  race replayed(header_.options);
  replay(read_log(file_).events, replayed);
  EXPECT_EQ(standing_text(replayed), standing_text(whole));
  EXPECT_EQ(replayed.next(), std::nullopt);
}

TEST_F(TuneLog, GoesOnAfterEveryTruncation) {
  const std::size_t first_line = text_.find('\n') + 1;
  for (std::size_t size = 0; size < text_.size(); ++size) {
    const std::string cut = text_.substr(0, size);
    if (size < first_line) {
      EXPECT_THAT(refused_log([&] { (void)parse_log(cut, "x.log"); }),
                  HasSubstr(size == 0 ? "it is empty" : "its first line has no end"));
      continue;
    }
    const log_contents read = parse_log(cut, "x.log");
    const auto lines = static_cast<std::size_t>(std::ranges::count(cut, '\n'));
    ASSERT_EQ(read.events.size(), lines - 1);
    ASSERT_TRUE(std::ranges::equal(read.events, std::span(events_).first(lines - 1)));
    ASSERT_EQ(read.remark.empty(), cut.back() == '\n');
    ASSERT_EQ(read.whole_bytes, cut.rfind('\n') + 1);
    race of(header_.options);
    ASSERT_NO_THROW(replay(read.events, of));
  }
}

TEST_F(TuneLog, IsCompletedAfterATruncation) {
  for (const std::size_t less : {1U, 2U, 30U, 300U}) {
    std::filesystem::resize_file(file_, text_.size() - less);
    const log_contents read = read_log(file_);
    EXPECT_THAT(read.remark, AllOf(HasSubstr("race.log, line"), HasSubstr("cut short")));
    log_writer writer = log_writer::resume(file_, read);
    for (std::size_t i = read.events.size(); i < events_.size(); ++i) {
      EXPECT_EQ(writer.write(events_[i]), std::nullopt);
    }
    EXPECT_EQ(contents(file_), text_);
  }
}

TEST_F(TuneLog, IsNotResumedIfItHasBecomeShorter) {
  const log_contents read = read_log(file_);
  std::filesystem::resize_file(file_, text_.size() - 1);
  EXPECT_THAT(refused_log([&] { (void)log_writer::resume(file_, read); }), HasSubstr("shorter"));
  std::filesystem::remove(file_);
  EXPECT_THAT(refused_log([&] { (void)log_writer::resume(file_, read); }, error_kind::system),
              HasSubstr("ENOENT"));
}

TEST_F(TuneLog, DamageIsNamedByLineAndField) {
  EXPECT_THAT(refused_line(3, "{\"candidate\":0"),
              AllOf(HasSubstr("x.log, line 3"), HasSubstr("not JSON")));
  EXPECT_THAT(refused_line(2, ""), HasSubstr("x.log, line 2"));
  EXPECT_THAT(refused_line(2, std::string(20, '\0')), HasSubstr("x.log, line 2"));
  EXPECT_THAT(refused_line(2, "[1]"), HasSubstr("line 2"));
  const auto run = [](const char* candidate, const char* phase, const char* figure,
                      const char* more = "") {
    return std::string("{\"candidate\":") + candidate + ",\"block\":0,\"phase\":" + phase +
           ",\"figure\":" + figure + ",\"wall_s\":1,\"user_s\":1,\"system_s\":1" + more + "}";
  };
  EXPECT_NO_THROW((void)parse_log(with_line(2, run("0", "\"race\"", "1")), "x.log"));
  EXPECT_THAT(refused_line(2, run("3", "\"race\"", "1")), HasSubstr("line 2: candidate"));
  EXPECT_THAT(refused_line(2, run("-1", "\"race\"", "1")), HasSubstr("line 2: candidate"));
  EXPECT_THAT(refused_line(2, run("0", "\"sprint\"", "1")), HasSubstr("line 2: phase"));
  EXPECT_THAT(refused_line(2, run("0", "\"race\"", "0")), HasSubstr("line 2: figure"));
  EXPECT_THAT(refused_line(2, run("0", "\"race\"", "\"1\"")), HasSubstr("line 2: figure"));
  EXPECT_THAT(refused_line(2, run("0", "\"race\"", "1", ",\"wall\":1")), HasSubstr("'wall'"));
  EXPECT_THAT(refused_line(2, run("0", "\"race\"", "1", ",\"figure\":1")), HasSubstr("twice"));
  EXPECT_THAT(refused_line(4, R"({"disqualified":3,"reason":"x"})"),
              HasSubstr("line 4: disqualified"));
  EXPECT_THAT(refused_line(4, R"({"disqualified":1})"), HasSubstr("'reason' is missing"));
}

TEST_F(TuneLog, DamageOfTheHeaderIsNamed) {
  EXPECT_THAT(refused_field("/schema", "nodewise/tune-log/2"), HasSubstr("newer version"));
  EXPECT_THAT(refused_field("/schema", "nodewise/run/1"), HasSubstr("another kind of file"));
  EXPECT_THAT(refused_field("/command", "x"), HasSubstr("line 1: command"));
  EXPECT_THAT(refused_field("/command/1", 5), HasSubstr("line 1: command[1]"));
  EXPECT_THAT(refused_field("/candidates", nlohmann::json::array()),
              HasSubstr("line 1: candidates"));
  EXPECT_THAT(refused_field("/candidates/1/cores", -1), HasSubstr("candidates[1].cores"));
  EXPECT_THAT(refused_field("/race/error", 2), HasSubstr("line 1: race"));
  EXPECT_THAT(refused_field("/race/most_runs", 1000), HasSubstr("line 1: race"));
  EXPECT_THAT(refused_field("/race/predicted", {1}), HasSubstr("line 1: race"));
  EXPECT_THAT(refused_field("/race/pinned", {3}), HasSubstr("line 1: race.pinned[0]"));
  EXPECT_THAT(refused_field("/race/seed", 1.5), HasSubstr("line 1: race.seed"));
  EXPECT_THAT(refused_field("/figure/higher_is_better", 1), HasSubstr("figure.higher_is_better"));
  EXPECT_THAT(refused_field("/color", 1), HasSubstr("'color'"));
}

TEST_F(TuneLog, AnyChangedByteIsReadOrRefused) {
  for (std::size_t at = 0; at < text_.size(); ++at) {
    for (const char byte : {'\0', '"', '\n', '9', '\xff', '}'}) {
      std::string damaged = text_;
      damaged[at] = byte;
      try {
        const log_contents read = parse_log(damaged, "x.log");
        race of(read.header.options);
        replay(read.events, of);
      } catch (const error& e) {
        ASSERT_EQ(e.kind(), error_kind::input) << e.what();
      }
    }
  }
}

TEST_F(TuneLog, EventsThatDoNotFitAreRefused) {
  const auto refused = [&](std::vector<log_event> events) {
    race of(header_.options);
    return refused_log([&] { replay(events, of); });
  };
  std::vector<log_event> events = events_;
  std::get<logged_run>(events[3]).run.candidate ^= 1U;
  EXPECT_THAT(refused(events), HasSubstr("line 5 of the log"));
  events = events_;
  std::get<logged_run>(events[0]).run.block = 7;
  EXPECT_THAT(refused(events), AllOf(HasSubstr("line 2"), HasSubstr("another block")));
  events = events_;
  std::get<logged_run>(events[0]).figure = 0;
  EXPECT_THAT(refused(events), HasSubstr("line 2"));
  events = events_;
  events.push_back(events[0]);
  EXPECT_THAT(refused(events), HasSubstr("the race has ended"));
  EXPECT_THAT(refused({logged_disqualification{3, ""}}), HasSubstr("no candidate 3"));
  race_options other_seed = header_.options;
  other_seed.seed = 2;
  race other(other_seed);
  EXPECT_THAT(refused_log([&] { replay(events_, other); }), HasSubstr("of the log"));
}

TEST_F(TuneLog, OnlyTheSameRaceIsResumed) {
  const auto refused = [&](auto change) {
    log_header now = header_;
    change(now);
    return refused_log([&] { check_same(now, header_); });
  };
  EXPECT_THAT(refused([](log_header& now) { now.command[2] = "c"; }),
              AllOf(HasSubstr("the log is of './app -n "), HasSubstr("not of './app -n c")));
  EXPECT_THAT(refused([](log_header& now) { now.program = "1"; }),
              HasSubstr("program has changed"));
  EXPECT_THAT(refused([](log_header& now) { now.machine = "null"; }), HasSubstr("another machine"));
  EXPECT_THAT(refused([](log_header& now) { now.candidates[1].options[1] = "3"; }),
              HasSubstr("candidate 1 was '--threads 2 --bind close' and is now '--threads 3"));
  EXPECT_THAT(refused([](log_header& now) { now.candidates.pop_back(); }),
              HasSubstr("there were 3 candidates and are now 2"));
  EXPECT_THAT(refused([](log_header& now) { now.options.most_runs = 10; }),
              HasSubstr("the race: most_runs was '12' and is now '10'"));
  EXPECT_THAT(refused([](log_header& now) { now.options.predicted.clear(); }),
              HasSubstr("predicted was '[1.0,0.5,1e-300]' and is now 'absent'"));
  EXPECT_THAT(refused([](log_header& now) { now.figure.file.reset(); }),
              HasSubstr("the figure: file was '\"out.txt\"' and is now 'absent'"));
  EXPECT_THAT(refused([](log_header& now) { now.machine = "{"; }), HasSubstr("not JSON"));
  log_header cores = header_;
  cores.candidates[1].cores = 7;
  EXPECT_NO_THROW(check_same(cores, header_));
}

TEST_F(TuneLog, FilesThatCannotBeUsed) {
  EXPECT_THAT(refused_log([&] { (void)read_log(folder_.path() / "none"); }), HasSubstr("ENOENT"));
  EXPECT_THAT(refused_log([&] { (void)read_log(folder_.path()); }), HasSubstr("EISDIR"));
  EXPECT_THAT(
      refused_log([&] { (void)log_writer::create(folder_.path() / "no" / "file", header_); },
                  error_kind::system),
      HasSubstr("ENOENT"));
  EXPECT_THAT(
      refused_log([&] { (void)log_writer::create("/dev/full", header_); }, error_kind::system),
      HasSubstr("ENOSPC"));
  log_header invalid = header_;
  invalid.machine = "{";
  EXPECT_THAT(refused_log([&] { (void)log_writer::create(file_, invalid); }),
              HasSubstr("not JSON"));
  EXPECT_EQ(contents(file_), text_); // and the old log is still there
}

/// Limits the size of files, as a full disk does, while it lives.
class size_limit {
 public:
  explicit size_limit(std::uint64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    (void)::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &now), 0);
  }
  size_limit(const size_limit&) = delete;
  size_limit& operator=(const size_limit&) = delete;
  ~size_limit() {
    (void)::setrlimit(RLIMIT_FSIZE, &before_);
    (void)std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(TuneLog, CatchesUpWhenTheDiskHasRoomAgain) {
  const auto size_now = [&] { return std::filesystem::file_size(file_); };
  log_writer writer = log_writer::create(file_, header_);
  EXPECT_EQ(writer.write(events_[0]), std::nullopt);
  for (const std::size_t room : {10U, 0U}) {
    const std::size_t next = room == 0 ? 4 : 1;
    {
      const size_limit full(size_now() + room);
      EXPECT_THAT(writer.write(events_[next]).value_or(""), HasSubstr("EFBIG"));
      EXPECT_EQ(writer.write(events_[next + 1]), std::nullopt);
      EXPECT_FALSE(writer.is_complete());
      EXPECT_EQ(read_log(file_).events.size(), next);
    }
    EXPECT_EQ(writer.write(events_[next + 2]), std::nullopt);
    EXPECT_TRUE(writer.is_complete());
    EXPECT_TRUE(std::ranges::equal(read_log(file_).events, std::span(events_).first(next + 3)));
  }
}

} // namespace
} // namespace nodewise::tune
