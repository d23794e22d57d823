// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "traffic/counts.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "unit/counts_files.hpp"

namespace nodewise::traffic {
namespace {

using testing::HasSubstr;

/// "asked: answered" of the refusal, or "" if there is none.
std::string refusal(const std::string& text) {
  try {
    (void)read_counts(text);
    return "";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_FALSE(e.hint().empty());
    return e.asked() + ": " + e.answered();
  }
}

TEST(Counts, AreReadAsTheyWereWritten) {
  const counts all = read_counts(counts_file("first-touch-4x2"));
  EXPECT_FALSE(all.refused);
  EXPECT_EQ(all.tested.processors, 8U);
  EXPECT_EQ(all.line_bytes, 64U);
  EXPECT_TRUE(all.coherence);
  ASSERT_EQ(all.caches.size(), 3U);
  EXPECT_EQ(all.caches[2].bytes, 4194304U);
  EXPECT_EQ(all.caches[2].shared, "node");
  EXPECT_EQ(all.processors.size(), 8U);
  EXPECT_EQ(all.node_of(cpu_id{5}), node_id{2});
  EXPECT_EQ(all.node_of(cpu_id{8}), unknown_node);
  EXPECT_EQ(all.memories.size(), 4U);
  ASSERT_NE(all.find_program(412), nullptr);
  EXPECT_EQ(all.find_program(412)->name, "/work/demo/triad");
  EXPECT_TRUE(all.find_program(412)->ended);
  EXPECT_FALSE(all.find_program(0)->ended);
  EXPECT_EQ(all.mappings[4].name, "[heap]");
  EXPECT_EQ(all.mappings[5].name, "");
  ASSERT_EQ(all.objects.size(), 4U);
  EXPECT_EQ(all.objects[0].module, "triad");
  EXPECT_EQ(all.objects[0].offset, 0x11d2U);
  EXPECT_TRUE(all.objects[0].freed);
  EXPECT_EQ(all.objects[3].kind, object_kind::static_array);
  EXPECT_EQ(all.objects[3].name, "partial_sums");
  EXPECT_FALSE(all.objects[3].freed);
  ASSERT_EQ(all.cells.size(), 9U);
  EXPECT_EQ(all.cells[0].when, phase::initialisation);
  EXPECT_EQ(all.cells[0].lines, (volume{786432, 704512, 0}));
  EXPECT_EQ(all.cells[1].dirty, 8192U);
  EXPECT_EQ(all.pages[1].first, 1024U);
  EXPECT_EQ(all.pages[1].remote[index_of(phase::use)], 256U * 1024);
  EXPECT_EQ(all.pages[1].local[index_of(phase::initialisation)], 64U * 1024);
  EXPECT_EQ(all.pages[1].user, node_id{1});
  EXPECT_EQ(all.pages.back().user, unknown_node);
  EXPECT_EQ(all.code.size(), 5U);
  ASSERT_EQ(all.shared.size(), 2U);
  EXPECT_EQ(all.shared[0].writers.to_string(), "0-7");
  EXPECT_TRUE(all.shared[0].readers.empty());
  EXPECT_FALSE(all.shared[0].overlap);
  EXPECT_FALSE(all.shared[1].object);
  EXPECT_EQ(all.regions.size(), 4U);
  EXPECT_EQ(all.transfers[3].local, 123U);
  ASSERT_EQ(all.uncounted.size(), 1U);
  EXPECT_EQ(all.uncounted[0].text, "2 processors ran a task that was not observed");
  EXPECT_EQ(all.accesses, 15728640U);
}

TEST(Counts, OfARefusalAreItsReason) {
  const counts all = read_counts(counts_file("refused"));
  EXPECT_EQ(all.refused, "processor 3 was taken for one of node 0");
  EXPECT_TRUE(all.cells.empty());
  EXPECT_THAT(refusal("nodewise-counts 1\nrefused x\nline_bytes 64\ncomplete\n"),
              HasSubstr("line 3: there are lines after the refusal"));
}

TEST(Counts, WithoutTheLastLineAreCutOff) {
  const std::string whole = counts_file("first-touch-4x2");
  EXPECT_THAT(refusal(""), HasSubstr("nothing was written"));
  EXPECT_THAT(refusal("nodewise-counts 1\n"), HasSubstr("cut off after 1 line"));
  for (const std::size_t left : {whole.size() - 1, whole.size() - 5, whole.size() / 2,
                                 whole.size() - std::string("complete\n").size()}) {
    EXPECT_THAT(refusal(whole.substr(0, left)), HasSubstr("cut off")) << left;
  }
  EXPECT_THAT(refusal("nodewise-counts 1\nrefused why\n"), HasSubstr("cut off"));
}

TEST(Counts, OfAnotherVersionAreRefused) {
  EXPECT_THAT(refusal("nodewise-counts 2\ncomplete\n"),
              HasSubstr("the version of the format is not 1"));
  EXPECT_THAT(refusal("nodewise-counts 1 2\ncomplete\n"), HasSubstr("too many words"));
  EXPECT_THAT(refusal("hello\ncomplete\n"), HasSubstr("line 1: this is not a traffic count"));
}

TEST(Counts, ThatMakeNoSenseAreRefusedWithTheLine) {
  struct wrong {
    const char* line;
    const char* answer;
  };
  for (const auto& [line, answer] : std::vector<wrong>{
           {"cell 0 0 use 1 2 3", "'cell' has too few words"},
           {"cell 0 0 use 1 2 3 4 5", "'cell' has too many words: '5'"},
           {"cell 0 0 use 1 2 3 ", "an empty word"},
           {"cell  0 0 use 1 2 3 4", "an empty word"},
           {" cell 0 0 use 1 2 3 4", "an empty word"},
           {"", "an empty word"},
           {"cell 0 0 used 1 2 3 4", "'used' is invalid in 'cell'"},
           {"cell 0 0 use -1 2 3 4", "'-1' is not a number"},
           {"cell 0 0 use 1e3 2 3 4", "'1e3' is not a number"},
           {"cell 0 -2 use 1 2 3 4", "'-2' is not a number"},
           {"cell 0 9999999 use 1 2 3 4", "is not a node"},
           {"cell 0 0 use 18446744073709551615 2 3 4", "is too large"},
           {"cell 0 0 use 99999999999999999999 2 3 4", "is not a number"},
           {"cells 0 0 use 1 2 3 4", "no line begins with 'cells'"},
           {"mapping 7 10 20 0 x", "'10' is not an address"},
           {"mapping 7 0x 0x20 0 x", "'0x' is not an address"},
           {"mapping 7 0x20 0x10 0 x", "ends before its start"},
           {"mapping 7 0x10 0x20 0 %4", "ends within a %XX"},
           {"mapping 7 0x10 0x20 0 %zz", "is not an address"},
           {"object 7 1 0x10 64 stack m 0x1 -", "'stack' is invalid in 'object'"},
           {"freed 7 1", "process 7 has no object 1"},
           {"traffic 7 1 use 0 0 1 0 0", "process 7 has no object 1"},
           {"program 0 281474976710657 -", "is too large"},
           {"shared 7 0x40 - 1 1 3-1 - 0 0 0x0", "'3-1' is not a list of processors"},
           {"shared 7 0x40 - 1 1 1-3 - 2 0 0x0", "'2' is invalid in 'shared'"},
           {"processor 1 0", "are not in ascending order"},
           {"processor -1 0", "are not in ascending order"},
           {"memory -1", "are not in ascending order"},
           {"thread 7 1 9", "threads are not numbered one by one"},
           {"thread 7 0 0", "'0' is not a thread"},
           {"thread 7 0 10000000", "'10000000' is not a thread"},
           {"thread 7 0", "'thread' has too few words"},
           {"users 7 - 0x1000 1 0 0:1", "process 7 has no thread 0"},
           {"work 7 0 9", "process 7 has no thread 0"},
           {"stay 7 0 1 9", "process 7 has no thread 0"},
           {"users 7 - 0x1000 1 0", "'users' has too few words"},
           {"users 7 - 0x1000 0 0 0:1", "the number of pages is 0"},
           {"users 7 - 0x1000 1 0 1", "'1' is not THREAD:LINES"},
           {"users 7 - 0x1000 1 0 0:", "'0:' is not a number"},
           {"users 7 - 0x1000 1 0 :1", "':1' is not a number"},
           {"users 7 - 0x1000 1 0 0:1:2", "'0:1:2' is not a number"},
           {"users 7 - 0x1000 1 0 0:0", "'0:0' has an invalid number of lines"},
           {"users 7 - 0x1000 1 0 0:281474976710657", "has an invalid number of lines"},
           {"users 7 - 0x1000 1 0 1:1 0:1", "threads are not in ascending order"},
           {"users 7 - 0x1000 1 0 1:1 1:1", "threads are not in ascending order"},
           {"users 7 - 0x1000 1 0 0:1 ", "an empty word"},
           {"touched 7 - 0x1000 1 0", "process 7 has no thread 0"},
           {"touched 7 - 0x1000 0 0", "the number of pages is 0"},
           {"touched 7 - 4096 1 0", "'4096' is not an address"},
           {"codeuse 7 1 0x1000 1", "process 7 has no object 1"},
           {"codeuse 7 - 1000 1", "'1000' is not an address"},
           {"line_bytes 0", "not a size"},
           {"uncounted 3", "has no text"},
           {"complete", "there are lines after the end"},
       }) {
    const std::string said = refusal(counts_with(std::string(line) + "\n"));
    EXPECT_THAT(said, HasSubstr("the traffic count, line ")) << line;
    EXPECT_THAT(said, HasSubstr(answer)) << line;
    const bool follows = std::string(line) == "complete"; // the line behind it is the wrong one
    EXPECT_THAT(said, HasSubstr(follows ? "line 12: " : "line 11: ")) << line;
  }
  EXPECT_EQ(refusal(counts_with("")), "");
}

TEST(Counts, LackNothingThatEveryCountHas) {
  for (const std::string line :
       {"selftest 4 17\n", "line_bytes 64\n", "page_bytes 4096\n", "memory 0\nmemory 1\n"}) {
    std::string text = counts_with("");
    text.erase(text.find(line), line.size());
    EXPECT_THAT(refusal(text), HasSubstr("is missing")) << line;
  }
}

TEST(Counts, MayNameAnObjectBeforeItsLine) {
  const counts all = read_counts(counts_with("freed 7 3\ntraffic 7 3 use 0 1 5 0 0\n"
                                             "object 7 3 0x1000 64 heap - 0 -\n"
                                             "object 7 1 0x2000 64 map a%20b 0x12 -\n"));
  ASSERT_EQ(all.objects.size(), 2U);
  EXPECT_EQ(all.objects[0].module, "a b"); // ascending by number
  EXPECT_TRUE(all.find_object(7, 3)->freed);
  EXPECT_FALSE(all.find_object(7, 1)->freed);
  EXPECT_EQ(all.find_object(7, 2), nullptr);
  EXPECT_THAT(refusal(counts_with("object 7 3 0x1000 64 heap - 0 -\n"
                                  "object 7 3 0x2000 64 heap - 0 -\n")),
              HasSubstr("line 12: the object occurs twice"));
}

TEST(Counts, OfThreadsNameThoseThatTheProgramHas) {
  const counts all = read_counts(counts_with(
      "thread 7 0 7\nthread 8 0 -\nthread 7 1 19\nobject 7 3 0x1800 8192 heap - 0 -\n"
      "users 7 3 1 2 1 0:64 1:9\nusers 7 - 0x5000 1 -1 1:1\ntouched 8 - 0x2000 4 0\nwork 7 1 1234\n"
      "codeuse 7 3 0x401000 70\n"));
  ASSERT_EQ(all.threads.size(), 3U);
  EXPECT_EQ(all.threads[0].tid, 7);
  EXPECT_EQ(all.threads[1].tid, 0);
  EXPECT_EQ(all.threads[2].index, 1U);
  EXPECT_EQ(all.threads[2].instructions, 1234U);
  EXPECT_EQ(all.threads[0].instructions, 0U);
  ASSERT_EQ(all.page_users.size(), 2U);
  EXPECT_EQ(all.page_users[0].object, 3U);
  EXPECT_EQ(all.page_users[0].count, 2U);
  EXPECT_EQ(all.page_users[0].to, node_id{1});
  EXPECT_THAT(all.page_users[0].by, testing::ElementsAre(thread_lines{0, 64}, thread_lines{1, 9}));
  EXPECT_EQ(all.page_users[1].first, 0x5000U);
  EXPECT_EQ(all.page_users[1].to, unknown_node);
  ASSERT_EQ(all.touched.size(), 1U);
  EXPECT_EQ(all.touched[0].pid, 8U);
  EXPECT_EQ(all.touched[0].count, 4U);
  ASSERT_EQ(all.object_code.size(), 1U);
  EXPECT_EQ(all.object_code[0].pc, 0x401000U);
  EXPECT_EQ(all.object_code[0].lines, 70U);
  EXPECT_THAT(refusal(counts_with("thread 7 0 7\ntouched 7 - 0x2000 4 1\n")),
              HasSubstr("line 12: process 7 has no thread 1"));
  EXPECT_THAT(refusal(counts_with("thread 7 0 7\nusers 7 - 0x2000 4 0 0:1 1:1\n")),
              HasSubstr("line 12: process 7 has no thread 1"));
}

TEST(Counts, TellAProgramThatWasKilledFromOneThatBecameAnother) {
  const counts all = read_counts(
      counts_with("program 7 7 sh\nprogram 10000007 10000007 a\nprogram 20000007 20000007 b\n"
                  "program 8 7 c\nended 20000007\n"));
  EXPECT_EQ(all.find_program(10000007)->name, "a");
  EXPECT_EQ(pid_of(20000007), 7U);
  EXPECT_FALSE(all.was_killed(*all.find_program(7)));
  EXPECT_FALSE(all.was_killed(*all.find_program(10000007)));
  EXPECT_FALSE(all.was_killed(*all.find_program(20000007)));
  EXPECT_TRUE(all.was_killed(*all.find_program(8)));
  EXPECT_THAT(refusal(counts_with("program 7 7 a\nprogram 7 7 b\n")),
              HasSubstr("the program occurs twice"));
}

TEST(Counts, MayShareALineOfAnObjectThatNeverCameFromMemory) {
  const counts all = read_counts(counts_with("shared 7 0x1040 3 1 1 0-1 - 0 5 0x401000\n"));
  EXPECT_EQ(all.shared[0].object, 3U);
  EXPECT_EQ(all.shared[0].rewrites, 5U);
  EXPECT_EQ(all.shared[0].pc, 0x401000U);
  EXPECT_EQ(all.find_object(7, 3), nullptr);
}

} // namespace
} // namespace nodewise::traffic
