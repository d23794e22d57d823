// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include "topology/json_field.hpp"

namespace nodewise {

namespace {

constexpr std::size_t largest_file = std::size_t{100} << 20;
constexpr int deepest = 64;

/// Everything up to the limit, of a file or a pipe.
std::string read_whole(const std::filesystem::path& file, const std::string& asked) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  ssize_t got = fd < 0 ? -1 : 1;
  while (got > 0 && text.size() <= largest_file) {
    char buffer[65536];
    do {
      got = ::read(fd, buffer, sizeof buffer);
    } while (got < 0 && errno == EINTR);
    if (got > 0) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
  }
  const int failure = got < 0 ? errno : 0;
  if (fd >= 0) {
    ::close(fd);
  }
  if (failure != 0) {
    throw error(error_kind::input, asked, "the file cannot be read", "check the name of the file",
                failure);
  }
  if (text.size() > largest_file) {
    throw error(error_kind::input, asked, "more than 100 MiB",
                "name a file that nodewise wrote, or one in the form of docs/formats.md");
  }
  return text;
}

/// Watches the parser: JSON itself allows any depth, and a key twice.
class parse_guard {
 public:
  using json = nlohmann::ordered_json;

  explicit parse_guard(const std::string& asked) : asked_(&asked) {}

  void see(int depth, json::parse_event_t event, const json& parsed) {
    if (depth > deepest) {
      throw error(error_kind::input, *asked_,
                  "more than " + std::to_string(deepest) + " levels of nesting",
                  "write the file in the form of docs/formats.md");
    }
    if (event == json::parse_event_t::object_start) {
      keys_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == json::parse_event_t::key &&
               !keys_.back().insert(parsed.get<std::string>()).second) {
      throw error(error_kind::input, *asked_,
                  "the field '" + parsed.get<std::string>() + "' is given twice",
                  "keep one of them");
    }
  }

 private:
  const std::string* asked_;
  std::vector<std::set<std::string>> keys_;
};

} // namespace

nlohmann::ordered_json parse_json(std::string_view text, const std::string& asked) {
  parse_guard guard(asked);
  try {
    return nlohmann::ordered_json::parse(text.begin(), text.end(),
                                         [&guard](int depth,
                                                  nlohmann::ordered_json::parse_event_t event,
                                                  nlohmann::ordered_json& parsed) {
                                           guard.see(depth, event, parsed);
                                           return true;
                                         });
  } catch (const nlohmann::ordered_json::exception& e) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    const std::string_view what = e.what();
    const std::size_t start = what.find("] ");
    const std::size_t skipped = start == std::string_view::npos ? 0 : start + 2;
    throw error(error_kind::input, asked, "no JSON: " + std::string(what.substr(skipped)),
                "`python3 -m json.tool FILE` shows the place");
  }
}

nlohmann::ordered_json read_json_file(const std::filesystem::path& file) {
  const std::string asked = "the file " + file.string();
  return parse_json(read_whole(file, asked), asked);
}

} // namespace nodewise
