// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Settings as text, and the lists of settings on recorded machines.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "recorded_machines.hpp"
#include "support/sanitizers.hpp"
#include "tune/candidates.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::tune {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> texts(const std::vector<setting>& of) {
  std::vector<std::string> all;
  for (const setting& each : of) {
    all.push_back(text(each));
  }
  return all;
}

std::vector<std::string> words(std::string_view text) {
  return read_setting(text).options;
}

/// What an error answers, and its kind.
template <class Call>
std::string refusal_of(Call call, error_kind kind) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

std::string refused_setting(std::string_view text) {
  return refusal_of([&] { (void)read_setting(text); }, error_kind::usage);
}

TEST(TuneSetting, IsSplitAsAShellSplits) {
  EXPECT_THAT(words("--threads 2  --bind\tclose\n"),
              ElementsAre("--threads", "2", "--bind", "close"));
  EXPECT_THAT(words(R"(--rule 'site=a b:local' "--plan" "x\"y\$\a.json")"),
              ElementsAre("--rule", "site=a b:local", "--plan", "x\"y$\\a.json"));
  EXPECT_THAT(words(R"(-C a\ b'c'"d" '' -x)"), ElementsAre("-C", "a bcd", "", "-x"));
  EXPECT_THAT(words("-N '!0' # all but node 0"), ElementsAre("-N", "!0"));
  EXPECT_THAT(words("--plan a#b"), ElementsAre("--plan", "a#b"));
  EXPECT_THAT(words(" # only a comment"), IsEmpty());
}

TEST(TuneSetting, IsShownSoThatItCanBeReadAgain) {
  EXPECT_EQ(text({}), "as it is");
  EXPECT_EQ(text({{"--threads", "2", "--bind", "close"}, 2}), "--threads 2 --bind close");
  for (const std::vector<std::string>& each : {std::vector<std::string>{"-N", "!0"},
                                               {"--rule", "site=it's \"a\" \\ b\n#c:local", ""},
                                               {"--plan", "\xff\x01 #"}}) {
    EXPECT_EQ(words(text({each, 0})), each);
  }
}

TEST(TuneSetting, KnowsTheCoresOfThreads) {
  EXPECT_TRUE(pins_threads(read_setting("--memory local --bind close")));
  EXPECT_TRUE(pins_threads(read_setting("--bind=spread")));
  EXPECT_FALSE(pins_threads(read_setting("--bind none")));
  EXPECT_FALSE(pins_threads(read_setting("--memory interleave")));
  EXPECT_FALSE(pins_threads(read_setting("")));
  EXPECT_EQ(read_setting("--bind close").cores, 0U);
  EXPECT_EQ(read_setting("--bind close --threads 3").cores, 3U);
  EXPECT_EQ(read_setting("--threads=4").cores, 4U);
  EXPECT_EQ(read_setting("--threads x").cores, 0U);
  EXPECT_EQ(read_setting("--threads").cores, 0U);
}

TEST(TuneSetting, RefusesWhatIsNoSetting) {
  EXPECT_THAT(refused_setting("--plan 'a b"), HasSubstr("a quote (') has no end"));
  EXPECT_THAT(refused_setting("--plan \"a b\\\""), HasSubstr("a quote (\") has no end"));
  EXPECT_THAT(refused_setting("--plan a\\"), HasSubstr("ends with a backslash"));
  EXPECT_THAT(refused_setting("threads 2"), HasSubstr("'threads' is not an option"));
  EXPECT_THAT(refused_setting("'' --bind close"), HasSubstr("'' is not an option"));
  EXPECT_THAT(refused_setting("- --bind close"), HasSubstr("'-' is not an option"));
  EXPECT_THAT(refused_setting("--bind close -- ./app"), HasSubstr("the word --"));
  EXPECT_THAT(refused_setting(std::string_view("--plan a\0b", 10)), HasSubstr("NUL"));
}

