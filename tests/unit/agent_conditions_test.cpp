// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Rules that ask who called the caller, and in which order objects are made.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <ucontext.h>

#include "agent/alloc/front.hpp"
#include "agent/alloc/rules.hpp"
#include "agent/code_sieve.hpp"
#include "agent/modules.hpp"
#include "agent/own_stack.hpp"
#include "agent/page.hpp"
#include "unit/parsed_settings.hpp"

namespace nodewise::agent {
namespace {

// ThreadSanitizer tells itself of each call by its return address, which its code then leaves on
// the stack of functions further out.
#if defined(__SANITIZE_THREAD__)
constexpr bool returns_are_kept_elsewhere = true;
#elif defined(__has_feature)
constexpr bool returns_are_kept_elsewhere = __has_feature(thread_sanitizer);
#else
constexpr bool returns_are_kept_elsewhere = false;
#endif

object large(std::size_t bytes, std::uint32_t kind = NODEWISE_AGENT_HEAP) {
  object made{};
  made.bytes = made.placed_bytes = made.mapped_bytes = bytes;
  made.kind = kind;
  return made;
}

/// The rules that decide about `count` objects of one size, made one after the other.
std::vector<int> deciding(const settings& asked, std::size_t count, std::size_t bytes) {
  std::vector<int> rules;
  for (std::size_t i = 0; i < count; ++i) {
    object what = large(bytes);
    EXPECT_TRUE(choose(asked, what));
    rules.push_back(what.rule);
  }
  return rules;
}

TEST(AgentConditions, ObjectsAreCountedByRule) {
  number_afresh();
  const parsed all("v3;threshold=1000;rule=least=5000,nth=1-3:local;rule=least=5000,nth=0-1:bind@0;"
                   "rule=nth=2-18446744073709551615:local");
  // The second rule counts also those that the first has decided about.
  EXPECT_EQ(deciding(all.read, 5, 6000), (std::vector<int>{1, 0, 0, 2, 2}));
  EXPECT_EQ(deciding(all.read, 1, 2000), (std::vector<int>{2}));
  number_afresh();
  EXPECT_EQ(deciding(all.read, 2, 2000), (std::vector<int>{-1, -1}));
}

TEST(AgentConditions, AnObjectKeepsItsNumberWhenItIsResized) {
  number_afresh();
  const parsed all("v3;threshold=1000;rule=least=5000,nth=0-1:local;rule=nth=1-2:local");
  object first = large(6000);
  object second = large(6000);
  ASSERT_TRUE(choose(all.read, first));
  ASSERT_TRUE(choose(all.read, second));
  for (int turn = 0; turn < 3; ++turn) {
    first.bytes += 1000;
    second.bytes += 1000;
    ASSERT_TRUE(choose(all.read, first));
    ASSERT_TRUE(choose(all.read, second));
    EXPECT_EQ(first.rule, 0);
    EXPECT_EQ(second.rule, 1);
  }
  first.bytes = 2000; // now the second rule counts, whose number it has not got
  ASSERT_TRUE(choose(all.read, first));
  EXPECT_EQ(first.rule, -1);
}

/// The byte before a return address, as a condition.
std::string place(const void* back) {
  const char* const call = static_cast<const char*>(back) - 1;
  const module_of module(call);
  const auto offset = static_cast<std::size_t>(call - module.start);
  std::string name;
  for (const char* each = module.name; *each != '\0'; ++each) { // as the launcher does
    char text[4];
    std::snprintf(text, sizeof text, "%%%02X",
                  static_cast<unsigned>(static_cast<unsigned char>(*each)));
    name += text;
  }
  return name + "+" + std::to_string(offset) + "-" + std::to_string(offset + 1);
}

struct seen_stack {
  const void* caller = nullptr;
  const void* outer = nullptr;
  const void* outermost = nullptr;
  const settings* asked = nullptr;
  const void* left_over = nullptr; ///< a word that stands on the stack for no reason
  bool here = true;
  rule_set above{};
};

[[gnu::noinline]] void ask(seen_stack& into) {
  into.caller = __builtin_return_address(0);
  if (into.asked != nullptr) {
    into.above = rules_above(*into.asked, into.caller);
  }
  asm volatile("" : : : "memory"); // no tail call
}
[[gnu::noinline]] void in_between(seen_stack& into) {
  into.outer = __builtin_return_address(0);
  ask(into);
  asm volatile("" : : : "memory");
}
[[gnu::noinline]] void from_here(seen_stack& into) {
  into.outermost = __builtin_return_address(0);
  const void* const left_over = into.left_over;
  asm volatile("" : : "r"(&left_over) : "memory");
  in_between(into);
  asm volatile("" : : "r"(&left_over) : "memory");
}
[[gnu::noinline]] void from_there(seen_stack& into) {
  in_between(into);
  asm volatile("" : : : "memory");
}

void* walk_there(void* into) {
  note_thread_stack(0);
  auto& seen = *static_cast<seen_stack*>(into);
  // One call for both ways, so that all addresses are the same.
  (seen.here ? from_here : from_there)(seen);
  return nullptr;
}

/// The same calls twice: the first tells where they return to.
class AgentAbove : public testing::Test {
 protected:
  void SetUp() override {
    note_main_stack();
    walk(nullptr);
  }

