#include "model/nn/gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/model/nn/random_values.h"

namespace semrank {
namespace {

using ::testing::ElementsAreArray;

StridedMatrix RowMajor(const std::vector<float>& values, int rows,
                       int columns) {
  return {values.data(), rows, columns, columns, 1};
}

float At(const StridedMatrix& m, int i, int k) {
  return m.data[i * m.row_stride + k * m.column_stride];
}

std::vector<float> Transpose(const std::vector<float>& values, int rows,
                             int columns) {
  std::vector<float> result(values.size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      result[j * rows + i] = values[i * columns + j];
    }
  }
  return result;
}

std::vector<float> Product(const StridedMatrix& a, const StridedMatrix& b,
                           const MultiplyOptions& options = {}) {
  std::vector<float> c(static_cast<std::size_t>(a.rows) * b.columns, 0.25f);
  Multiply(a, PackedMatrix(b), options, c.data(), b.columns);
  return c;
}

struct ShapeCase {
  int rows, depth, columns;
};

class GemmShapeTest : public ::testing::TestWithParam<ShapeCase> {
 protected:
  const int rows_ = GetParam().rows, depth_ = GetParam().depth,
            columns_ = GetParam().columns;
  const std::vector<float> a_ = RandomValues(rows_ * depth_, 1);
  const std::vector<float> b_ = RandomValues(depth_ * columns_, 2);
  const std::vector<float> bias_ = RandomValues(columns_, 3);
};

TEST_P(GemmShapeTest, MatchesDoublePrecisionWithinRounding) {
  const StridedMatrix a = RowMajor(a_, rows_, depth_);
  const StridedMatrix b = RowMajor(b_, depth_, columns_);
  const std::vector<float> c = Product(a, b, {.bias = bias_.data()});
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j < columns_; ++j) {
      double exact = bias_[j];
      double magnitude = std::abs(exact);
      for (int k = 0; k < depth_; ++k) {
        const double product = double{At(a, i, k)} * At(b, k, j);
        exact += product;
        magnitude += std::abs(product);
      }
      // depth roundings (twice that without fused multiply-add), each at most
      // half a unit in the last place of a partial sum.
      ASSERT_NEAR(c[i * columns_ + j], exact, 1.2e-7 * (depth_ + 1) * magnitude)
          << i << ", " << j;
    }
  }
}

TEST_P(GemmShapeTest, TransposedOperandsGiveTheSameBits) {
  const std::vector<float> plain =
      Product(RowMajor(a_, rows_, depth_), RowMajor(b_, depth_, columns_));
  const std::vector<float> at = Transpose(a_, rows_, depth_);
  const std::vector<float> bt = Transpose(b_, depth_, columns_);
  EXPECT_THAT(Product(RowMajor(at, depth_, rows_).Transposed(),
                      RowMajor(bt, columns_, depth_).Transposed()),
              ElementsAreArray(plain));
}

TEST_P(GemmShapeTest, SlicesOfTheDepthGiveTheSameBits) {
  const StridedMatrix a = RowMajor(a_, rows_, depth_);
  const StridedMatrix b = RowMajor(b_, depth_, columns_);
  const std::vector<float> whole = Product(a, b);
  std::vector<float> c(whole.size(), 0.0f);
  for (int k = 0, step = 1; k < depth_; k += step, step = 2 * step + 1) {
    const int piece = std::min(step, depth_ - k);
    const StridedMatrix a_piece = {a.data + k, rows_, piece, a.row_stride, 1};
    const StridedMatrix b_piece = {b.data + k * b.row_stride, piece, columns_,
                                   b.row_stride, 1};
    Multiply(a_piece, PackedMatrix(b_piece), {.accumulate = true}, c.data(),
             columns_);
  }
  EXPECT_THAT(c, ElementsAreArray(whole));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, GemmShapeTest,
    ::testing::Values(ShapeCase{1, 1, 1}, ShapeCase{1, 300, 300},
                      ShapeCase{2, 7, 15}, ShapeCase{3, 17, 16},
                      ShapeCase{5, 33, 65}, ShapeCase{8, 300, 128},
                      ShapeCase{13, 128, 63}, ShapeCase{97, 31, 301},
                      ShapeCase{200, 64, 129}, ShapeCase{31, 1000, 47}),
    [](const auto& shape) {
      return std::to_string(shape.param.rows) + "x" +
             std::to_string(shape.param.depth) + "x" +
             std::to_string(shape.param.columns);
    });

