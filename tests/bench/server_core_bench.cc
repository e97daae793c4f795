// Rank without gRPC: the cost of engine, cache, catalog and tower.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "server/ranking/ranking_engine.h"
#include "tests/support/fake_caller.h"
#include "tests/support/run_engines.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

// Titles of about 50 bytes and 8 words, no two alike.
std::vector<std::string> MakeTitles(int count) {
  const char* const words[] = {"blue",  "running", "shoes", "letters",
                               "light", "garden",  "music", "table"};
  std::vector<std::string> titles;
  for (int i = 0; i < count; ++i) {
    std::string title = std::to_string(i);
    for (int w = 0; w < 7; ++w) {
      title += std::string(" ") + words[(i / (w + 1) + w * 3) % 8];
    }
    titles.push_back(title);
  }
  return titles;
}

struct Bench {
  explicit Bench(std::size_t cache_bytes, double lexical_weight = -1)
      : cache(DocumentVectorCache::Create(cache_bytes).value()),
        embedder(cache.get(), &metrics),
        engine(Limits(), &embedder, &metrics),
        served{.model = MakeTinyModel({.num_buckets = 30'000,
                                       .hidden_dim = 300,
                                       .embedding_dim = 128,
                                       .lexical_weight = lexical_weight})} {}

  void Rank(const std::vector<std::string_view>& titles) {
    const absl::Status status = RankAll(
        engine, served, {.query = "blue garden shoes", .titles = titles},
        caller, result);
    if (!status.ok()) std::abort();
  }

  Metrics metrics;
  std::unique_ptr<DocumentVectorCache> cache;
  TextEmbedder embedder;
  RankingEngine engine;
  ServedModel served;
  FakeCaller caller;
  RankResult result;
};

void RankTitles(benchmark::State& state, std::size_t cache_bytes,
                double lexical_weight = -1) {
  Bench bench(cache_bytes, lexical_weight);
  const std::vector<std::string> titles =
      MakeTitles(static_cast<int>(state.range(0)));
  const std::vector<std::string_view> views(titles.begin(), titles.end());
  bench.Rank(views);
  for (auto _ : state) bench.Rank(views);
  if (bench.result.ranking.size() != titles.size()) std::abort();
  if (bench.result.cache.hits != (cache_bytes > 0 ? titles.size() : 0)) {
    std::abort();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_Rank_Cached(benchmark::State& state) { RankTitles(state, 64 << 20); }
BENCHMARK(BM_Rank_Cached)->Arg(1)->Arg(100)->Arg(1000);

// This should take at most 1.25 times as long as BM_Rank_Cached.
void BM_Rank_CachedWithLexicalPart(benchmark::State& state) {
  RankTitles(state, 64 << 20, 0.25);
}
BENCHMARK(BM_Rank_CachedWithLexicalPart)->Arg(1)->Arg(100)->Arg(1000);

void BM_Rank_ColdWithLexicalPart(benchmark::State& state) {
  RankTitles(state, 0, 0.25);
}
BENCHMARK(BM_Rank_ColdWithLexicalPart)->Arg(100);

void BM_Rank_Cold(benchmark::State& state) { RankTitles(state, 0); }
BENCHMARK(BM_Rank_Cold)->Arg(1)->Arg(100)->Arg(1000);

// Ranks documents of a catalog of 20,000 x 256, whose vectors do not fit into
// the L2 cache. Each call has other ids.
void RankCatalogIds(benchmark::State& state, VectorPrecision precision) {
  constexpr int kDim = 256;
  constexpr std::uint64_t kNumDocuments = 20'000;
  const auto served = std::make_shared<ServedModel>(
      ServedModel{.model = MakeTinyModel(
                      {.embedding_dim = kDim, .vector_precision = precision})});
  DocumentCatalog catalog(kNumDocuments);
  if (!catalog.BeginModel(served).ok()) std::abort();
  std::vector<CatalogRecord::Pointer> records;
  for (const std::string& title : MakeTitles(kNumDocuments)) {
    records.push_back(CatalogRecord::Make(records.size(), title, ""));
  }
  const std::vector<float> vectors(kNumDocuments * kDim, 1.0f / 16);
  const DocumentCatalog::Rows rows = {served, vectors.data()};
  if (!catalog.Put(records, {&rows, 1}).ok()) std::abort();

  Metrics metrics;
  const auto cache = DocumentVectorCache::Create(1 << 20).value();
  TextEmbedder embedder(cache.get(), &metrics);
  const RankingEngine engine(Limits(), &embedder, &metrics, &catalog);
  FakeCaller caller;
  RankResult result;
  std::vector<std::uint64_t> ids(state.range(0));
  std::mt19937 random(1);
  for (auto _ : state) {
    for (std::uint64_t& id : ids) id = random() % kNumDocuments;
    const absl::Status status =
        RankAll(engine, *served, {.query = "blue garden shoes", .ids = ids},
                caller, result);
    if (!status.ok() || result.ranking.size() != ids.size()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_Rank_CatalogIds(benchmark::State& state) {
  RankCatalogIds(state, VectorPrecision::kFloat32);
}
BENCHMARK(BM_Rank_CatalogIds)->Arg(100)->Arg(1000);

void BM_Rank_CatalogIdsInBf16(benchmark::State& state) {
  RankCatalogIds(state, VectorPrecision::kBf16);
}
BENCHMARK(BM_Rank_CatalogIdsInBf16)->Arg(1000);

void BM_Rank_CatalogIdsInInt8(benchmark::State& state) {
  RankCatalogIds(state, VectorPrecision::kInt8);
}
BENCHMARK(BM_Rank_CatalogIdsInInt8)->Arg(1000);

// Measures the cache alone, with a million vectors: most look-ups miss every
// cache of the processor.
void BM_Cache_FindAmongMillion(benchmark::State& state) {
  constexpr int kDim = 128;
  constexpr int kNumEntries = 1'000'000;
  static DocumentVectorCache& cache = *[] {
    auto* made =
        DocumentVectorCache::Create(std::size_t{640} << 20).value().release();
    const std::vector<float> row(kDim, 0.5f);
    for (std::uint64_t i = 0; i < kNumEntries; ++i) {
      const VectorKey key = {
          0, Side::kDocument, {i * 0xbf58476d1ce4e5b9, i * 0x9e3779b97f4a7c15}};
      made->Insert({&key, 1}, {kDim}, row.data());
    }
    return made;
  }();
  const int count = static_cast<int>(state.range(0));
  std::vector<VectorKey> keys(count);
  std::vector<float> rows(std::size_t(count) * kDim);
  std::vector<std::uint8_t> found(count);
  std::uint64_t next = 1;
  for (auto _ : state) {
    for (VectorKey& key : keys) {
      next = next * 6364136223846793005 + 1442695040888963407;
      const std::uint64_t i = (next >> 33) % kNumEntries;
      key.text = {i * 0xbf58476d1ce4e5b9, i * 0x9e3779b97f4a7c15};
    }
    if (cache.Find(keys, {kDim}, {rows.data()}, found) != count) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(BM_Cache_FindAmongMillion)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace semrank