  /// In a thread whose stack is all zero, since what is left of earlier calls may look like
  /// returns.
  void walk(const settings* asked, bool here = true) {
    constexpr std::size_t bytes = std::size_t{1} << 20;
    seen.asked = asked;
    seen.above = {};
    seen.here = here;
    char* const stack = map_behind_page(bytes, 1);
    pthread_attr_t attributes;
    pthread_t thread{};
    ASSERT_NE(stack, nullptr);
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstack(&attributes, stack, bytes), 0);
    ASSERT_EQ(pthread_create(&thread, &attributes, walk_there, &seen), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
    unmap(stack - page_bytes(), page_bytes() + bytes);
  }
  [[nodiscard]] std::string rule_with(const std::vector<const void*>& above) const {
    std::string text = ";rule=code=" + place(seen.caller);
    for (const void* each : above) {
      text += ",above=" + place(each);
    }
    return text + ":local";
  }

  seen_stack seen;
};

TEST_F(AgentAbove, ReturnsAreFoundInTheirOrder) {
  const seen_stack first = seen;
  const parsed all("v3;threshold=1000" + rule_with({first.outer}) +
                   rule_with({first.outer, first.outermost}) +
                   rule_with({first.outermost, first.outer}) + rule_with({first.outermost}) +
                   ";rule=code=nobody+1-2,above=" + place(first.outer) + ":local");
  walk(&all.read);
  EXPECT_TRUE(seen.above.has(0));
  EXPECT_TRUE(seen.above.has(1));
  if (!returns_are_kept_elsewhere) {
    EXPECT_FALSE(seen.above.has(2)); // the other way round
  }
  EXPECT_TRUE(seen.above.has(3));
  EXPECT_FALSE(seen.above.has(4)); // another caller
  walk(&all.read, false);
  EXPECT_FALSE(seen.above.has(0)); // called from elsewhere
  EXPECT_FALSE(seen.above.has(1));
}

/// An address in this program's code that no call returns to.
const void* no_return() {
  const auto* at = reinterpret_cast<const unsigned char*>(&from_there) + 8;
  while (ends_call_of_x86_64(at, 8) || ends_call_of_aarch64(at, 8)) {
    ++at;
  }
  return at;
}

TEST_F(AgentAbove, AWordThatFollowsNoCallIsNoReturn) {
  seen.left_over = no_return();
  const parsed all("v3;threshold=1000" + rule_with({seen.left_over}) + rule_with({seen.outer}));
  walk(&all.read);
  EXPECT_FALSE(seen.above.has(0));
  EXPECT_TRUE(seen.above.has(1));
}

using bytes = std::vector<unsigned char>;

bool is_x86_call(const bytes& code) {
  return ends_call_of_x86_64(code.data() + code.size(), code.size());
}

TEST(AgentCalls, EachFormOfX86) {
  // As the GNU assembler encodes them.
  EXPECT_TRUE(is_x86_call({0xe8, 0x10, 0, 0, 0}));          // call f
  EXPECT_TRUE(is_x86_call({0x67, 0xe8, 0x10, 0, 0, 0}));    // addr32 call f
  EXPECT_TRUE(is_x86_call({0xff, 0xd0}));                   // *%rax
  EXPECT_TRUE(is_x86_call({0x41, 0xff, 0xd4}));             // *%r12
  EXPECT_TRUE(is_x86_call({0xff, 0x13}));                   // *(%rbx)
  EXPECT_TRUE(is_x86_call({0xff, 0x50, 0x18}));             // *24(%rax)
  EXPECT_TRUE(is_x86_call({0x41, 0xff, 0x14, 0x24}));       // *(%r12)
  EXPECT_TRUE(is_x86_call({0x41, 0xff, 0x54, 0x24, 0x10})); // *16(%r12)
  EXPECT_TRUE(is_x86_call({0xff, 0x15, 0x10, 0, 0, 0}));    // *f(%rip)
  EXPECT_TRUE(is_x86_call({0xff, 0x90, 0, 1, 0, 0}));       // *256(%rax)
  EXPECT_TRUE(is_x86_call({0xff, 0x94, 0xc8, 0, 1, 0, 0})); // *256(%rax,%rcx,8)
  EXPECT_TRUE(is_x86_call({0xff, 0x14, 0xc5, 0, 1, 0, 0})); // *256(,%rax,8)
}

TEST(AgentCalls, OtherInstructionsOfX86AreNone) {
  EXPECT_FALSE(is_x86_call({0xe9, 0x10, 0, 0, 0}));             // jmp f
  EXPECT_FALSE(is_x86_call({0xff, 0xe0}));                      // jmp *%rax
  EXPECT_FALSE(is_x86_call({0xff, 0x25, 0x10, 0, 0, 0}));       // jmp *f(%rip)
  EXPECT_FALSE(is_x86_call({0xff, 0x14}));                      // cut off
  EXPECT_FALSE(is_x86_call({0x48, 0x89, 0xe5, 0x41, 0x57}));    // mov, push
  EXPECT_FALSE(is_x86_call({0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0})); // nop
  EXPECT_FALSE(is_x86_call({0x10, 0, 0, 0}));
  EXPECT_FALSE(is_x86_call({}));
}

TEST(AgentCalls, OfAArch64) {
  const auto is_call = [](std::uint32_t word) {
    std::array<unsigned char, 4> code{};
    std::memcpy(code.data(), &word, sizeof word);
    return ends_call_of_aarch64(code.data() + code.size(), code.size());
  };
  EXPECT_TRUE(is_call(0x94000010));  // bl
  EXPECT_TRUE(is_call(0x97ffff00));  // bl backwards
  EXPECT_TRUE(is_call(0xd63f0200));  // blr x16
  EXPECT_TRUE(is_call(0xd63f0a1f));  // blraaz x16
  EXPECT_TRUE(is_call(0xd73f0a11));  // blraa x16, x17
  EXPECT_FALSE(is_call(0x14000010)); // b
  EXPECT_FALSE(is_call(0xd61f0200)); // br x16
  EXPECT_FALSE(is_call(0xd65f03c0)); // ret
  EXPECT_FALSE(is_call(0xd503201f)); // nop
}

TEST_F(AgentAbove, ItIsAConditionLikeAnyOther) {
  const parsed all("v3;threshold=1000;rule=above=" + place(seen.outer) + ":local");
  object what = large(2000);
  what.caller = seen.caller;
  ASSERT_TRUE(choose(all.read, what));
  EXPECT_EQ(what.rule, -1);
  walk(&all.read);
  what.above = seen.above;
  ASSERT_TRUE(choose(all.read, what));
  EXPECT_EQ(what.rule, 0);
}

TEST_F(AgentAbove, OtherThreadsHaveStacksOfTheirOwn) {
  bool known = false;
  bool unknown = true;
  std::thread([&] {
    unknown = own_stack(__builtin_frame_address(0), 100).empty();
    note_thread_stack(0);
    known = !own_stack(__builtin_frame_address(0), 100).empty();
  }).join();
  EXPECT_TRUE(unknown);
  EXPECT_TRUE(known);
}

// The second thread's stack is computed from the first one's, without a measurement.
TEST_F(AgentAbove, StacksOfTheCLibraryAreKnownWithoutMeasuring) {
  pthread_attr_t small;
  ASSERT_EQ(pthread_attr_init(&small), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&small, 200001), 0);
  std::array<char, 1> some{};
  for (const pthread_attr_t* attributes : std::array<pthread_attr_t*, 2>{nullptr, &small}) {
    static std::size_t wanted;
    static std::array<stack_words, 2> found;
    wanted = wanted_stack_bytes(attributes);
    EXPECT_NE(wanted, 0U);
    pthread_t thread{};
    const auto note = +[](void*) -> void* {
      note_thread_stack(0);
      found[0] = whole_stack();
      note_thread_stack(wanted);
      found[1] = whole_stack();
      return nullptr;
    };
    for (int k = 0; k < 2; ++k) {
      ASSERT_EQ(pthread_create(&thread, attributes, note, nullptr), 0);
      ASSERT_EQ(pthread_join(thread, nullptr), 0);
      EXPECT_EQ(found[0].data(), found[1].data());
      EXPECT_EQ(found[0].size(), found[1].size());
    }
  }
  EXPECT_EQ(pthread_attr_setstack(&small, some.data(), std::size_t{1} << 20), 0);
  EXPECT_EQ(wanted_stack_bytes(&small), 0U);
  EXPECT_EQ(pthread_attr_destroy(&small), 0);
}

TEST_F(AgentAbove, AStackThatNobodyKnowsIsNotRead) {
  static ucontext_t main_context;
  static ucontext_t other;
  static std::array<char, 256 * 1024> stack;
  static bool empty;
  empty = false;
  ASSERT_EQ(getcontext(&other), 0);
  other.uc_stack.ss_sp = stack.data();
  other.uc_stack.ss_size = stack.size();
  other.uc_link = &main_context;
  makecontext(&other, +[] { empty = own_stack(__builtin_frame_address(0), 1 << 14).empty(); }, 0);
  ASSERT_EQ(swapcontext(&main_context, &other), 0);
  EXPECT_TRUE(empty);
}

NODEWISE_READS_STACK std::uintptr_t sum_of(const stack_words& words) {
  std::uintptr_t sum = 0;
  for (const std::uintptr_t word : words) {
    sum += word;
  }
  return sum;
}

TEST_F(AgentAbove, NothingBeyondTheStacksEndIsRead) {
  const void* const here = __builtin_frame_address(0);
  const stack_words all = own_stack(here, std::size_t{1} << 30);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(all.data() + all.size()), own_stack_end(here));
  EXPECT_EQ(own_stack(here, 64).size_bytes(), 64U);
  EXPECT_NE(sum_of(all), 0U); // or it ends here
}

} // namespace
} // namespace nodewise::agent