TEST(GemmTest, RowAloneEqualsTheRowInAnyBatch) {
  constexpr int kDepth = 77;
  for (const int columns : {1, 5, 15, 16, 17, 33, 63, 64, 65, 100, 300}) {
    const std::vector<float> a = RandomValues(40 * kDepth, 4);
    const std::vector<float> b = RandomValues(kDepth * columns, 5);
    const PackedMatrix packed(RowMajor(b, kDepth, columns));
    std::vector<float> alone(40 * columns);
    for (int i = 0; i < 40; ++i) {
      Multiply({a.data() + i * kDepth, 1, kDepth, kDepth, 1}, packed, {},
               alone.data() + i * columns, columns);
    }
    for (int rows = 1; rows <= 40; ++rows) {
      std::vector<float> batch(rows * columns);
      Multiply(RowMajor(a, rows, kDepth), packed, {}, batch.data(), columns);
      const std::vector<float> want(alone.begin(),
                                    alone.begin() + rows * columns);
      ASSERT_EQ(batch, want) << rows << " rows of " << columns;
    }
  }
}

TEST(GemmTest, ColumnDoesNotDependOnTheColumnsBesideIt) {
  constexpr int kRows = 9, kDepth = 50, kColumns = 150;
  const std::vector<float> a = RandomValues(kRows * kDepth, 6);
  const std::vector<float> b = RandomValues(kDepth * kColumns, 7);
  const std::vector<float> whole =
      Product(RowMajor(a, kRows, kDepth), RowMajor(b, kDepth, kColumns));
  for (int j = 0; j < kColumns; ++j) {
    const std::vector<float> column = Product(
        RowMajor(a, kRows, kDepth), {b.data() + j, kDepth, 1, kColumns, 1});
    for (int i = 0; i < kRows; ++i) {
      ASSERT_EQ(column[i], whole[i * kColumns + j]) << i << ", " << j;
    }
  }
}

TEST(GemmTest, WritesNothingBetweenRows) {
  constexpr int kRows = 11, kDepth = 3, kColumns = 21, kStride = 40;
  const std::vector<float> a = RandomValues(kRows * kDepth, 8);
  const std::vector<float> b = RandomValues(kDepth * kColumns, 9);
  std::vector<float> c(kRows * kStride, 7.0f);
  Multiply(RowMajor(a, kRows, kDepth),
           PackedMatrix(RowMajor(b, kDepth, kColumns)), {}, c.data(), kStride);
  for (int i = 0; i < kRows; ++i) {
    for (int j = kColumns; j < kStride; ++j) {
      ASSERT_EQ(c[i * kStride + j], 7.0f) << i << ", " << j;
    }
  }
}

TEST(GemmTest, EmptyShapesAreHarmless) {
  const std::vector<float> bias = {1, 2, 3};
  std::vector<float> c(6, 9.0f);
  PackedMatrix no_depth(StridedMatrix{nullptr, 0, 3, 3, 1});
  Multiply({nullptr, 2, 0, 0, 1}, no_depth, {.bias = bias.data()}, c.data(), 3);
  EXPECT_THAT(c, ElementsAreArray({1, 2, 3, 1, 2, 3}));
  Multiply({nullptr, 0, 0, 0, 1}, no_depth, {}, nullptr, 3);
  Multiply({nullptr, 2, 0, 0, 1}, PackedMatrix(), {}, c.data(), 0);
}

TEST(GemmTest, PackAgainReplacesTheContent) {
  const std::vector<float> big = RandomValues(50 * 70, 10);
  const std::vector<float> small = {1, 2, 3, 4};
  PackedMatrix packed(RowMajor(big, 50, 70));
  packed.Pack(RowMajor(small, 2, 2));
  EXPECT_EQ(packed.depth(), 2);
  EXPECT_EQ(packed.columns(), 2);
  const std::vector<float> a = {1, 10};
  std::vector<float> c(2);
  Multiply(RowMajor(a, 1, 2), packed, {}, c.data(), 2);
  EXPECT_THAT(c, ElementsAreArray({31, 42}));
}

// Parts that begin and end anywhere, the last panel's padding included.
TEST(GemmTest, PackedInPartsEqualsPackedAtOnce) {
  constexpr int kDepth = 37, kColumns = 150;
  const std::vector<float> values = RandomValues(kDepth * kColumns, 11);
  const StridedMatrix b = RowMajor(values, kDepth, kColumns);
  PackedMatrix by_rows, by_columns;
  for (PackedMatrix* packed : {&by_rows, &by_columns}) {
    packed->Resize(200, 200);
    packed->Resize(kDepth, kColumns);
  }
  for (int k = 0; k < kDepth; k += 5) {
    const int rows = std::min(5, kDepth - k);
    by_rows.PackRows({b.data + k * kColumns, rows, kColumns, kColumns, 1}, k);
  }
  for (int j = 0; j < kColumns; j += 47) {
    const int columns = std::min(47, kColumns - j);
    by_columns.PackColumns({b.data + j, kDepth, columns, kColumns, 1}, j);
  }
  const std::vector<float> a = RandomValues(8 * kDepth, 12);
  const std::vector<float> expected = Product(RowMajor(a, 8, kDepth), b);
  for (const PackedMatrix* packed : {&by_rows, &by_columns}) {
    std::vector<float> c(8 * kColumns);
    Multiply(RowMajor(a, 8, kDepth), *packed, {}, c.data(), kColumns);
    EXPECT_THAT(c, ElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace semrank
