// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/matrix_market.hpp>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

#include "unit/simulated_teams.hpp"
#include "unit/sparse_matrices.hpp"

namespace nodewise::test {
namespace {

class SparseMatrixMarket : public testing::Test {
 protected:
  SparseMatrixMarket() { std::filesystem::create_directory(folder_); }
  ~SparseMatrixMarket() override { std::filesystem::remove_all(folder_); }

  template <class T = double, class Index = std::int32_t>
  sparse_matrix<T, Index> read(const std::string& text, const std::string& machine = "2x2") {
    std::ofstream(file_, std::ios::binary) << text;
    auto teams = teams_of(machine);
    return read_matrix_market<T, Index>(teams, file_);
  }

  /// What is wrong with a text, which must be refused as input.
  std::string refused(const std::string& text) {
    std::string first;
    for (const char* machine : {"1x1", "4x2"}) {
      try {
        (void)read(text, machine);
        return "nothing was refused";
      } catch (const error& failed) {
        EXPECT_EQ(failed.kind(), error_kind::input) << failed.what();
        EXPECT_FALSE(failed.hint().empty());
        EXPECT_TRUE(first.empty() || first == failed.what()) << "another error with more workers";
        first = failed.what();
      }
    }
    return first;
  }

  void expect_refused(const std::string& text, const std::string& line, const std::string& reason) {
    const std::string said = refused(text);
    EXPECT_NE(said.find("', line " + line + ":"), std::string::npos) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << said;
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("nodewise-mtx-" + std::to_string(::getpid()));
  std::filesystem::path file_ = folder_ / "a.mtx";
};

/// All elements, also those that are no entries, by rows.
template <class T, class Index>
std::vector<T> dense(const sparse_matrix<T, Index>& a) {
  std::vector<T> all(a.rows() * a.columns());
  for (std::size_t row = 0; row < a.rows(); ++row) {
    const auto entries = a.row(row);
    for (std::size_t k = 0; k < entries.values.size(); ++k) {
      all[row * a.columns() + static_cast<std::size_t>(entries.columns[k])] += entries.values[k];
    }
  }
  return all;
}

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

TEST_F(SparseMatrixMarket, ReadsEveryKindThatIsSparse) {
  using numbers = std::vector<double>;
  EXPECT_EQ(dense(read(banner + "% about it\n\n2 3 3\n1 1 1.5\n2 3 -2e1\n1 2 +4\n")),
            (numbers{1.5, 4, 0, 0, 0, -20}));
  EXPECT_EQ(dense(read("%%MatrixMarket MATRIX Coordinate Integer General\r\n2 2 2\r\n"
                       "1 1 7\r\n2 1 -3\r\n")),
            (numbers{7, 0, -3, 0}));
  EXPECT_EQ(dense(read("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1")),
            (numbers{0, 1, 1, 0}));
  EXPECT_EQ(dense(read("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 1 5\n")),
            (numbers{3, 5, 5, 0}));
  EXPECT_EQ(dense(read("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n")),
            (numbers{0, -5, 5, 0}));
  EXPECT_EQ(dense(read(banner + "1 2 2\n1 1 1\n1 1 2\n")), (numbers{3, 0})); // added
  EXPECT_EQ(dense(read(banner + "1 2 0\n")), (numbers{0, 0}));
  EXPECT_EQ(read(banner + "1000000 2 1\n1 1 1\n").rows(), 1'000'000U); // few entries
  EXPECT_EQ(
      read("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 1 5\n").entries(), 3U);
}

TEST_F(SparseMatrixMarket, AnyNumberOfWorkersReadsTheSame) {
  std::mt19937 random(4);
  std::ostringstream text;
  text << banner << "500 400 3000\n";
  std::vector<double> expected(500 * 400);
  for (int k = 0; k < 3000; ++k) {
    const std::size_t row = random() % 500;
    const std::size_t column = random() % 400;
    const double value = small_number<double>(random);
    expected[row * 400 + column] += value;
    text << row + 1 << (k % 3 == 0 ? "\t " : " ") << column + 1 << ' ' << value << '\n';
  }
  for (const char* machine : {"1x1", "2x1", "8x4"}) {
    EXPECT_EQ(dense(read(text.str(), machine)), expected) << machine;
  }
}

TEST_F(SparseMatrixMarket, OtherFormatsAreNamed) {
  expect_refused("2 2 1\n1 1 1\n", "1", "%%MatrixMarket");
  expect_refused("%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n1\n", "1", "'array'");
  expect_refused("%%MatrixMarket vector coordinate real general\n", "1", "'vector'");
  expect_refused("%%MatrixMarket matrix coordinate complex general\n", "1", "'complex'");
  expect_refused("%%MatrixMarket matrix coordinate real hermitian\n", "1", "'hermitian'");
  expect_refused("%%MatrixMarket", "1", "''");
  expect_refused("%%MatrixMarket matrix coordinate real general\x01\n1 1 0\n", "1", "general");
}

TEST_F(SparseMatrixMarket, SizesThatCannotBeAreRefused) {
  expect_refused(banner, "2", "'' is not a number");
  expect_refused(banner + "% only\n% comments", "3", "'' is not a number");
  expect_refused(banner + "2 2\n", "2", "'' is not a number");
  expect_refused(banner + "2 2 1 1\n", "2", "more than three");
  expect_refused(banner + "-2 2 1\n1 1 1\n", "2", "'-2' is not a number");
  expect_refused(banner + "2 +-2 1\n1 1 1\n", "2", "'+-2' is not a number");
  expect_refused(banner + "2.0 2 1\n1 1 1\n", "2", "'2.0' is not a number");
  expect_refused(banner + "0 2 0\n", "2", "at least one row");
  expect_refused(banner + "2 3000000000 1\n1 1 1\n", "2", "ends at 2147483647");
  expect_refused(banner + "99999999999999999999 2 1\n1 1 1\n", "2", "is not a number");
  expect_refused(banner + "2 2 1000000000\n1 1 1\n", "2", "the rest of the file has 6 bytes");
  expect_refused(banner + "2 2 18446744073709551615\n1 1 1\n", "2", "the rest of the file");
  expect_refused(banner + "2147483647 2 1\n1 1 1\n", "2", "nearly all rows would be empty");
  expect_refused("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "2",
                 "2 rows and 3 columns");
}

TEST_F(SparseMatrixMarket, LinesThatAreNoEntriesAreNamed) {
  const std::string head = banner + "% a comment\n4 4 3\n1 1 1\n";
  expect_refused(head + "2 2 1.0000000\n", "5", "ends after 2 entries, but announces 3");
  expect_refused(head + "2 2 1\n3 3 1\n4 4 1\n", "7", "ends after 4 entries, but announces 3");
  expect_refused(head + "0 2 1\n3 3 1\n", "5", "row 0 of 4; rows count from 1");
  expect_refused(head + "5 2 1\n3 3 1\n", "5", "row 5 of 4");
  expect_refused(head + "2 5 1\n3 3 1\n", "5", "column 5 of 4");
  expect_refused(head + "2 -1 1\n3 3 1\n", "5", "'-1' is not the number of a column");
  expect_refused(head + "2 2\n3 3 1.000\n", "5", "'' is not a value");
  expect_refused(head + "2 2 x\n3 3 1\n", "5", "'x' is not a value");
  expect_refused(head + "2 2 1e999\n3 3 1\n", "5", "'1e999' is not a value in range");
  expect_refused(head + "2 2 1 9\n3 3 1\n", "5", "'9' behind the value");
  expect_refused(head + "2 2 1.0000\n3 3", "6", "'' is not a value");
  expect_refused(head + "2 2 1\n% too late\n3 3 1\n", "6", "'%' is not the number of a row");
  expect_refused(head + "2 9 1\n3 9 1\n", "5", "column 9"); // the first of two
  expect_refused("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n", "3",
                 "'1.5' is not an integer");
  expect_refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "3",
                 "right of the diagonal");
  expect_refused("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "3",
                 "on the diagonal");
  expect_refused(head + "2 2 " + std::string(500, 'z') + "\n3 3 1\n", "5", "zzz");
}

TEST_F(SparseMatrixMarket, EveryTruncationIsRefusedOrComplete) {
  const std::string text = banner + "% c\n3 3 4\n1 1 1.25\n2 2 2.5\n3 1 -7\n3 3 12\n";
  for (std::size_t bytes = 1; bytes < text.size() - 1; ++bytes) {
    try {
      const auto made = read(text.substr(0, bytes), "2x1");
      EXPECT_EQ(bytes, text.size() - 2) << "at 12 without its 2";
      EXPECT_EQ(made.entries(), 4U);
    } catch (const error& failed) {
      EXPECT_EQ(failed.kind(), error_kind::input) << failed.what();
    }
  }
}

TEST_F(SparseMatrixMarket, FilesThatCannotBeReadAreErrors) {
  auto teams = teams_of("1x1");
  EXPECT_THROW((void)read_matrix_market<double>(teams, folder_ / "none.mtx"), error);
  EXPECT_THROW((void)read_matrix_market<double>(teams, folder_), error);
  EXPECT_THROW((void)read("", "1x1"), error);
}

} // namespace
} // namespace nodewise::test