TEST(TuneAxes, AreReadFromAList) {
  EXPECT_THAT(read_axes("threads,bind,memory,smt,nodes,pages,balancing"),
              ElementsAre(axis::threads, axis::bind, axis::memory, axis::smt, axis::nodes,
                          axis::pages, axis::balancing));
  const auto refused = [](std::string_view list) {
    return refusal_of([&] { (void)read_axes(list); }, error_kind::usage);
  };
  EXPECT_THAT(refused("threads,color"),
              AllOf(HasSubstr("there is no axis 'color'"),
                    HasSubstr("threads, bind, memory, smt, nodes, pages, balancing")));
  EXPECT_THAT(refused(""), HasSubstr("there is no axis ''"));
  EXPECT_THAT(refused("bind,"), HasSubstr("there is no axis ''"));
  EXPECT_THAT(refused("bind,smt,bind"), HasSubstr("bind is given twice"));
}

const std::vector<axis> all_axes = read_axes("threads,bind,memory,smt,nodes,pages,balancing");

/// All subsets of the axes.
std::vector<std::vector<axis>> sets_of_axes() {
  std::vector<std::vector<axis>> all(1);
  for (const axis each : all_axes) {
    for (std::size_t i = all.size(); i > 0; --i) {
      all.push_back(all[i - 1]);
      all.back().push_back(each);
    }
  }
  return all;
}

class TuneCandidates : public testing::TestWithParam<test::recorded_machine> {};

INSTANTIATE_TEST_SUITE_P(Machines, TuneCandidates, testing::ValuesIn(test::recorded_machines()),
                         test::test_name<testing::TestParamInfo<test::recorded_machine>>);

TEST_P(TuneCandidates, BeginWithTodaysAndAreFewAndDifferent) {
  const topology on = GetParam().load();
  const auto thread_counts = test::cases<std::vector<std::size_t>>({0, 1, 4, 1000000000}, {4});
  for (const std::vector<axis>& over : sets_of_axes()) {
    for (const std::size_t threads : thread_counts) {
      const std::vector<std::string> all =
          texts(candidates(on, {over, {}, threads, false, 1, sys::huge_page_mode::madvise}));
      EXPECT_EQ(all.front(), "as it is");
      EXPECT_LE(all.size(), most_candidates);
      EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
    }
  }
}

TEST_P(TuneCandidates, NameNodesAndThreadsOfTheMachine) {
  const topology on = GetParam().load();
  const node_set memories = on.memory_nodes();
  for (const std::vector<axis>& over : sets_of_axes()) {
    for (const setting& each : candidates(on, {over, {}, 0})) {
      for (std::size_t i = 0; i + 1 < each.options.size(); i += 2) {
        const std::string& name = each.options[i];
        const std::string& value = each.options[i + 1];
        const std::size_t colon = value.find(':');
        if (name == "-N") {
          const node_set nodes = node_set::parse(value);
          EXPECT_EQ(nodes & on.allowed_nodes(), nodes) << value;
        } else if (name == "--threads") {
          EXPECT_LE(parse_number<std::size_t>(value).value_or(0), on.allowed_cpus().size());
          EXPECT_GE(parse_number<std::size_t>(value).value_or(0), 1U);
        } else if (value.starts_with("interleave:") || value.starts_with("prefer:")) {
          const node_set nodes = node_set::parse(value.substr(colon + 1));
          EXPECT_EQ(nodes & memories, nodes) << value;
        }
      }
      EXPECT_LE(each.cores, on.places(place_kind::cores).size());
    }
  }
}

TEST_P(TuneCandidates, HaveNoAxisThatTheMachineLacks) {
  const topology on = GetParam().load();
  const std::vector<std::string> all = texts(candidates(on, {all_axes, {}, 0}));
  if (on.memory_nodes().size() < 2) {
    EXPECT_THAT(all, Not(Contains(HasSubstr("--memory"))));
  }
  if (on.domains().size() < 2) {
    EXPECT_THAT(all, Not(Contains(HasSubstr("-N "))));
  }
  if (on.places(place_kind::cores).size() == on.allowed_cpus().size()) {
    EXPECT_THAT(all, Not(Contains(HasSubstr("--smt"))));
  }
}

std::vector<std::string> texts_on(const char* machine, const candidate_request& of = {}) {
  return texts(candidates(test::load_recorded(machine), of));
}

