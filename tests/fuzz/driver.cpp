// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Calls a fuzz target with mutations of its seeds. Input number N is the same on every machine and
// in every run: a failure says how to repeat it.
//
//   fuzz_NAME [INPUTS [FIRST]]
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include "fuzz/fuzz.hpp"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

std::string current;                   // NOLINT: read when the process dies
unsigned long long current_number = 0; // NOLINT

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(next() % bound);
  }

 private:
  std::uint64_t state_;
};

constexpr std::size_t longest = 4096;

/// A piece of a text, of up to 16 bytes, or up to the whole.
std::string piece(const std::string& text, generator& random) {
  const std::size_t begin = random.below(text.size() + 1);
  return text.substr(begin, random.below(random.below(4) == 0 ? text.size() + 1 : 16));
}

void mutate(std::string& text, const std::vector<std::string>& seeds, generator& random) {
  const std::size_t at = random.below(text.size() + 1);
  const std::size_t length = random.below(8);
  switch (random.below(8)) {
  case 0: // a bit
    if (at < text.size()) {
      text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
    }
    break;
  case 1: // any byte
    text.insert(at, 1, static_cast<char>(random.below(256)));
    break;
  case 2:
    text.erase(at, length);
    break;
  case 3:
    text.insert(at, piece(text, random));
    break;
  case 4:
    text.insert(at, piece(seeds[random.below(seeds.size())], random));
    break;
  case 5: // the end of another
    text = text.substr(0, at) + piece(seeds[random.below(seeds.size())], random);
    break;
  case 6: { // another number
    const std::size_t digit = text.find_first_of("0123456789", at);
    if (digit != std::string::npos) {
      const std::size_t end = std::min(text.find_first_not_of("0123456789", digit), text.size());
      const std::uint64_t number = random.next() >> random.below(64);
      text.replace(digit, end - digit, std::to_string(number));
    }
    break;
  }
  case 7: // a byte of a seed
    if (at < text.size()) {
      const std::string& seed = seeds[random.below(seeds.size())];
      text[at] = seed.empty() ? '0' : seed[random.below(seed.size())];
    }
    break;
  default:
    break;
  }
  text.resize(std::min(text.size(), longest));
}

void make_input(unsigned long long number, const std::vector<std::string>& seeds) {
  generator random(number);
  current_number = number;
  current = seeds[number < seeds.size() ? number : random.below(seeds.size())];
  // The seeds themselves come first.
  for (std::size_t left = number < seeds.size() ? 0 : 1 + random.below(5); left > 0; --left) {
    mutate(current, seeds, random);
  }
}

/// Shows the input that the process died of. No allocation: the heap may be what is broken.
void tell() {
  static bool told = false;
  if (told) {
    return;
  }
  told = true;
  char line[160];
  int length = std::snprintf(line, sizeof line,
                             "\ninput %llu (repeat it: 1 %llu), %zu bytes: ", current_number,
                             current_number, current.size());
  (void)!::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  for (const char c : current) {
    const bool plain = c >= ' ' && c <= '~' && c != '\\';
    length = std::snprintf(line, sizeof line, plain ? "%c" : "\\x%02x",
                           static_cast<unsigned>(static_cast<unsigned char>(c)));
    (void)!::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  }
  (void)!::write(STDERR_FILENO, "\n", 1);
}

void on_signal(int signal) {
  tell();
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

} // namespace

int main(int argc, char** argv) {
  const unsigned long long inputs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
  const unsigned long long first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(tell);
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, on_signal);
  }
  const std::vector<std::string> seeds = nodewise::fuzz::seeds();
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&](unsigned long long done, const char* end) {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%s: %llu inputs, %.1f s, %.0f inputs/s%s", argv[0], done, seconds,
                static_cast<double>(done) / std::max(seconds, 1e-9), end);
    std::fflush(stdout);
  };
  for (unsigned long long done = 0; done < inputs; ++done) {
    make_input(first + done, seeds);
    // A buffer of just this size: what reads beyond it is seen by a sanitizer.
    const std::vector<std::uint8_t> bytes(current.begin(), current.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    if (done % 1000000 == 999999 && done + 1 < inputs) {
      report(done + 1, ::isatty(STDOUT_FILENO) != 0 ? "\r" : "\n");
    }
  }
  report(inputs, "\n");
  return 0;
}
