// Our matrix product beside Eigen's, at the shapes of a 300-300-128 tower and
// its training. FLOPS counts a multiply and an add as two.
#include <benchmark/benchmark.h>

#include <random>

#include "model/nn/gemm.h"
#include "tests/bench/matrix.h"

namespace semrank {
namespace {

Matrix RandomMatrix(int rows, int columns) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  return Matrix::NullaryExpr(rows, columns, [&] { return uniform(random); });
}

StridedMatrix View(const Matrix& m) {
  return {m.data(), static_cast<int>(m.rows()), static_cast<int>(m.cols()),
          m.cols(), 1};
}

void Report(benchmark::State& state, const Matrix& got, const Matrix& want) {
  if (!got.isApprox(want, 1e-4f)) state.SkipWithError("wrong product");
  const double flops = 2.0 * static_cast<double>(state.range(0)) *
                       static_cast<double>(state.range(1)) *
                       static_cast<double>(state.range(2));
  state.counters["FLOPS"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

// Arguments are rows x depth x columns. B was packed before, as in serving.
void BM_Multiply_Ours(benchmark::State& state) {
  const Matrix a = RandomMatrix(state.range(0), state.range(1));
  const Matrix b = RandomMatrix(state.range(1), state.range(2));
  Matrix c(a.rows(), b.cols());
  const PackedMatrix packed(View(b));
  for (auto _ : state) {
    Multiply(View(a), packed, {}, c.data(), c.cols());
    benchmark::ClobberMemory();
  }
  Report(state, c, a * b);
}

void BM_Multiply_Eigen(benchmark::State& state) {
  const Matrix a = RandomMatrix(state.range(0), state.range(1));
  const Matrix b = RandomMatrix(state.range(1), state.range(2));
  Matrix c(a.rows(), b.cols());
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::ClobberMemory();
  }
  Report(state, c, a * b);
}

void TowerShapes(benchmark::internal::Benchmark* bench) {
  for (const int rows : {1, 2, 3, 4, 8, 16, 32, 64, 100, 1024}) {
    bench->Args({rows, 300, 300});
  }
  for (const int rows : {1, 8, 64, 1024}) bench->Args({rows, 300, 128});
  bench->Args({1024, 128, 1024});
}
BENCHMARK(BM_Multiply_Ours)->Apply(TowerShapes);
BENCHMARK(BM_Multiply_Eigen)->Apply(TowerShapes);

// dW = X^T dY. The time includes packing dY, as in a training step.
void BM_WeightGradient_Ours(benchmark::State& state) {
  const Matrix x = RandomMatrix(state.range(1), state.range(0));
  const Matrix dy = RandomMatrix(state.range(1), state.range(2));
  Matrix dw(state.range(0), state.range(2));
  PackedMatrix packed;
  for (auto _ : state) {
    packed.Pack(View(dy));
    Multiply(View(x).Transposed(), packed, {}, dw.data(), dw.cols());
    benchmark::ClobberMemory();
  }
  Report(state, dw, x.transpose() * dy);
}

void BM_WeightGradient_Eigen(benchmark::State& state) {
  const Matrix x = RandomMatrix(state.range(1), state.range(0));
  const Matrix dy = RandomMatrix(state.range(1), state.range(2));
  Matrix dw(state.range(0), state.range(2));
  for (auto _ : state) {
    dw.noalias() = x.transpose() * dy;
    benchmark::ClobberMemory();
  }
  Report(state, dw, x.transpose() * dy);
}

// dX = dY W^T. The time includes packing the transposed weights.
void BM_InputGradient_Ours(benchmark::State& state) {
  const Matrix dy = RandomMatrix(state.range(0), state.range(1));
  const Matrix w = RandomMatrix(state.range(2), state.range(1));
  Matrix dx(state.range(0), state.range(2));
  PackedMatrix packed;
  for (auto _ : state) {
    packed.Pack(View(w).Transposed());
    Multiply(View(dy), packed, {}, dx.data(), dx.cols());
    benchmark::ClobberMemory();
  }
  Report(state, dx, dy * w.transpose());
}

void BM_InputGradient_Eigen(benchmark::State& state) {
  const Matrix dy = RandomMatrix(state.range(0), state.range(1));
  const Matrix w = RandomMatrix(state.range(2), state.range(1));
  Matrix dx(state.range(0), state.range(2));
  for (auto _ : state) {
    dx.noalias() = dy * w.transpose();
    benchmark::ClobberMemory();
  }
  Report(state, dx, dy * w.transpose());
}

void GradientShapes(benchmark::internal::Benchmark* bench) {
  bench->Args({300, 1024, 300});
  bench->Args({300, 1024, 128});
}
BENCHMARK(BM_WeightGradient_Ours)->Apply(GradientShapes);
BENCHMARK(BM_WeightGradient_Eigen)->Apply(GradientShapes);
BENCHMARK(BM_InputGradient_Ours)
    ->Args({1024, 300, 300})
    ->Args({1024, 128, 300});
BENCHMARK(BM_InputGradient_Eigen)
    ->Args({1024, 300, 300})
    ->Args({1024, 128, 300});

}  // namespace
}  // namespace semrank
