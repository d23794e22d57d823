// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "profile/profile_json.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "profile/profile_json_fields.hpp"

namespace nodewise::profile {

namespace {

constexpr std::size_t most_threads = 1U << 20;
constexpr int most_int = std::numeric_limits<int>::max();

std::uint64_t address(const json_field& from) {
  const std::string text = from.text();
  const auto value = text.starts_with("0x") ? parse_number<std::uint64_t>(text.substr(2), 16)
                                            : std::optional<std::uint64_t>();
  if (!value) {
    from.refuse(fmt::format("'{}' is not an address", text), "write for example \"0x1f3\"");
  }
  return *value;
}

template <class Runs>
concept text_runs = requires(Runs& runs, run_bounds in) { read("", in, runs); };

/// Reads values by their type, and keeps the bounds that later ones must fit.
class reader {
 public:
  template <class Of>
    requires requires(const Of& of) { fields_of(of); }
  void take(const json_field& from, form /*as*/, Of& into) {
    const auto member = [&](const auto& what) {
      const auto now = from.find(what.name);
      const auto field = now ? now : from.find(what.name_in_1);
      const bool may_lack = what.is_present != nullptr && !what.is_present(into);
      if (field || (!may_lack && what.as != form::newer)) {
        take(field ? *field : from.at(what.name), what.as, into.*what.value);
      }
    };
    const auto all = [&](const auto&... each) {
      from.allow_only({each.name..., each.name_in_1...});
      (member(each), ...);
    };
    std::apply(all, fields_of(into));
  }
  template <class Value>
    requires(!text_runs<std::vector<Value>>)
  void take(const json_field& from, form as, std::vector<Value>& into) {
    for (const json_field& each : from.elements()) {
      take(each, as, into.emplace_back());
    }
  }
  void take(const json_field& from, form as, std::string& into) {
    into = from.text();
    if (as == form::processors) {
      (void)from.ids<cpu_id>();
    }
  }

 private:
  template <class Value>
  void take(const json_field& from, form as, std::optional<Value>& into) {
    Value value{};
    take(from, as, value);
    into = std::move(value);
  }
  template <class Enum>
    requires(!words_of<Enum>.empty())
  void take(const json_field& from, form /*as*/, Enum& into) {
    into = static_cast<Enum>(from.one_of(words_of<Enum>));
  }
  void take(const json_field& from, form /*as*/, node_id& into) {
    const bool unknown = from.is_text() && from.text() == "unknown";
    into = unknown ? unknown_node : node_id{from.small_number(0, most_int)};
  }
  void take(const json_field& from, form /*as*/, bool& into) { into = from.truth(); }
  void take(const json_field& from, form as, int& into) {
    into = from.small_number(as == form::from_one ? 1 : 0, most_int);
  }
  void take(const json_field& from, form /*as*/, double& into) {
    into = from.number();
    if (into < 0) {
      from.refuse("must not be negative", "write 0 or more");
    }
  }
  void take(const json_field& from, form as, std::uint64_t& into) {
    if (as == form::thread && bounds_.threads == 0) {
      from.refuse("the program has no threads", "name this one under \"threads\"");
    }
    into = as == form::address        ? address(from)
           : as == form::thread       ? from.whole_number(0, bounds_.threads - 1)
           : as == form::number       ? from.whole_number(0, most_threads)
           : as == form::team         ? from.whole_number(1, most_threads)
           : as == form::inner_number ? from.whole_number(0, inner_threads_ - 1)
                                      : from.whole_number();
    bounds_.pages = as == form::pages ? into : bounds_.pages;
  }
  void take(const json_field& from, form as, std::vector<std::size_t>& teams) {
    take<std::size_t>(from, as, teams);
    inner_threads_ = teams.size() > 1 ? 1 : most_threads + 1;
    for (const std::size_t size : teams) {
      inner_threads_ = inner_threads_ > most_threads ? inner_threads_ : inner_threads_ * size;
    }
    if (inner_threads_ > most_threads) {
      from.refuse("not the sizes of nested teams", "write two sizes or more");
    }
  }
  void take(const json_field& from, form as, std::vector<thread>& into) {
    take<thread>(from, as, into);
    bounds_.threads = into.size();
    if (into.size() > most_threads) {
      from.refuse("more than a million threads", "remove some");
    }
  }
  template <text_runs Runs>
  void take(const json_field& from, form /*as*/, Runs& into) {
    if (!read(from.text(), bounds_, into)) {
      from.refuse("invalid runs of pages",
                  "runs ascend, end with the object, and name threads of its program; "
                  "see share/doc/nodewise/formats.md, profile");
    }
  }
  void take(const json_field& from, form as, std::vector<use_run>& into) {
    std::uint64_t end = 0;
    for (const json_field& each : from.elements()) {
      take(each, as, into.emplace_back());
      if (into.back().first < end) {
        each.refuse("an earlier run has these pages", "write runs in ascending order");
      }
      end = into.back().first + into.back().count;
    }
  }