TEST(TuneCandidatesOf, TwoNodesOfSixCoresWithTwoThreads) {
  EXPECT_THAT(texts_on("24em64t-2n6c2t-pci.xml"),
              ElementsAre("as it is", "--threads 12 --bind close",
                          "--threads 12 --bind close --memory interleave",
                          "--threads 12 --bind close --memory blocked", "--memory interleave",
                          "--threads 6 --bind spread",
                          "--threads 6 --bind spread --memory interleave",
                          "--threads 6 --bind close", "--threads 24 --bind close",
                          "--threads 24 --bind close --memory blocked",
                          "--threads 12 --bind close --memory cyclic:64K",
                          "--threads 12 --bind close --places nodes"));
}

TEST(TuneCandidatesOf, PackagesOfTwoNodesWithGapsInTheirNumbers) {
  EXPECT_THAT(
      texts_on("48amd64-4d2n6c-sparse"),
      ElementsAre("as it is", "--threads 48 --bind close",
                  "--threads 48 --bind close --memory interleave",
                  "--threads 48 --bind close --memory blocked", "--memory interleave",
                  "--threads 24 --bind spread", "--threads 24 --bind spread --memory interleave",
                  "--threads 6 --bind close", "--threads 12 --bind close",
                  "--threads 24 --bind close", "--threads 48 --bind close --memory cyclic:64K",
                  "--threads 48 --bind close --places nodes"));
}

TEST(TuneCandidatesOf, OneNodeWithFastMemoryBesideIt) {
  EXPECT_THAT(texts_on("8intel64-knl-a2a-hybrid.xml"),
              ElementsAre("as it is", "--threads 4 --bind close",
                          "--threads 4 --bind close --memory prefer:1", "--threads 2 --bind spread",
                          "--threads 2 --bind close", "--threads 8 --bind close"));
}

TEST(TuneCandidatesOf, SingleAxes) {
  const auto over = [](const char* axes) {
    return texts_on("24em64t-2n6c2t-pci.xml", {read_axes(axes), {}, 0});
  };
  EXPECT_THAT(over("threads"), ElementsAre("as it is", "--threads 12", "--threads 6"));
  EXPECT_THAT(over("bind"), ElementsAre("as it is", "--bind close", "--bind close --places nodes"));
  EXPECT_THAT(over("memory"), ElementsAre("as it is", "--memory interleave",
                                          "--bind close --memory blocked", "--memory cyclic:64K"));
  EXPECT_THAT(over("smt"), ElementsAre("as it is", "--smt off", "--bind close --smt on"));
  EXPECT_THAT(over("nodes"), ElementsAre("as it is", "-N 0", "-N 1"));
  EXPECT_THAT(over("nodes,smt,bind"),
              ElementsAre("as it is", "--bind close", "--smt off", "--bind close --smt on",
                          "-N 0 --bind close", "-N 1 --bind close", "--bind close --places nodes"));
  EXPECT_THAT(texts_on("48amd64-4d2n6c-sparse", {{axis::nodes}, {}, 0}),
              ElementsAre("as it is", "-N 0", "-N 0-1", "-N 0-2,33"));
}

TEST(TuneCandidatesOf, KernelsWhoseBalancingCanBeSwitched) {
  const auto over = [](const char* axes, std::optional<int> now) {
    return texts_on("24em64t-2n6c2t-pci.xml", {read_axes(axes), {}, 0, false, now});
  };
  EXPECT_THAT(over("balancing", 0), ElementsAre("as it is", "--numa-balancing on"));
  EXPECT_THAT(over("balancing", 1), ElementsAre("as it is", "--numa-balancing off"));
  EXPECT_THAT(over("balancing", 2), // memory tiering
              ElementsAre("as it is", "--numa-balancing on", "--numa-balancing off"));
  EXPECT_THAT(over("balancing", std::nullopt), ElementsAre("as it is"));
  EXPECT_THAT(over("threads,bind,balancing", 0),
              AllOf(Contains("--numa-balancing on"),
                    Contains("--threads 12 --bind close --numa-balancing on"),
                    Not(Contains(HasSubstr("--numa-balancing off")))));
  EXPECT_EQ(over("threads,bind,memory", 0), over("threads,bind,memory", std::nullopt));
  EXPECT_THAT(
      texts(candidates(topology(test::grid(1, 2, 1)), {{axis::balancing}, {}, 0, false, 0})),
      ElementsAre("as it is"));
}

