// Search over the whole catalog: one query at a time in one thread, beside
// FAISS's exact index (IndexFlatIP) over the same vectors where libfaiss-dev is
// installed. SEMRANK_BENCH_MILLION=1 adds a catalog of a million.
#include <benchmark/benchmark.h>
#if defined(SEMRANK_HAVE_FAISS)
#include <faiss/IndexFlat.h>
#include <omp.h>
#endif

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "model/nn/kernels.h"
#include "server/catalog/catalog_scan.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

constexpr int kDim = 128;
constexpr int kTopK = 10;

std::vector<float> RandomRows(int count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> rows(std::size_t(count) * kDim);
  for (float& value : rows) value = uniform(random);
  NormalizeRows(count, kDim, rows.data());
  return rows;
}

// One of each size is made and kept while the benchmarks run.
const std::vector<float>& Documents(int count) {
  static std::map<int, std::vector<float>>& all =
      *new std::map<int, std::vector<float>>;
  std::vector<float>& rows = all[count];
  if (rows.empty()) rows = RandomRows(count, 1);
  return rows;
}

const DocumentCatalog& Catalog(int count) {
  static std::map<int, std::unique_ptr<DocumentCatalog>>& all =
      *new std::map<int, std::unique_ptr<DocumentCatalog>>;
  std::unique_ptr<DocumentCatalog>& catalog = all[count];
  if (catalog != nullptr) return *catalog;
  catalog = std::make_unique<DocumentCatalog>(std::size_t{64} << 20);
  const auto served = std::make_shared<ServedModel>(
      ServedModel{.model = MakeTinyModel({.embedding_dim = kDim})});
  if (!catalog->BeginModel(served).ok()) std::abort();
  constexpr int kBatch = 1'000;
  for (int first = 0; first < count; first += kBatch) {
    std::vector<CatalogRecord::Pointer> records;
    for (int i = 0; i < kBatch; ++i) {
      const auto id = static_cast<std::uint64_t>(first + i);
      records.push_back(CatalogRecord::Make(id, "a title of some words", ""));
    }
    const DocumentCatalog::Rows rows = {
        served, Documents(count).data() + std::size_t(first) * kDim};
    if (!catalog->Put(records, {&rows, 1}).ok()) std::abort();
  }
  return *catalog;
}

// A million takes seconds and 1.5 GB: for people who compare, not for each run
// of the tests.
void AlsoMillion(benchmark::internal::Benchmark* benchmark) {
  if (std::getenv("SEMRANK_BENCH_MILLION") != nullptr) {
    benchmark->Arg(1'000'000);
  }
}

void BM_Search_Catalog(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  const DocumentCatalog& catalog = Catalog(count);
  const std::vector<float> query = RandomRows(1, 2);
  const ScanQuery scan = {.row = query.data()};
  float best = 0;
  for (auto _ : state) {
    const DocumentCatalog::Snapshot snapshot = catalog.TakeSnapshot();
    TopDocuments top(kTopK, -1);
    ScanCatalog(snapshot, scan, 0, snapshot.num_slots(), top);
    const std::vector<CatalogHit> hits = top.Take(snapshot);
    if (hits.size() != kTopK) std::abort();
    best = hits[0].score;
  }
  state.counters["best"] = best;
  state.SetItemsProcessed(state.iterations() * count);
  state.SetBytesProcessed(state.iterations() * count * kDim * 4);
}
BENCHMARK(BM_Search_Catalog)->Arg(100'000)->Apply(AlsoMillion);

#if defined(SEMRANK_HAVE_FAISS)
void BM_Search_FaissFlat(benchmark::State& state) {
  omp_set_num_threads(1);
  const int count = static_cast<int>(state.range(0));
  faiss::IndexFlatIP index(kDim);
  index.add(count, Documents(count).data());
  const std::vector<float> query = RandomRows(1, 2);
  std::vector<float> scores(kTopK);
  std::vector<faiss::Index::idx_t> ids(kTopK);
  for (auto _ : state) {
    index.search(1, query.data(), kTopK, scores.data(), ids.data());
  }
  state.counters["best"] = scores[0];
  state.SetItemsProcessed(state.iterations() * count);
  state.SetBytesProcessed(state.iterations() * count * kDim * 4);
}
BENCHMARK(BM_Search_FaissFlat)->Arg(100'000)->Apply(AlsoMillion);
#endif

}  // namespace
}  // namespace semrank
