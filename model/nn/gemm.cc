#include "model/nn/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/nn/gemm.cc"
#include <hwy/foreach_target.h>  // before all that includes highway.h

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "model/nn/simd.h"

HWY_BEFORE_NAMESPACE();
namespace semrank::HWY_NAMESPACE {
namespace {

using simd::IntVec;
using simd::kLanes;
using simd::Vec;

// One tile of C stays in registers: its sums, one row of B as wide as the tile
// and one broadcast value of A. A tile of at most kWideTileRows rows is
// kWideTileVectors wide: with fewer sums each multiply-add would wait for the
// previous one. 16 registers hold a tile of kTileRows only if it is narrower.
constexpr int kTileRows = 6;
constexpr int kTileVectors = simd::kVectorBytes == 64 ? 4 : 2;
constexpr int kWideTileRows = 2;
constexpr int kWideTileVectors = 4;

// B is packed in panels as wide as a tile, so that a tile reads consecutive
// cache lines: those of half a panel would share half the sets of the L1 cache.
constexpr int kPanelColumns = kTileVectors * kLanes;

// Rows of A that stay in the L2 cache while all panels are multiplied.
constexpr int kBlockRows = 16 * kTileRows;

int DivideUp(int a, int b) { return (a + b - 1) / b; }

int VectorsOf(int columns) { return DivideUp(columns, kLanes); }

// A step of the depth adds to a sum: the product of two floats ...
struct FloatStep {
  static Vec Add(const Vec& a, const Vec& b, const Vec& sum) {
    return simd::MultiplyAdd(a, b, sum);
  }
};

// ... or of the integers in two units (gemm.h): pairs of 16 bits ...
struct PairStep {
  static Vec Add(const Vec& a, const Vec& b, const Vec& sum) {
    return reinterpret_cast<Vec>(reinterpret_cast<IntVec>(sum) +
                                 Multiply(a, b));
  }

