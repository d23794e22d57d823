// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/threads/pin.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "sys/raw.hpp"

// glibc 2.32 and later.
#pragma weak pthread_attr_getsigmask_np
#pragma weak pthread_attr_setsigmask_np

namespace nodewise::agent {

namespace {

constexpr std::size_t word_bits = sizeof(unsigned long) * 8;

const cpu_set_t* as_set(const cpu_mask& mask) noexcept {
  return reinterpret_cast<const cpu_set_t*>(mask.words);
}

/// The words of pthread_attr_t that lead to an affinity in this C library's layout. They point to
/// memory of the attributes' owner, so a copy of the attributes must not have them.
struct attribute_words {
  static constexpr std::size_t count = sizeof(pthread_attr_t) / sizeof(unsigned long);
  bool owned[count] = {};
  unsigned long fresh[count] = {};
  bool found = false;

  void learn() noexcept {
    pthread_attr_t with;
    if (::pthread_attr_init(&with) != 0) {
      return;
    }
    unsigned long after[count];
    std::memcpy(fresh, &with, sizeof fresh);
    const unsigned long any = 1;
    const int failure =
        ::pthread_attr_setaffinity_np(&with, sizeof any, reinterpret_cast<const cpu_set_t*>(&any));
    std::memcpy(after, &with, sizeof after);
    ::pthread_attr_destroy(&with);
    for (std::size_t i = 0; failure == 0 && i < count; ++i) {
      owned[i] = after[i] != fresh[i];
      found = found || owned[i];
    }
  }

  void copy(const pthread_attr_t& from, pthread_attr_t& into) const noexcept {
    unsigned long words[count];
    std::memcpy(words, &from, sizeof words);
    for (std::size_t i = 0; i < count; ++i) {
      words[i] = owned[i] ? fresh[i] : words[i];
    }
    std::memcpy(&into, words, sizeof words);
  }
};
static_assert(sizeof(pthread_attr_t) % sizeof(unsigned long) == 0);

constinit attribute_words layout;

/// For attributes without an affinity the C library returns all bits set. An affinity that was set
/// is shorter than the buffer, and the rest is zero, or it is longer: EINVAL.
bool has_affinity(const pthread_attr_t& attributes) noexcept {
  unsigned long words[max_cpus / word_bits + 1];
  const int answer =
      ::pthread_attr_getaffinity_np(&attributes, sizeof words, reinterpret_cast<cpu_set_t*>(words));
  if (answer != 0) {
    return answer == EINVAL;
  }
  return std::ranges::any_of(words, [](unsigned long word) { return ~word != 0; });
}

/// The signal mask is behind the same pointer as the affinity.
int copy_signal_mask(const pthread_attr_t& from, pthread_attr_t& into) noexcept {
  sigset_t blocked;
  if (pthread_attr_getsigmask_np == nullptr || pthread_attr_setsigmask_np == nullptr ||
      ::pthread_attr_getsigmask_np(&from, &blocked) != 0) {
    return 0; // there is none
  }
  return ::pthread_attr_setsigmask_np(&into, &blocked);
}

std::size_t number(const char*& at) noexcept {
  std::size_t value = 0;
  for (; *at >= '0' && *at <= '9'; ++at) {
    value = value > max_cpus ? value : value * 10 + static_cast<std::size_t>(*at - '0');
  }
  return value;
}

void cut(char (&text)[NODEWISE_AGENT_NAME_BYTES]) noexcept {
  std::memcpy(text + sizeof text - sizeof "...", "...", sizeof "...");
}

} // namespace

bool place_list::read(const char* text) noexcept {
  if (text == nullptr || *text == '\0' || *text == ';') {
    return true;
  }
  const char* const end = text + std::strcspn(text, ";");
  const auto places = static_cast<std::size_t>(std::count(text, end, '|')) + 1;
  offset_ =
      static_cast<unsigned*>(sys::raw::map(places * sizeof *offset_, PROT_READ | PROT_WRITE, 0));
  if (offset_ == nullptr) {
    return false;
  }
  text_ = text;
  for (count_ = 1; count_ < places; ++count_) {
    const char* const before = text + offset_[count_ - 1];
    offset_[count_] = static_cast<unsigned>(std::strchr(before, '|') + 1 - text);
  }
  layout.learn();
  return true;
}

void place_list::mask(std::size_t place, cpu_mask& into) const noexcept {
  std::memset(&into, 0, sizeof into);
  std::size_t highest = 0;
  for (const char* at = text_ + offset_[place]; *at >= '0' && *at <= '9';
       at += *at == ',' ? 1 : 0) {
    const std::size_t first = number(at);
    const std::size_t last = *at == '-' ? number(++at) : first;
    for (std::size_t cpu = first; cpu <= last && cpu < max_cpus; ++cpu) {
      into.words[cpu / word_bits] |= 1UL << (cpu % word_bits);
      highest = std::max(highest, cpu);
    }
  }
  into.bytes = (highest / word_bits + 1) * sizeof into.words[0];
}

void place_list::text(std::size_t place, char (&into)[NODEWISE_AGENT_NAME_BYTES]) const noexcept {
  const char* const begin = text_ + offset_[place];
  const std::size_t length = std::strcspn(begin, "|;");
  std::memset(into, 0, sizeof into);
  std::memcpy(into, begin, length < sizeof into ? length : sizeof into - 1);
  if (length >= sizeof into) {
    cut(into);
  }
}

void write_mask(const cpu_mask& mask, char (&into)[NODEWISE_AGENT_NAME_BYTES]) noexcept {
  const std::size_t cpus = mask.bytes * 8;
  const auto is_in = [&](std::size_t cpu) {
    return cpu < cpus && (mask.words[cpu / word_bits] >> (cpu % word_bits) & 1) != 0;
  };
  std::memset(into, 0, sizeof into);
  std::size_t used = 0;
  for (std::size_t first = 0; first < cpus; ++first) {
    if (!is_in(first)) {
      continue;
    }
    std::size_t last = first;
    while (is_in(last + 1)) {
      ++last;
    }
    char range[48];
    const int length = std::snprintf(range, sizeof range, last == first ? "%s%zu" : "%s%zu-%zu",
                                     used == 0 ? "" : ",", first, last);
    if (used + static_cast<std::size_t>(length) >= sizeof into) {
      cut(into);
      return;
    }
    std::memcpy(into + used, range, static_cast<std::size_t>(length));
    used += static_cast<std::size_t>(length);
    first = last;
  }
}

bool have_affinity(const pthread_attr_t* attributes) noexcept {
  if (attributes != nullptr) {
    return has_affinity(*attributes);
  }
  pthread_attr_t defaults;
  if (::pthread_getattr_default_np(&defaults) != 0) {
    return false;
  }
  const bool has = has_affinity(defaults);
  ::pthread_attr_destroy(&defaults);
  return has;
}

placed_attributes::placed_attributes(const pthread_attr_t* original,
                                     const cpu_mask& where) noexcept {
  if (original == nullptr) {
    failure_ = ::pthread_getattr_default_np(&copy_);
    copied_ = failure_ == 0;
  } else if (layout.found) {
    layout.copy(*original, copy_);
    copied_ = true;
    failure_ = copy_signal_mask(*original, copy_);
  } else {
    failure_ = ENOTSUP;
  }
  if (failure_ == 0) {
    failure_ = ::pthread_attr_setaffinity_np(&copy_, where.bytes, as_set(where));
  }
}

placed_attributes::~placed_attributes() {
  if (copied_) {
    ::pthread_attr_destroy(&copy_);
  }
}

} // namespace nodewise::agent
