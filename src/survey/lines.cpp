// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "survey/lines.hpp"

#include <algorithm>
#include <istream>
#include <optional>

#include <fmt/format.h>
#include <zlib.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::survey {

namespace {

constexpr std::string_view mark = "nodewise-survey/1 ";
constexpr std::string_view whole = R"({"schema":"nodewise/survey-record/)";
constexpr std::size_t most_parts = 100'000;
constexpr std::size_t longest_job = 64;

/// Of everything in a line but itself.
std::string checksum(std::string_view before, std::string_view piece) {
  uLong sum = ::crc32(0, nullptr, 0);
  for (const std::string_view each : {before, piece}) {
    sum = ::crc32_z(sum, reinterpret_cast<const Bytef*>(each.data()), each.size());
  }
  return fmt::format("{:08x}", sum);
}

/// The job's name as one word that is short enough for a line.
std::string word_of(std::string_view job) {
  std::string word(cut(job, longest_job));
  std::ranges::replace_if(word, [](unsigned char c) { return c <= ' ' || c >= 0x7f; }, '_');
  return word.empty() ? "-" : word;
}

struct piece_line {
  std::string key; ///< job, rank and number of parts
  std::size_t part = 0;
  std::size_t parts = 0;
  std::string_view piece;
};

/// Removes the first word and the blank behind it.
std::optional<std::string_view> take_word(std::string_view& rest) {
  const std::size_t blank = rest.find(' ');
  if (blank == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view word = rest.substr(0, blank);
  rest.remove_prefix(blank + 1);
  return word;
}

/// `text` begins behind the mark. nullopt if the line is damaged.
std::optional<piece_line> parse_piece(std::string_view text) {
  std::string_view rest = text;
  const auto job = take_word(rest);
  const auto rank = job ? take_word(rest) : std::nullopt;
  const auto counts = rank ? take_word(rest) : std::nullopt;
  if (!counts) {
    return std::nullopt;
  }
  const std::string_view before = text.substr(0, text.size() - rest.size());
  const auto sum = take_word(rest);
  const std::size_t slash = counts->find('/');
  if (!sum || slash == std::string_view::npos || *sum != checksum(before, rest)) {
    return std::nullopt;
  }
  const auto part = parse_number<std::size_t>(counts->substr(0, slash));
  const auto parts = parse_number<std::size_t>(counts->substr(slash + 1));
  if (!part || !parts || *part < 1 || *part > *parts || *parts > most_parts) {
    return std::nullopt;
  }
  return piece_line{fmt::format("{} {} {}", *job, *rank, *parts), *part, *parts, rest};
}

} // namespace

std::vector<std::string> lines_of(const rank_record& what) {
  const std::string text = record_text(what);
  const std::string job = word_of(what.job);
  // Room for the mark, a rank and two numbers of parts of ten digits each, the checksum, blanks.
  const std::size_t room = longest_line - mark.size() - job.size() - 3 * 10 - 8 - 6;
  const std::size_t parts = (text.size() + room - 1) / room;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::string_view piece = std::string_view(text).substr(i * room, room);
    const std::string before = fmt::format("{} {} {}/{} ", job, what.rank, i + 1, parts);
    lines.push_back(fmt::format("{}{}{} {}\n", mark, before, checksum(before, piece), piece));
  }
  return lines;
}

void record_finder::read(std::istream& from, const std::string& name) {
  std::size_t number = 1;
  for (std::string line; std::getline(from, line); ++number) {
    // Most lines of a file of output are the program's: they get no text of their place.
    if (line.find(mark) != std::string::npos || line.find(whole) != std::string::npos) {
      add_line(line, fmt::format("{}:{}", name, number));
    }
  }
}

void record_finder::add_line(std::string_view line, const std::string& place) {
  // A program that prints without an end of line, or a launcher that marks each line with its
  // rank, writes before ours.
  const std::size_t first = line.find(mark);
  if (first == std::string_view::npos) {
    add_record(line.substr(line.find(whole)), place);
    return;
  }
  for (std::size_t at = first; at != std::string_view::npos; at = line.find(mark, at + 1)) {
    if (add_piece(line.substr(at + mark.size()), place)) {
      return;
    }
  }
  problems_.push_back(fmt::format("{}: a line of a record is damaged", place));
}

bool record_finder::add_piece(std::string_view line, const std::string& place) {
  if (line.ends_with('\r')) {
    line.remove_suffix(1); // of a terminal
  }
  const auto got = parse_piece(line);
  if (!got) {
    return false;
  }
  pieces& its = pieces_[got->key];
  if (its.parts.empty()) {
    its.parts.resize(got->parts);
    its.place = place;
  }
  std::string& slot = its.parts[got->part - 1];
  if (!slot.empty() && slot != got->piece) {
    problems_.push_back(
        fmt::format("{}: another record of the same rank than in {}", place, its.place));
    return true;
  }
  slot = got->piece;
  if (!its.whole && std::ranges::none_of(its.parts, &std::string::empty)) {
    its.whole = true; // kept, since lines may come twice
    add_record(joined(its.parts, ""), its.place);
  }
  return true;
}

void record_finder::add_record(std::string_view text, const std::string& place) {
  try {
    found_(read_record(text), place);
  } catch (const error& e) {
    problems_.push_back(fmt::format("{}: {}: {}", place, e.asked(), e.answered()));
  }
}

void record_finder::finish() {
  for (const auto& [key, its] : pieces_) {
    if (!its.whole) {
      const auto missing = std::ranges::count_if(its.parts, &std::string::empty);
      problems_.push_back(fmt::format("{}: {} of {} lines of the record are missing", its.place,
                                      missing, its.parts.size()));
    }
  }
  pieces_.clear();
}

} // namespace nodewise::survey