 private:
#if SEMRANK_SIMD_AVX512
  static IntVec Multiply(const Vec& a, const Vec& b) {
    return reinterpret_cast<IntVec>(_mm512_madd_epi16(
        reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
  }
#elif SEMRANK_SIMD_AVX2
  static IntVec Multiply(const Vec& a, const Vec& b) {
    return reinterpret_cast<IntVec>(_mm256_madd_epi16(
        reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
  }
#elif HWY_ARCH_X86
  static IntVec Multiply(const Vec& a, const Vec& b) {
    return reinterpret_cast<IntVec>(_mm_madd_epi16(
        reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
  }
#else
  static IntVec Multiply(const Vec& a, const Vec& b) {
    return Lower(a) * Lower(b) + Upper(a) * Upper(b);
  }
  static IntVec Lower(const Vec& pairs) {
    return reinterpret_cast<IntVec>(pairs) << 16 >> 16;
  }
  static IntVec Upper(const Vec& pairs) {
    return reinterpret_cast<IntVec>(pairs) >> 16;
  }
#endif
};

#if SEMRANK_SIMD_AVX512
// ... or four of 8 bits, without sign in A.
struct QuadStep {
  static Vec Add(const Vec& a, const Vec& b, Vec sum) {
    // An intrinsic would need the whole kernel compiled for a target that this
    // version of Highway does not have.
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  }
};
#endif

struct Tile {
  const float* a;
  std::ptrdiff_t a_row_stride;
  std::ptrdiff_t a_column_stride;
  const float* panel;         // at the tile's first column
  std::ptrdiff_t next_panel;  // from one panel to the next
  int depth;
  // The initial values of the sums: null for 0, a row of the bias for all rows
  // (stride 0), or C itself.
  const float* initial;
  std::ptrdiff_t initial_row_stride;
  float* c;
  std::ptrdiff_t c_row_stride;
  int last_lanes;  // used lanes of the last vector of a row
};

// The inner kernel. Whatever Rows and Vectors are, each element of C goes
// through the same sequence of operations, so remainders give the same bits.
// (Without Unroll GCC moves the sums through memory before and after the loop.)
template <typename Step, int Rows, int Vectors>
void MultiplyTile(const Tile& t) {
  using simd::Unroll;
  Vec sums[Rows][Vectors];
  if (t.initial == nullptr) {
    Unroll<Rows * Vectors>(
        [&](auto n) HWY_ATTR { sums[n / Vectors][n % Vectors] = Vec{}; });
  } else {
    Unroll<Rows>([&](auto r) HWY_ATTR {
      const float* initial = t.initial + r * t.initial_row_stride;
      Unroll<Vectors - 1>([&](auto v) HWY_ATTR {
        sums[r][v] = simd::Load(initial + v * kLanes);
      });
      sums[r][Vectors - 1] =
          simd::LoadPartial(initial + (Vectors - 1) * kLanes, t.last_lanes);
    });
  }
  // In training C was last written a step ago, so it is fetched during the
  // product. (Products of few rows belong to serving, whose C is in the cache.)
  if constexpr (Rows == kTileRows) {
    Unroll<Rows>([&](auto r) HWY_ATTR {
      const float* c = t.c + r * t.c_row_stride;
      __builtin_prefetch(c, /*rw=*/1);
      __builtin_prefetch(c + (Vectors - 1) * kLanes, /*rw=*/1);
    });
  }
  const float* a = t.a;
  const float* panel = t.panel;
  const std::ptrdiff_t next_panel = t.next_panel;
  const int depth = t.depth;
  // This was measured to be up to a third faster where rows of A lie
  // in columns.
#pragma GCC unroll 4
  for (int k = 0; k < depth; ++k) {
    Vec b[Vectors];
    for (int v = 0; v < Vectors; ++v) {
      b[v] = simd::Load(panel + v / kTileVectors * next_panel +
                        v % kTileVectors * kLanes);
      simd::KeepInRegister(b[v]);
    }
    for (int r = 0; r < Rows; ++r) {
      const Vec value = simd::Broadcast(a[r * t.a_row_stride]);
      for (int v = 0; v < Vectors; ++v) {
        sums[r][v] = Step::Add(value, b[v], sums[r][v]);
      }
    }
    a += t.a_column_stride;
    panel += kPanelColumns;
  }
  Unroll<Rows>([&](auto r) HWY_ATTR {
    float* c = t.c + r * t.c_row_stride;
    Unroll<Vectors - 1>(
        [&](auto v) HWY_ATTR { simd::Store(sums[r][v], c + v * kLanes); });
    if (t.last_lanes == kLanes) {
      simd::Store(sums[r][Vectors - 1], c + (Vectors - 1) * kLanes);
    } else {
      simd::StorePartial(sums[r][Vectors - 1], c + (Vectors - 1) * kLanes,
                         t.last_lanes);
    }
  });
}

using TileFunction = void (*)(const Tile&);

template <typename Step, int Rows, int Vectors>
constexpr TileFunction TileOf() {
  if constexpr (Rows <= kWideTileRows || Vectors <= kTileVectors) {
    return MultiplyTile<Step, Rows, Vectors>;
  } else {
    return nullptr;
  }
}

template <typename Step, int Rows, int... Vectors>
constexpr std::array<TileFunction, kWideTileVectors> TilesOfRows(
    std::integer_sequence<int, Vectors...>) {
  return {TileOf<Step, Rows, Vectors + 1>()...};
}

template <typename Step, int... Rows>
constexpr auto AllTiles(std::integer_sequence<int, Rows...>) {
  return std::array{TilesOfRows<Step, Rows + 1>(
      std::make_integer_sequence<int, kWideTileVectors>())...};
}

// kTiles<Step>[rows - 1][vectors - 1].
template <typename Step>
constexpr auto kTiles =
    AllTiles<Step>(std::make_integer_sequence<int, kTileRows>());
using Tiles = decltype(kTiles<FloatStep>);

int IntegersOfUnit() {
#if SEMRANK_SIMD_AVX512
  static const bool has_quads = __builtin_cpu_supports("avx512vnni");
  if (has_quads) return 4;
#endif
  return 2;
}

const Tiles& TilesFor(bool integers) {
  if (!integers) return kTiles<FloatStep>;
#if SEMRANK_SIMD_AVX512
  if (IntegersOfUnit() == 4) return kTiles<QuadStep>;
#endif
  return kTiles<PairStep>;
}

// Computes `rows` rows of C, `vectors` SIMD vectors wide, in tiles of nearly
// equal height: 8 rows as 4 + 4, not as 6 + 2, which would leave the
// multipliers idle. `tile` moves down with them: a copy would wait for what was
// written to the original just before.
void MultiplyRows(const Tiles& tiles, Tile& tile, int rows, int vectors) {
  const int num_tiles = DivideUp(rows, kTileRows);
  for (int i = 0; i < num_tiles; ++i) {
    const int tile_rows = (rows + i) / num_tiles;
    tiles[static_cast<std::size_t>(tile_rows - 1)]
         [static_cast<std::size_t>(vectors - 1)](tile);
    tile.a += tile_rows * tile.a_row_stride;
    tile.c += tile_rows * tile.c_row_stride;
    if (tile.initial != nullptr) {
      tile.initial += tile_rows * tile.initial_row_stride;
    }
  }
}

// Copies `columns` columns of B, which begin at `data` in row 0, into one
// panel. Goes through B in small squares, so that transposed matrices are
// fast too.
void PackPanel(const StridedMatrix& b, const float* data, int columns,
               float* panel) {
  constexpr int kSquare = 16;
  for (int k0 = 0; k0 < b.rows; k0 += kSquare) {
    const int k1 = std::min(k0 + kSquare, b.rows);
    if (b.column_stride == 1) {
      for (int k = k0; k < k1; ++k) {
        const float* from = data + k * b.row_stride;
        float* to = panel + k * kPanelColumns;
        if (columns == kPanelColumns) {
          for (int v = 0; v < kTileVectors; ++v) {
            simd::Store(simd::Load(from + v * kLanes), to + v * kLanes);
          }
        } else {
          std::copy(from, from + columns, to);
        }
      }
      continue;
    }
    for (int j = 0; j < columns; ++j) {
      for (int k = k0; k < k1; ++k) {
        panel[k * kPanelColumns + j] =
            data[k * b.row_stride + j * b.column_stride];
      }
    }
  }
}

// The number of floats that B occupies in panels.
std::size_t PackedFloats(int depth, int columns) {
  return static_cast<std::size_t>(depth) *
         static_cast<std::size_t>(DivideUp(columns, kPanelColumns)) *
         kPanelColumns;
}

// The block begins at a row and a column of B, which has `depth` rows.
void PackPanels(const StridedMatrix& block, int depth, int first_row,
                int first_column, float* panels) {
  // Threads pack slices of columns, which may begin and end inside a panel.
  for (int j = 0; j < block.columns;) {
    const int column = first_column + j;
    const int in_panel = column % kPanelColumns;
    const int count = std::min(kPanelColumns - in_panel, block.columns - j);
    float* panel = panels +
                   static_cast<std::ptrdiff_t>(depth) * (column - in_panel) +
                   first_row * kPanelColumns + in_panel;
    PackPanel(block, block.data + j * block.column_stride, count, panel);
    j += count;
  }
}

// B has a.columns rows.
void MultiplyPacked(const StridedMatrix& a, const float* panels,
                    int num_columns, const MultiplyOptions& options, float* c,
                    std::ptrdiff_t c_row_stride) {
  const Tiles& tiles = TilesFor(options.integers);
  const std::ptrdiff_t depth = a.columns;
  for (int row = 0; row < a.rows; row += kBlockRows) {
    const int rows = std::min(kBlockRows, a.rows - row);
    const int width =
        (rows <= kWideTileRows ? kWideTileVectors : kTileVectors) * kLanes;
    for (int j = 0; j < num_columns; j += width) {
      const int columns = std::min(width, num_columns - j);
      const int vectors = VectorsOf(columns);
      Tile tile = {};
      tile.a = a.data + row * a.row_stride;
      tile.a_row_stride = a.row_stride;
      tile.a_column_stride = a.column_stride;
      // j is a multiple of kPanelColumns, so the panels before it have
      // depth * j floats.
      tile.panel = panels + depth * j;
      tile.next_panel = depth * kPanelColumns;
      tile.depth = a.columns;
      tile.c = c + row * c_row_stride + j;
      tile.c_row_stride = c_row_stride;
      tile.initial = options.accumulate        ? tile.c
                     : options.bias != nullptr ? options.bias + j
                                               : nullptr;
      tile.initial_row_stride = options.accumulate ? c_row_stride : 0;
      tile.last_lanes = columns - (vectors - 1) * kLanes;
      MultiplyRows(tiles, tile, rows, vectors);
    }
  }
}

}  // namespace
}  // namespace semrank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semrank {

HWY_EXPORT(PackedFloats);
HWY_EXPORT(PackPanels);
HWY_EXPORT(MultiplyPacked);
HWY_EXPORT(IntegersOfUnit);

void PackedMatrix::Pack(const StridedMatrix& matrix) {
  Resize(matrix.rows, matrix.columns);
  PackRows(matrix, 0);
}

void PackedMatrix::Resize(int depth, int columns) {
  assert(depth >= 0 && columns >= 0);
  if (depth == depth_ && columns == columns_) return;
  depth_ = depth;
  columns_ = columns;
  const std::size_t floats = HWY_DYNAMIC_DISPATCH(PackedFloats)(depth, columns);
  // Zeros, for the padding of the last panel.
  lines_.assign((floats + kLineFloats - 1) / kLineFloats, CacheLine{});
}

void PackedMatrix::PackRows(const StridedMatrix& rows, int first) {
  assert(rows.columns == columns_);
  PackBlock(rows, first, 0);
}

void PackedMatrix::PackColumns(const StridedMatrix& columns, int first) {
  assert(columns.rows == depth_);
  PackBlock(columns, 0, first);
}

void PackedMatrix::PackBlock(const StridedMatrix& block, int first_row,
                             int first_column) {
  assert(first_row + block.rows <= depth_);
  assert(first_column + block.columns <= columns_);
  if (lines_.empty()) return;
  HWY_DYNAMIC_DISPATCH(PackPanels)
  (block, depth_, first_row, first_column, lines_.data()->values);
}

void Multiply(const StridedMatrix& a, const PackedMatrix& b,
              const MultiplyOptions& options, float* c,
              std::ptrdiff_t c_row_stride) {
  assert(a.columns == b.depth());
  assert(c_row_stride >= b.columns());
  assert(options.bias == nullptr || !options.accumulate);
  const float* panels = b.lines_.empty() ? nullptr : b.lines_.data()->values;
  HWY_DYNAMIC_DISPATCH(MultiplyPacked)
  (a, panels, b.columns(), options, c, c_row_stride);
}

int IntegersPerUnit() { return HWY_DYNAMIC_DISPATCH(IntegersOfUnit)(); }

}  // namespace semrank
#endif  // HWY_ONCE