  run_bounds bounds_;
  std::size_t inner_threads_ = 0;
};

using json = nlohmann::ordered_json;

/// Writes values by their type.
struct writer {
  template <class Value>
  static json write(form /*as*/, const Value& what) {
    if constexpr (requires { fields_of(what); }) {
      json made = json::object();
      const auto write_member = [&](const auto& member) {
        if (member.is_present == nullptr || member.is_present(what)) {
          made[member.name] = write(member.as, what.*member.value);
        }
      };
      std::apply([&](const auto&... each) { (write_member(each), ...); }, fields_of(what));
      return made;
    } else if constexpr (requires { to_string(what); }) {
      return to_string(what);
    } else if constexpr (requires { text_of(what); }) {
      return text_of(what);
    } else {
      return what;
    }
  }
  static json write(form as, std::uint64_t what) {
    return as == form::address ? json(fmt::format("{:#x}", what)) : json(what);
  }
  static json write(form /*as*/, node_id which) {
    return which == unknown_node ? json("unknown") : json(to_int(which));
  }
  template <class Value>
  static json write(form as, const std::optional<Value>& what) {
    return write(as, *what);
  }
  template <class Value>
    requires(!requires(const std::vector<Value>& what) { text_of(what); })
  static json write(form as, const std::vector<Value>& what) {
    json all = json::array();
    for (const Value& each : what) {
      all.push_back(write(as, each));
    }
    return all;
  }
};

std::string node_text(node_id node) {
  return node == unknown_node ? "-" : std::to_string(to_int(node));
}

/// The shortest text that reads back as the same value.
std::string amount_text(double amount) {
  std::array<char, 32> digits{};
  char* const end = std::to_chars(digits.begin(), digits.end(), amount).ptr;
  return {digits.begin(), end};
}

/// Parses a text from left to right. After the first error every further read fails.
class word_reader {
 public:
  explicit word_reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }
  /// False if the next character is another one.
  bool letter(char which) noexcept {
    const bool is_next = good_ && rest_.starts_with(which);
    rest_.remove_prefix(is_next ? 1 : 0);
    return is_next;
  }
  void expect(char which) noexcept { good_ = letter(which) && good_; }
  template <class Number>
  Number number() noexcept {
    Number value{};
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    good_ = good_ && problem == std::errc{};
    rest_.remove_prefix(good_ ? static_cast<std::size_t>(end - rest_.data()) : 0);
    return value;
  }
  node_id node() noexcept {
    if (letter('-')) {
      return unknown_node;
    }
    const int value = number<int>();
    good_ = good_ && value >= 0;
    return node_id{value};
  }
  void require(bool holds) noexcept { good_ = good_ && holds; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

/// "FIRST+COUNT", not before `from`.
void read_pages(word_reader& words, const run_bounds& in, std::uint64_t from, auto& into) {
  into.first = words.number<std::uint64_t>();
  words.expect('+');
  into.count = words.number<std::uint64_t>();
  words.require(into.first >= from && into.first < in.pages && into.count > 0 &&
                into.count <= in.pages - into.first);
}

thread_index read_thread(word_reader& words, const run_bounds& in) {
  const auto by = words.number<std::size_t>();
  words.require(by < in.threads);
  return by;
}

/// Words separated by blanks; `rest` reads each one after its pages.
template <class Run, class Rest>
bool read_all(std::string_view text, const run_bounds& in, std::vector<Run>& into, Rest rest) {
  word_reader words(text);
  std::uint64_t from = 0;
  while (words.good() && !words.done()) {
    if (!into.empty()) {
      words.expect(' ');
    }
    Run run;
    read_pages(words, in, from, run);
    words.expect('@');
    rest(words, run);
    from = run.first + run.count;
    into.push_back(run);
  }
  return words.good();
}

} // namespace

profile profile_from_json(const json_field& document) {
  check_schema(document, schema, older_schema);
  document.allow_only({"schema", "nodewise", "machine", "settings", "command", "page_bytes",
                       "evidence", "overhead", "memory", "programs"});
  profile made;
  reader in;
  in.take(document.at("command"), form::usual, made.command);
  made.page_bytes = document.at("page_bytes").whole_number(1, std::uint64_t{1} << 30);
  in.take(document.at("evidence"), form::usual, made.seen);
  in.take(document.at("overhead"), form::usual, made.cost);
  in.take(document.at("memory"), form::usual, made.memory);
  in.take(document.at("programs"), form::usual, made.programs);
  return made;
}

void append(json& document, const profile& what) {
  document["command"] = what.command;
  document["page_bytes"] = what.page_bytes;
  document["evidence"] = writer::write(form::usual, what.seen);
  document["overhead"] = writer::write(form::usual, what.cost);
  document["memory"] = writer::write(form::usual, what.memory);
  document["programs"] = writer::write(form::usual, what.programs);
}

std::string text_of(const std::vector<resident_run>& runs) {
  return joined(runs, " ", [](const resident_run& run) {
    return fmt::format("{}+{}@{}", run.first, run.count, node_text(run.node));
  });
}

std::string text_of(const std::vector<touched_run>& runs) {
  return joined(runs, " ", [](const touched_run& run) {
    return fmt::format("{}+{}@{}/{}", run.first, run.count, run.by ? std::to_string(*run.by) : "-",
                       node_text(run.from));
  });
}

std::string text_of(const use_run& run) {
  const auto user = [](const use& of) {
    return fmt::format("{}:{}", of.by, amount_text(of.amount));
  };
  return fmt::format("{}+{}{}{}", run.first, run.count, run.by.empty() ? "" : " ",
                     joined(run.by, ",", user));
}

bool read(std::string_view text, const run_bounds& in, std::vector<resident_run>& into) {
  return read_all(text, in, into,
                  [](word_reader& words, resident_run& run) { run.node = words.node(); });
}

bool read(std::string_view text, const run_bounds& in, std::vector<touched_run>& into) {
  return read_all(text, in, into, [&](word_reader& words, touched_run& run) {
    if (!words.letter('-')) {
      run.by = read_thread(words, in);
    }
    words.expect('/');
    run.from = words.node();
  });
}

bool read(std::string_view text, const run_bounds& in, use_run& into) {
  word_reader words(text);
  read_pages(words, in, 0, into);
  words.expect(' ');
  do {
    use each;
    each.by = read_thread(words, in);
    words.expect(':');
    each.amount = words.number<double>();
    words.require(std::isfinite(each.amount) && each.amount > 0 &&
                  (into.by.empty() || into.by.back().by < each.by));
    into.by.push_back(each);
  } while (words.letter(','));
  return words.good() && words.done();
}

} // namespace nodewise::profile
