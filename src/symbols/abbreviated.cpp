// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Long names of C++ functions, shortened for tables.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "symbols/names.hpp"

namespace nodewise::symbols {

namespace {

constexpr std::string_view unnamed_scope = "(anonymous namespace)";

// Longer ones first.
constexpr auto operators = std::to_array<std::string_view>(
    {"<=>", "->*", "<<=", ">>=", "()", "[]", "->", "<<", ">>", "<=", ">=", "==", "!=",
     "&&",  "||",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<",
     ">",   "=",   "+",   "-",   "*",  "/",  "%",  "!",  "&",  "|",  "^",  "~",  ","});

bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The length of "operator<<", "operator()" or, of a conversion, "operator" at this place; 0 if
/// there is none.
std::size_t operator_length(std::string_view text, std::size_t at) {
  constexpr std::string_view word = "operator";
  const std::string_view after = text.substr(std::min(at + word.size(), text.size()));
  if (!text.substr(at).starts_with(word) || (at > 0 && is_part_of_word(text[at - 1])) ||
      (!after.empty() && is_part_of_word(after.front()))) {
    return 0;
  }
  const auto* const found = std::ranges::find_if(
      operators, [&](std::string_view symbol) { return after.starts_with(symbol); });
  return word.size() + (found == operators.end() ? 0 : found->size());
}

/// The end of the brackets that open at this place. Those inside need not be in pairs: a closing
/// bracket also closes what was opened after its partner.
std::size_t end_of_brackets(std::string_view text, std::size_t at) {
  constexpr std::string_view opening = "(<{[";
  constexpr std::string_view closing = ")>}]";
  std::string open;
  for (; at < text.size(); ++at) {
    if (const std::size_t length = operator_length(text, at); length != 0) {
      at += length - 1;
      continue;
    }
    if (opening.find(text[at]) != opening.npos) {
      open += text[at];
    }
    const std::size_t kind = closing.find(text[at]);
    if (kind == closing.npos) {
      continue;
    }
    const bool is_arrow = text[at] == '>' && text[at - 1] == '-';
    // ">" may be an operator in an expression, which the demangler puts into parentheses.
    if (text[at] == '>' ? !is_arrow && open.back() == '<' : open.find(opening[kind]) != open.npos) {
      open.resize(open.rfind(opening[kind]));
    }
    if (open.empty()) {
      return at + 1;
    }
  }
  return text.size();
}

/// "{lambda(int)#1}" -> "{lambda#1}".
std::string without_arguments(std::string_view braces) {
  std::string kept;
  for (std::size_t i = 0; i < braces.size();) {
    const bool opens = braces[i] == '(' || braces[i] == '<';
    kept += opens ? "" : std::string(1, braces[i]);
    i = opens ? end_of_brackets(braces, i) : i + 1;
  }
  return kept;
}

/// Writes a name without its return type and without what is in brackets.
class outline {
 public:
  explicit outline(std::string_view name) : name_(name) {}

  std::string text() {
    for (std::size_t at = 0; at < name_.size();) {
      at += add(at);
    }
    return std::move(made_);
  }

 private:
  /// Returns how much of the name it has used.
  std::size_t add(std::size_t at) {
    const std::string_view rest = name_.substr(at);
    if (rest.starts_with(unnamed_scope)) {
      made_ += unnamed_scope;
      return unnamed_scope.size();
    }
    if (const std::size_t length = operator_length(name_, at); length != 0) {
      made_ += rest.substr(0, length);
      blanks_stay_ = true; // "operator bool", "operator<< <char>"
      return length;
    }
    if (std::string_view("(<{[").find(rest.front()) != std::string_view::npos) {
      const std::size_t length = end_of_brackets(name_, at) - at;
      add_brackets(rest.substr(0, length));
      return length;
    }
    if (rest.front() == ' ' && !blanks_stay_ && !rest.starts_with(" #")) {
      made_.clear(); // the text until here is a return type
    } else {
      made_ += rest.front();
    }
    return 1;
  }

  void add_brackets(std::string_view brackets) {
    const char kind = brackets.front();
    if (kind == '{') {
      made_ += without_arguments(brackets);
    } else if (kind == '[' || brackets == "()" || (kind == '(' && made_.ends_with(' '))) {
      made_ += brackets;         // "[clone .constprop.0]", "()", "a.cpp:9 (through b.hpp:2)"
    } else if (!made_.empty()) { // otherwise they belong to a return type, as in "decltype (x) f()"
      made_ += kind == '<' ? "<...>" : "(...)";
    }
    blanks_stay_ = blanks_stay_ || (kind == '(' && !made_.empty());
  }

  std::string_view name_;
  std::string made_;
  bool blanks_stay_ = false; // of " const" and " #2" after the parameters
};

/// "ns::f..." for "_ZN2ns1fIiEEvT_": the plain names at the beginning of a name that the demangler
/// cannot read, as GCC makes for some lambdas in template arguments. Empty for others.
std::string beginning_of_mangled(std::string_view name) {
  std::string scopes;
  if (!name.starts_with("_Z")) {
    return scopes;
  }
  name.remove_prefix(std::min(name.find_first_not_of("NKZL", 2), name.size()));
  for (;;) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), length);
    const auto digits = static_cast<std::size_t>(end - name.data());
    if (error != std::errc() || length == 0 || length > name.size() - digits) {
      return scopes.empty() ? scopes : scopes + "...";
    }
    scopes += scopes.empty() ? "" : "::";
    scopes += name.substr(digits, length);
    name.remove_prefix(digits + length);
  }
}

} // namespace

std::string abbreviated(std::string_view name, std::size_t longest) {
  constexpr std::string_view dots = "...";
  if (name.size() <= longest) {
    return std::string(name);
  }
  const bool is_line = name.find_first_of("(<") == name.find("(through ");
  std::string made = is_line ? beginning_of_mangled(name) : outline(name).text();
  if (made.empty()) {
    made = name;
  }
  if (made.size() <= longest) {
    return made;
  }
  // The end distinguishes functions of one namespace.
  const std::size_t room = longest - std::min(longest, dots.size());
  std::size_t begin = made.find("::", made.size() - room);
  if (begin == made.npos) {
    begin = made.size() - room;
    while (begin < made.size() && (static_cast<unsigned char>(made[begin]) & 0xC0U) == 0x80U) {
      ++begin; // not in the middle of a character
    }
  }
  return std::string(dots) + made.substr(begin);
}

} // namespace nodewise::symbols
