// Eigen types for comparisons. All matrices are row-major: one row is a text or
// an input of a layer; weights are [in, out] as in the model file.
#ifndef SEMRANK_TESTS_BENCH_MATRIX_H_
#define SEMRANK_TESTS_BENCH_MATRIX_H_

#include <Eigen/Core>

namespace semrank {

using Matrix =
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowVector = Eigen::Matrix<float, 1, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMatrixMap = Eigen::Map<const Matrix>;
using MatrixMap = Eigen::Map<Matrix>;
using ConstRowVectorMap = Eigen::Map<const RowVector>;

}  // namespace semrank

#endif  // SEMRANK_TESTS_BENCH_MATRIX_H_
