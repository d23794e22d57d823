// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/matrix_market.hpp>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

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

TEST_F(SparseMatrixMarket, ValuesBeyondTheTypeAreRefused) {
  const std::string text = banner + "1 2 2\n1 1 3e38\n1 2 -4e38\n";
  EXPECT_EQ(dense(read(text)), (std::vector<double>{3e38, -4e38}));
  try {
    (void)read<float>(text);
    FAIL() << "-4e38 was read as a float";
  } catch (const error& failed) {
    EXPECT_NE(std::string(failed.what()).find("line 4: '-4e38' is beyond 3.402"), std::string::npos)
        << failed.what();
  }
  const auto infinite = read<float>(banner + "1 1 1\n1 1 -inf\n");
  EXPECT_EQ(infinite.values()[0], -std::numeric_limits<float>::infinity());
}

/// What becomes of a file: its entries, or the error.
struct read_result {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  std::string refusal;

  friend bool operator==(const read_result&, const read_result&) = default;
};

/// Changes up to three bytes or numbers of a text.
void change(std::string& text, std::mt19937& random) {
  for (std::size_t left = 1 + random() % 3; left > 0; --left) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
    case 0:
      text[at] = "0123456789 \n-+.e%x"[random() % 18];
      break;
    case 1:
      text.erase(at, 1 + random() % 8);
      break;
    case 2:
      text.insert(at, text.substr(random() % text.size(), 1 + random() % 8));
      break;
    default: // a digit becomes a number of any size
      if (const std::size_t digit = text.find_first_of("0123456789", at); digit != text.npos) {
        text.replace(digit, 1, std::to_string(random() >> random() % 32));
      }
      break;
    }
  }
}

TEST_F(SparseMatrixMarket, ChangedFilesAreRefusedOrReadTheSameByAnyNumberOfWorkers) {
  std::mt19937 random(22);
  const std::string good = banner + "% c\n5 6 5\n1 1 1.25\n2 2 2.5\n3 1 -7\n5 6 12\n4 4 1e3\n";
  std::size_t refused = 0;
  std::size_t accepted = 0;
  for (int round = 0; round < 120; ++round) {
    std::string text = good;
    change(text, random);
    std::vector<read_result> results;
    for (const char* machine : {"1x1", "4x2"}) {
      read_result& result = results.emplace_back();
      try {
        const auto made = read(text, machine);
        ASSERT_LE(made.rows(), 1'000'000 + 100 * text.size()) << text;
        for (std::size_t row = 0; row < made.rows(); ++row) {
          for (const auto column : made.row(row).columns) {
            ASSERT_LT(static_cast<std::size_t>(column), made.columns()) << text;
            result.places.emplace_back(row, static_cast<std::size_t>(column));
          }
        }
      } catch (const error& failed) {
        EXPECT_EQ(failed.kind(), error_kind::input) << failed.what() << text;
        EXPECT_FALSE(failed.hint().empty());
        result.refusal = failed.what();
      }
      ASSERT_EQ(result, results.front()) << text << result.refusal;
    }
    (results.front().refusal.empty() ? accepted : refused) += 1;
  }
  EXPECT_GT(refused, 30U); // both happen often
  EXPECT_GT(accepted, 12U);
}

TEST_F(SparseMatrixMarket, FilesThatCannotBeReadAreErrors) {
  auto teams = teams_of("1x1");
  EXPECT_THROW((void)read_matrix_market<double>(teams, folder_ / "none.mtx"), error);
  EXPECT_THROW((void)read_matrix_market<double>(teams, folder_), error);
  EXPECT_THROW((void)read("", "1x1"), error);
}

} // namespace
} // namespace nodewise::test