TEST(TuneCandidatesOf, SmallMachines) {
  const auto on = [](int nodes, int cores, int smt) {
    return texts(candidates(topology(test::grid(nodes, cores, smt)), {all_axes, {}, 0}));
  };
  EXPECT_THAT(on(1, 1, 1), ElementsAre("as it is"));
  EXPECT_THAT(on(1, 1, 2),
              ElementsAre("as it is", "--bind close", "--smt off", "--bind close --smt on"));
  EXPECT_THAT(on(1, 2, 1),
              ElementsAre("as it is", "--threads 2 --bind close", "--threads 1 --bind spread"));
  machine no_nodes;
  no_nodes.cores = {{cpu_set::parse("0")}, {cpu_set::parse("1")}};
  EXPECT_THAT(texts(candidates(topology(no_nodes), {all_axes, {}, 0})), ElementsAre("as it is"));
}

TEST(TuneCandidatesOf, ProgramsWithTheirOwnNumberOfThreads) {
  EXPECT_THAT(
      texts_on("48amd64-4d2n6c-sparse", {{axis::bind}, {}, 8}),
      ElementsAre("as it is", "--bind close", "--bind spread", "--bind close --places nodes"));
  // More threads than a node has cores would take turns there.
  EXPECT_THAT(texts_on("24em64t-2n6c2t-pci.xml", {{axis::nodes}, {}, 8}),
              ElementsAre("as it is", "-N 0 --threads 6", "-N 1 --threads 6"));
  EXPECT_EQ(candidates(test::load_recorded("24em64t-2n6c2t-pci.xml"), {{}, {}, 8}).front().cores,
            8U);
}

TEST(TuneCandidatesOf, KernelsThatGiveHugePages) {
  using sys::huge_page_mode;
  const auto under = [](huge_page_mode mode, std::vector<axis> over) {
    candidate_request of;
    of.over = std::move(over);
    of.huge_pages = mode;
    return texts_on("24em64t-2n6c2t-pci.xml", of);
  };
  for (const huge_page_mode none : {huge_page_mode::unavailable, huge_page_mode::never}) {
    EXPECT_THAT(under(none, {axis::pages}), ElementsAre("as it is"));
  }
  EXPECT_THAT(under(huge_page_mode::madvise, {axis::pages}),
              ElementsAre("as it is", "--huge-pages on"));
  EXPECT_THAT(under(huge_page_mode::always, {axis::pages}),
              ElementsAre("as it is", "--huge-pages off"));
  EXPECT_THAT(under(huge_page_mode::always, {axis::bind, axis::memory}),
              Not(Contains(HasSubstr("--huge-pages"))));
  candidate_request standard;
  standard.huge_pages = huge_page_mode::madvise;
  EXPECT_THAT(
      texts_on("24em64t-2n6c2t-pci.xml", standard),
      AllOf(Contains("--huge-pages on"), Contains("--threads 12 --bind close --huge-pages on")));
}

TEST(TuneCandidatesOf, MachinesWithMeasuredCosts) {
  const auto weighted = [](double fast, const char* source) {
    machine on = test::grid(2, 2);
    on.parameters = {{"bandwidth", node_id{0}, node_id{0}, 10, "GB/s", "measured today"},
                     {"bandwidth", node_id{1}, node_id{1}, fast, "GB/s", source},
                     {"bandwidth", node_id{0}, node_id{1}, 4, "GB/s", "measured today"}};
    return texts(candidates(topology(on), {}));
  };
  const std::string expected = "--threads 4 --bind close --memory weighted:auto";
  EXPECT_THAT(weighted(20, "measured today"), Contains(expected));
  EXPECT_THAT(weighted(10.5, "measured today"), Not(Contains(expected))); // the same as interleave
  EXPECT_THAT(weighted(1, "assumed"), Contains(expected)); // 4 GB/s were measured from node 0
  machine disturbed = test::grid(2, 2);
  disturbed.parameters = {
      {"bandwidth", node_id{0}, node_id{0}, 10, "GB/s", "measured today"},
      {"bandwidth", node_id{1}, node_id{1}, 20, "GB/s", "measured today, disturbed by other work"}};
  EXPECT_THAT(texts(candidates(topology(disturbed), {})), Not(Contains(expected)));
}

