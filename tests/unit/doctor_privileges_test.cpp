// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/settings.hpp"
#include "unit/fake_system.hpp"

namespace nodewise::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* first_namespace = "         0          0 4294967295";
constexpr const char* all_capabilities = "000001ffffffffff";

/// Has these capabilities and this seccomp mode.
class process : public fake_system {
 public:
  process(const std::string& capabilities, const std::string& seccomp,
          const std::string& users = first_namespace) {
    more_status = "CapEff:\t" + capabilities + "\nSeccomp:\t" + seccomp + "\n";
    two_nodes();
    files["/proc/self/uid_map"] = users;
  }
};

std::string cure_of(fake_system& who, const std::string& call, int errno_value) {
  const bool counter = call == "perf_event_open";
  who.refuse[counter ? "none" : call.substr(0, call.find(' '))] = errno_value;
  surroundings here = around(who);
  here.open_fault_counter = [=] { return counter ? errno_value : 0; };
  return named(try_calls(here), call).cure;
}

TEST(DoctorPrivileges, EachCapabilityWithWhatItPermits) {
  process root(all_capabilities, "0");
  process user("0000000000000000", "0");
  process nice("0000000000800000", "0");
  for (const char* const name :
       {"CAP_SYS_NICE", "CAP_PERFMON", "CAP_SYS_ADMIN", "CAP_SYS_PTRACE"}) {
    EXPECT_THAT(setting(root, name).found, StartsWith("present: permits "));
    EXPECT_THAT(setting(user, name).found, StartsWith("absent; would permit "));
    EXPECT_EQ(setting(nice, name).found.starts_with("present: "),
              std::string(name) == "CAP_SYS_NICE");
  }
}

TEST(DoctorPrivileges, RootOfAContainerIsNoRoot) {
  process inside(all_capabilities, "0", "         0     100000      65536");
  EXPECT_THAT(setting(inside, "CAP_PERFMON").found, HasSubstr("inside its user namespace only"));
  const privileges who = read_privileges(inside);
  EXPECT_EQ(who.has(capability::perfmon), false);
  EXPECT_EQ(who.free_counters(), false);
  inside.files["/proc/self/uid_map"] = std::string(first_namespace) + "\n1 2 3";
  EXPECT_EQ(read_privileges(inside).has(capability::perfmon), false);
}

TEST(DoctorPrivileges, WhatIsNotKnownIsNotSaid) {
  fake_system who;
  EXPECT_EQ(setting(who, "seccomp").verdict, verdict::unavailable);
  EXPECT_EQ(setting(who, "CAP_SYS_NICE").verdict, verdict::unavailable);
  EXPECT_EQ(read_privileges(who).free_counters(), std::nullopt);
  for (const char* const nonsense : {"", "-1", "3", "two"}) {
    process strange(nonsense, nonsense, "0 0");
    EXPECT_EQ(setting(strange, "seccomp").verdict, verdict::unavailable) << nonsense;
    EXPECT_EQ(read_privileges(strange).in_user_namespace, std::nullopt);
  }
  process strange("two", "0");
  EXPECT_EQ(setting(strange, "CAP_SYS_NICE").verdict, verdict::unavailable);
}

TEST(DoctorPrivileges, ParanoidLevelsShowWhatTheyForbid) {
  process user("0000000000000000", "0");
  const auto at = [&](const char* level, std::optional<int> perf) {
    user.files["/proc/sys/kernel/perf_event_paranoid"] = level;
    return named(examine_settings(user, perf), "perf_event_paranoid");
  };
  EXPECT_THAT(at("-1", 0).found, HasSubstr("nothing is forbidden"));
  EXPECT_THAT(at("1", 0).found, HasSubstr("whole processors"));
  EXPECT_EQ(at("2", 0).verdict, verdict::good);
  EXPECT_EQ(at("2", EPERM).verdict, verdict::good) << "the level has not refused it";
  for (const char* const level : {"3", "4"}) {
    EXPECT_EQ(at(level, EACCES).verdict, verdict::warning);
    EXPECT_THAT(at(level, EACCES).cure, HasSubstr("perf_event_paranoid=2"));
    EXPECT_EQ(at(level, std::nullopt).verdict, verdict::warning);
    EXPECT_THAT(at(level, 0).found, HasSubstr("same as 2 with this kernel"))
        << "as Linux itself has it";
    EXPECT_EQ(at(level, 0).verdict, verdict::good);
  }
  process root("0000004000000000", "0");
  root.files["/proc/sys/kernel/perf_event_paranoid"] = "4";
  EXPECT_EQ(setting(root, "perf_event_paranoid").found,
            "4: does not apply to this process, because of its capabilities");
}

TEST(DoctorCures, OfAFilterOnlyWhereThereIsOne) {
  process filtered("0000000000000000", "2");
  EXPECT_THAT(cure_of(filtered, "mbind", EPERM),
              AllOf(HasSubstr("a seccomp filter is active"), HasSubstr("--cap-add SYS_NICE")));
  EXPECT_THAT(setting(filtered, "seccomp").found, StartsWith("2: "));
  for (const char* const call : {"move_pages (query)", "move_pages (move)"}) {
    EXPECT_THAT(cure_of(filtered, call, EPERM),
                AllOf(HasSubstr("a seccomp filter is active"), HasSubstr("no capability permits"),
                      HasSubstr("seccomp=FILE"), Not(HasSubstr("--cap-add"))));
  }
  process open("0000000000000000", "0");
  EXPECT_THAT(cure_of(open, "mbind", EPERM),
              AllOf(HasSubstr("no seccomp filter"), Not(HasSubstr("--cap-add"))));
}

TEST(DoctorCures, OfCountersByWhatRefusesThem) {
  const auto cure_at = [](const char* level, const char* seccomp) {
    process who("0000000000000000", seccomp);
    who.files["/proc/sys/kernel/perf_event_paranoid"] = level;
    return cure_of(who, "perf_event_open", EACCES);
  };
  EXPECT_EQ(cure_at("3", "0"), "sysctl kernel.perf_event_paranoid=2 as root");
  EXPECT_THAT(cure_at("4", "2"), AllOf(HasSubstr("sysctl"), HasSubstr("--cap-add PERFMON")));
  EXPECT_THAT(cure_at("2", "2"), AllOf(Not(HasSubstr("sysctl")), HasSubstr("--cap-add PERFMON")));
  EXPECT_THAT(cure_at("2", "0"), HasSubstr("security module"));
}

} // namespace
} // namespace nodewise::doctor
