// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "plan/plan_json.hpp"
#include "plan/plan_words.hpp"

namespace nodewise::plans {
namespace {

using json = nlohmann::ordered_json;
using ::testing::HasSubstr;

plan_file some_plan() {
  entry heap;
  heap.which.kind = "heap";
  heap.which.source = "solver.c:41";
  heap.which.stack = {{"solver", 0x1234}, {"libgrid.so.2", 0x20}};
  heap.which.callers = {"main.c:12"};
  heap.which.least_bytes = 8U << 20;
  heap.where.how = placements::kind::blocked;
  heap.why = "one thread initialises it, all use it";
  entry field;
  field.which.kind = "static";
  field.which.symbol = "m::field";
  field.where.how = placements::kind::map;
  field.where.owners = {{128, 0}, {128, 1}, {256, 3}};
  entry model;
  model.which.kind = "file";
  model.which.file = "*.gguf";
  model.where.how = placements::kind::blocked;
  entry third;
  third.which.source = "table.c:80";
  third.which.first = 2;
  third.which.last = 3;
  third.which.least_bytes = 4097;
  third.which.most_bytes = 1U << 20;
  third.where.how = placements::kind::cyclic;
  third.where.granule_bytes = 65536;
  entry fourth;
  fourth.name = "table.c:80 #2";
  fourth.where.how = placements::kind::thread;
  fourth.where.owners = {{1, 3}};
  entry fifth;
  fifth.where.how = placements::kind::interleave;
  fifth.which.first = 4;
  entry sixth;
  sixth.where.how = placements::kind::interleave;
  sixth.where.owners = {{1, 0}, {1, 1}, {1, 6}};
  entry seventh;
  seventh.where = {placements::kind::weighted, {{2, 0}, {8, 2}}};
  plan_file made{"solver",
                 "00ab12cd",
                 {{"libgrid.so.2", "12ab"}},
                 4,
                 2,
                 bind_policy::close,
                 place_kind::cores,
                 {heap, field, third, fourth, fifth, sixth, seventh, entry{}, model},
                 true,
                 {2, 2}};
  return made;
}

json document_of(const plan_file& what) {
  json document = {{"schema", "nodewise/plan/1"}};
  append(document, what);
  return document;
}

plan_file read(const json& document) {
  return plan_from_json({document, "the plan x"});
}

TEST(PlanJson, MemoriesThatAreNoneAreRefused) {
  for (const char* const text :
       {"interleave:", "interleave:x", "weighted:", "weighted:0", "weighted:0=0", "weighted:0=256",
        "weighted:0=1,0=2", "weighted:-1=1", "blocked:0"}) {
    const json document = {{"schema", "nodewise/plan/1"}, {"objects", {{{"placement", text}}}}};
    EXPECT_THROW((void)read(document), error) << text;
  }
}

TEST(PlanJson, WhatIsWrittenIsRead) {
  const json written = document_of(some_plan());
  EXPECT_EQ(read(written), some_plan());
  EXPECT_EQ(document_of(read(written)).dump(), written.dump());
  EXPECT_EQ(written["objects"][5]["placement"], "interleave:0-1,6");
  EXPECT_EQ(written["objects"][6]["placement"], "weighted:0=2,2=8");
  EXPECT_EQ(read(document_of({})), plan_file{});
}

TEST(PlanJson, IsMadeToBeReadByPeople) {
  const json written = document_of(some_plan());
  EXPECT_EQ(
      written["threads"].dump(),
      R"({"count":4,"teams":[2,2],"nodes":2,"bind":"close","places":"cores","main":"works"})");
  EXPECT_EQ(
      written["objects"][0].dump(),
      R"({"kind":"heap","site":"solver.c:41","callers":["main.c:12"],)"
      R"("stack":["solver+0x1234","libgrid.so.2+0x20"],"bytes":">= 8M","placement":"blocked",)"
      R"("why":"one thread initialises it, all use it"})");
  EXPECT_EQ(written["objects"][1]["placement"].dump(), R"({"map":"0*128 1*128 3*256"})");
  EXPECT_EQ(written["objects"][2]["bytes"], "4097-1M");
  EXPECT_EQ(written["objects"][2]["nth"], "2");
  EXPECT_EQ(written["objects"][2]["placement"], "cyclic:64K");
  EXPECT_EQ(written["objects"][3].dump(), R"({"name":"table.c:80 #2","placement":"thread:3"})");
  EXPECT_EQ(written["objects"][4]["nth"], "4-");
  EXPECT_EQ(written["objects"][7].dump(), R"({"placement":"none"})");
}

TEST(PlanJson, MeetsItsSchema) {
  const std::filesystem::path file =
      testing::TempDir() + "nodewise-plan-" + std::to_string(::getpid()) + ".json";
  std::ofstream(file) << document_of(some_plan());
  const std::string check = std::string("/usr/bin/python3 -B ") + NODEWISE_TEST_VALIDATOR + " " +
                            NODEWISE_TEST_SCHEMAS + "/plan-1.json " + file.string();
  const int status = std::system(check.c_str()); // NOLINT: no other input than the lines above
  std::filesystem::remove(file);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(PlanJson, LittleIsNeededByHand) {
  const plan_file read_plan =
      read(json::parse(R"({"schema": "nodewise/plan/1", "_by": "me", "objects": [
      {"site": "a.c:1", "placement": {"map": "0 1*3, 2"}},
      {"bytes": "> 1M , <= 8MiB", "nth": "0-3", "stack": ["a.out+16"], "placement": "cyclic"}]})"));
  EXPECT_EQ(read_plan.bind, bind_policy::none);
  EXPECT_EQ(read_plan.objects[0].where.owners,
            (std::vector<placements::owner_run>{{1, 0}, {3, 1}, {1, 2}}));
  EXPECT_EQ(read_plan.objects[1].which.least_bytes, (1U << 20) + 1);
  EXPECT_EQ(read_plan.objects[1].which.most_bytes, 8U << 20);
  EXPECT_EQ(read_plan.objects[1].which.last, 4U);
  EXPECT_EQ(read_plan.objects[1].which.stack.front(), (code_place{"a.out", 16}));
  EXPECT_EQ(read_plan.objects[1].where.granule_bytes, 0U);
}

struct broken {
  const char* name;
  const char* entry; ///< in place of the first object
  const char* field; ///< that the complaint names
};

void PrintTo(const broken& each, std::ostream* out) {
  *out << each.name;
}

constexpr broken entries[] = {
    {"NoPlacement", R"({"site": "a.c:1"})", "objects[0]: the field 'placement' is missing"},
    {"UnknownField", R"({"placement": "none", "sites": "a.c:1"})", "unknown field 'sites'"},
    {"UnknownWord", R"({"placement": "block"})",
     "objects[0].placement: there is no placement 'block'"},
    {"WordAndMore", R"({"placement": "blocked:3"})", "objects[0].placement"},
    {"ThreadWithout", R"({"placement": "thread"})", "objects[0].placement"},
    {"ThreadNoNumber", R"({"placement": "thread:x"})", "objects[0].placement: 'x' is not a thread"},
    {"ThreadBeyond", R"({"placement": "thread:4"})", "objects[0].placement: thread 4 of 4"},
    {"GranuleNone", R"({"placement": "cyclic:0"})",
     "objects[0].placement: a granule cannot have 0 bytes"},
    {"GranuleAbsurd", R"({"placement": "cyclic:1P"})", "more than a process can have"},
    {"NoWord", R"({"placement": 3})", "objects[0].placement: the number 3"},
    {"MapEmpty", R"({"placement": {"map": " "}})",
     "objects[0].placement.map: the map has no parts"},
    {"MapNoNumbers", R"({"placement": {"map": "0*x"}})", "objects[0].placement.map: '0*x'"},
    {"MapNoParts", R"({"placement": {"map": "0*0"}})", "objects[0].placement.map: '0*0'"},
    {"MapNegative", R"({"placement": {"map": "-1*4"}})", "objects[0].placement.map: '-1*4'"},
    {"MapBeyond", R"({"placement": {"map": "0*1 4*1"}})",
     "objects[0].placement.map: thread 4 of 4"},
    {"MapAbsurd", R"({"placement": {"map": "0*1099511627776 1*1"}})", "more parts than any object"},
    {"MapOverflow", R"({"placement": {"map": "0*18446744073709551615 1*2"}})", "more parts than"},
    {"MapAndMore", R"({"placement": {"map": "0*1", "of": 3}})",
     "objects[0].placement: unknown field 'of'"},
    {"KindUnknown", R"({"kind": "stack", "placement": "none"})",
     "objects[0].kind: the text 'stack'"},
    {"SiteEmpty", R"({"site": "", "placement": "none"})", "objects[0].site: the text is empty"},
    {"SiteOffset", R"({"site": "a.out+0x12", "placement": "none"})", "objects[0].site"},
    {"StackEmpty", R"({"stack": [], "placement": "none"})", "objects[0].stack: it has 0 places"},
    {"StackNoList", R"({"stack": "a+0x1", "placement": "none"})", "objects[0].stack: the text"},
    {"StackNoOffset", R"({"stack": ["a.out"], "placement": "none"})", "objects[0].stack[0]"},
    {"StackPath", R"({"stack": ["/bin/a+0x1"], "placement": "none"})",
     "objects[0].stack[0]: '/bin/a' is a path"},
    {"StackAbsurd", R"({"stack": ["a+0xffffffffffffffff"], "placement": "none"})",
     "objects[0].stack[0]"},
    {"BytesPlain", R"({"bytes": "8M", "placement": "none"})",
     "objects[0].bytes: '8M' lacks a comparison"},
    {"BytesNumber", R"({"bytes": 8, "placement": "none"})", "objects[0].bytes: the number 8"},
    {"BytesNoSize", R"({"bytes": ">= 8X", "placement": "none"})",
     "objects[0].bytes: ' 8X' is not a size"},
    {"BytesNone", R"({"bytes": "< 0", "placement": "none"})", "objects[0].bytes"},
    {"BytesTurned", R"({"bytes": "8M-1M", "placement": "none"})",
     "objects[0].bytes: no object is of such"},
    {"BytesAbsurd", R"({"bytes": ">= 8000000000G", "placement": "none"})", "objects[0].bytes"},
    {"NthTurned", R"({"nth": "3-1", "placement": "none"})", "objects[0].nth"},
    {"NthNone", R"({"nth": "", "placement": "none"})", "objects[0].nth"},
    {"NthAbsurd", R"({"nth": "0-18446744073709551615", "placement": "none"})", "objects[0].nth"},
    {"SymbolAndSite", R"({"symbol": "a", "site": "a.c:1", "placement": "none"})",
     "objects[0]: a static array"},
    {"FileAndSymbol", R"({"file": "a", "symbol": "a", "placement": "none"})",
     "objects[0]: it has a file and a symbol"},
    {"FileOnHeap", R"({"file": "a", "kind": "heap", "placement": "none"})",
     "objects[0]: it has a file, and its kind is 'heap'"},
    {"FileWithoutName", R"({"file": "", "placement": "none"})",
     "objects[0].file: the text is empty"},
    {"SymbolOnHeap", R"({"symbol": "a", "kind": "heap", "placement": "none"})",
     "objects[0]: it has a symbol"},
    {"CallersAlone", R"({"callers": ["a.c:1"], "placement": "none"})",
     "objects[0]: it has callers, but no site"},
    {"NameNoText", R"({"name": 1, "placement": "none"})", "objects[0].name"},
    {"NoName", R"({"name": "", "placement": "none"})", "objects[0].name"},
    {"WhyNoText", R"({"why": 1, "placement": "none"})", "objects[0].why"},
    {"NoObject", "[]", "objects[0]: a list instead of an object"},
};

class BrokenEntry : public testing::TestWithParam<broken> {};

TEST_P(BrokenEntry, NamesTheFieldAndACure) {
  json document = document_of(some_plan());
  document["objects"][0] = json::parse(GetParam().entry);
  try {
    (void)read(document);
    FAIL() << "it was read";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_EQ(e.asked(), "the plan x");
    EXPECT_THAT(e.answered(), HasSubstr(GetParam().field));
    EXPECT_FALSE(e.hint().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, BrokenEntry, testing::ValuesIn(entries),
                         [](const auto& each) { return each.param.name; });

TEST(PlanJson, BrokenElsewhere) {
  const auto complaint = [](const char* pointer, const json& value) {
    json document = document_of(some_plan());
    document[json::json_pointer(pointer)] = value;
    try {
      (void)read(document);
      return std::string("nothing");
    } catch (const error& e) {
      return e.answered();
    }
  };
  EXPECT_THAT(complaint("/schema", "nodewise/plan/2"), HasSubstr("a newer version"));
  EXPECT_THAT(complaint("/schema", "nodewise/run/1"), HasSubstr("another kind of file"));
  EXPECT_THAT(complaint("/object", json::array()), HasSubstr("unknown field 'object'"));
  EXPECT_THAT(complaint("/objects", 3), HasSubstr("objects: the number 3"));
  EXPECT_THAT(complaint("/program", "solver"), HasSubstr("instead of an object"));
  EXPECT_THAT(complaint("/program/build_id", "xyz"), HasSubstr("program.build_id"));
  EXPECT_THAT(complaint("/program/name", "/bin/a"), HasSubstr("program.name: it is a path"));
  EXPECT_THAT(complaint("/threads/count", 0), HasSubstr("threads.count"));
  EXPECT_THAT(complaint("/threads/count", 10000000000), HasSubstr("threads.count"));
  for (const json& teams : {json{4}, json{3, 2}, json{4, 0}, json{8192, 8192}, json(4)}) {
    EXPECT_THAT(complaint("/threads/teams", teams), HasSubstr("threads.teams")) << teams;
  }
  EXPECT_THAT(complaint("/threads/nodes", -1), HasSubstr("threads.nodes"));
  EXPECT_THAT(complaint("/threads/bind", "near"), HasSubstr("threads.bind"));
  EXPECT_THAT(complaint("/threads/places", 1.5), HasSubstr("threads.places"));
}

TEST(PlanWords, LabelsAreWhatPeopleKnow) {
  const plan_file plan = some_plan();
  EXPECT_EQ(label_of(plan.objects[0].which), "solver.c:41");
  EXPECT_EQ(label_of(plan.objects[1].which), "m::field");
  EXPECT_EQ(label_of(plan.objects[3].which), "any");
  EXPECT_EQ(label_of(plan.objects[1]), "m::field");
  EXPECT_EQ(label_of(plan.objects[3]), "table.c:80 #2");
  EXPECT_EQ(text_of(plan.objects[1].where), "map");
  EXPECT_EQ(text_of(plan.objects[2].where), "cyclic:64K");
  EXPECT_EQ(text_of(plan.objects[3].where), "thread:3");
}

} // namespace
} // namespace nodewise::plans