TEST(TuneCandidatesOf, RanksOfALauncher) {
  candidate_request ranks;
  ranks.ranks = true;
  EXPECT_THAT(texts_on("48amd64-4d2n6c-sparse", ranks),
              ElementsAre("as it is", "--ranks-per node --bind close",
                          "--ranks-per socket --bind close", "--ranks-per core --bind close",
                          "--ranks-per node --bind close --memory interleave",
                          "--memory interleave"));
  ranks.over = {axis::memory};
  EXPECT_THAT(texts_on("24em64t-2n6c2t-pci.xml", ranks),
              ElementsAre("as it is", "--memory interleave"));
  ranks.over = {axis::bind};
  EXPECT_THAT(
      texts_on("24em64t-2n6c2t-pci.xml", ranks),
      ElementsAre("as it is", "--ranks-per node --bind close", "--ranks-per core --bind close"));
}

TEST(TuneSetting, StandsInThePlaceOfTheMark) {
  const setting two = read_setting("--threads 2");
  const std::vector<std::string> run = {"nodewise", "run"};
  EXPECT_THAT(command_of(two, run, {"mpirun", "{run}", "./a", ":", "{run}", "./b"}),
              ElementsAre("mpirun", "nodewise", "run", "--threads", "2", "--", "./a", ":",
                          "nodewise", "run", "--threads", "2", "--", "./b"));
  EXPECT_THAT(command_of({}, run, {"mpirun", "-n", "4", "{run}", "./a"}),
              ElementsAre("mpirun", "-n", "4", "./a"));
  EXPECT_THAT(command_of(two, run, {"./a", "{run"}),
              ElementsAre("nodewise", "run", "--threads", "2", "--", "./a", "{run"));
}

TEST(TuneCandidatesOf, TriesComeFirst) {
  const topology on = test::load_recorded("24em64t-2n6c2t-pci.xml");
  const candidate_request of{
      {axis::memory}, {"--threads 100", "", "--memory 'interleave'", "--threads 100"}, 0};
  const std::vector<setting> all = candidates(on, of);
  EXPECT_THAT(texts(all), ElementsAre("as it is", "--threads 100", "--memory interleave",
                                      "--bind close --memory blocked", "--memory cyclic:64K"));
  EXPECT_EQ(all[1].cores, 12U);
  EXPECT_THAT(texts(candidates(on, {{}, {"--bind close"}, 0})),
              ElementsAre("as it is", "--bind close"));
  EXPECT_THAT(
      refusal_of([&] { (void)candidates(on, {{}, {"--bind 'close"}, 0}); }, error_kind::usage),
      HasSubstr("--bind 'close"));
  candidate_request many;
  for (int i = 1; i <= 20; ++i) {
    many.tries.push_back("--threads " + std::to_string(i));
  }
  EXPECT_EQ(candidates(on, many).size(), 21U);
}

TEST(TuneCandidatesInAFile, AreReadLineByLine) {
  const auto read = [](std::string_view text) { return texts(read_candidates(text, "tries.txt")); };
  EXPECT_THAT(read("# mine\n\n--bind close # first\r\n  --threads 2\n--bind 'close'"),
              ElementsAre("as it is", "--bind close", "--threads 2"));
  const auto refused = [](std::string_view text) {
    return refusal_of([&] { (void)read_candidates(text, "tries.txt"); }, error_kind::input);
  };
  EXPECT_THAT(refused("--bind close\n--plan 'a\nb'"),
              AllOf(HasSubstr("tries.txt, line 2"), HasSubstr("has no end")));
  EXPECT_THAT(refused("\n\nbind close"), HasSubstr("tries.txt, line 3"));
  EXPECT_THAT(refused(""), HasSubstr("no setting"));
  EXPECT_THAT(refused("# nothing\n"), HasSubstr("no setting"));
}

} // namespace
} // namespace nodewise::tune
