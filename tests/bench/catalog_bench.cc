// Search over the whole catalog: one query at a time in one thread, beside
// FAISS's exact index (IndexFlatIP) over the same vectors where libfaiss-dev is
// installed; and under a model with a lexical part, beside its dense part
// alone. SEMRANK_BENCH_MILLION=1 adds a catalog of a million,
// SEMRANK_BENCH_TEN_MILLION=1 one of ten million in int8.
#include <benchmark/benchmark.h>
#if defined(SEMRANK_HAVE_FAISS)
#include <faiss/IndexFlat.h>
#include <omp.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/synchronization/blocking_counter.h"
#include "model/base/thread_pool.h"
#include "model/nn/kernels.h"
#include "model/nn/lexical_query.h"
#include "model/nn/row_format.h"
#include "server/base/worker_pool.h"
#include "server/catalog/search/shared_scan.h"
#include "server/catalog/store/document_catalog.h"
#include "tests/support/scan_catalog.h"
#include "tests/support/tiny_model.h"

namespace semrank {
namespace {

constexpr int kDim = 256;
constexpr int kTopK = 10;

std::vector<float> RandomRows(int count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> rows(std::size_t(count) * kDim);
  for (float& value : rows) value = uniform(random);
  NormalizeRows(count, kDim, rows.data());
  return rows;
}

// At most kBatch documents, beginning with `first`, a multiple of kBatch.
constexpr int kBatch = 1'000;
std::vector<float> DocumentBatch(int first, int count) {
  return RandomRows(std::min(kBatch, count - first),
                    static_cast<std::uint32_t>(1'000 + first));
}

// The benchmarks share one catalog of each size and precision.
const DocumentCatalog& Catalog(
    int count, VectorPrecision precision = VectorPrecision::kFloat32) {
  using Key = std::pair<int, VectorPrecision>;
  static std::map<Key, std::unique_ptr<DocumentCatalog>>& all =
      *new std::map<Key, std::unique_ptr<DocumentCatalog>>;
  std::unique_ptr<DocumentCatalog>& catalog = all[{count, precision}];
  if (catalog != nullptr) return *catalog;
  catalog = std::make_unique<DocumentCatalog>(std::size_t{64} << 20);
  const auto served = std::make_shared<ServedModel>(
      ServedModel{.model = MakeTinyModel(
                      {.embedding_dim = kDim, .vector_precision = precision})});
  if (!catalog->BeginModel(served).ok()) std::abort();
  for (int first = 0; first < count; first += kBatch) {
    std::vector<float> batch = DocumentBatch(first, count);
    std::vector<CatalogRecord::Pointer> records;
    for (std::size_t i = 0; i < batch.size() / kDim; ++i) {
      RoundVector(precision, std::span(batch).subspan(i * kDim, kDim));
      records.push_back(
          CatalogRecord::Make(first + i, "a title of some words", ""));
    }
    const DocumentCatalog::Rows rows = {served, batch.data()};
    if (!catalog->Put(records, {&rows, 1}).ok()) std::abort();
  }
  return *catalog;
}

// A million documents take seconds and 1.5 GB, too much for each run of the
// tests.
void AlsoMillion(benchmark::internal::Benchmark* benchmark) {
  if (std::getenv("SEMRANK_BENCH_MILLION") != nullptr) {
    benchmark->Arg(1'000'000);
  }
}

// Ten million take half a minute and 6 GB.
void AlsoTenMillion(benchmark::internal::Benchmark* benchmark) {
  if (std::getenv("SEMRANK_BENCH_TEN_MILLION") != nullptr) {
    benchmark->Arg(10'000'000);
  }
}

void SearchCatalog(benchmark::State& state, VectorPrecision precision) {
  const int count = static_cast<int>(state.range(0));
  const DocumentCatalog& catalog = Catalog(count, precision);
  std::vector<float> query = RandomRows(1, 2);
  RoundVector(precision, query);
  float best = 0;
  for (auto _ : state) {
    const CatalogSnapshot snapshot = catalog.TakeSnapshot();
    const ScanQuery scan(&snapshot, {.row = query.data()});
    TopDocuments top(kTopK, -1);
    ScanCatalog(scan, 0, snapshot.num_slots(), top);
    const std::vector<CatalogHit> hits = top.Take(snapshot);
    if (hits.size() != kTopK) std::abort();
    best = hits[0].score;
  }
  state.counters["best"] = best;
  state.SetItemsProcessed(state.iterations() * count);
}
void BM_Search_Catalog(benchmark::State& state) {
  SearchCatalog(state, VectorPrecision::kFloat32);
}
BENCHMARK(BM_Search_Catalog)->Arg(63'666)->Apply(AlsoMillion);
void BM_Search_CatalogInInt8(benchmark::State& state) {
  SearchCatalog(state, VectorPrecision::kInt8);
}
BENCHMARK(BM_Search_CatalogInInt8)
    ->Arg(63'666)
    ->Apply(AlsoMillion)
    ->Apply(AlsoTenMillion);

// The texts "a title of" and "a title of so" begin every title, and "a title
// of some words" is all of each.
void SearchNames(benchmark::State& state, std::string_view text) {
  const int count = static_cast<int>(state.range(0));
  const CatalogSnapshot snapshot = Catalog(count).TakeSnapshot();
  const std::vector<float> query = RandomRows(1, 2);
  const NameQuery name(text, text);
  const ScanQuery scan(&snapshot, {.row = query.data(), .name = &name});
  for (auto _ : state) {
    TopDocuments top(kTopK, -1);
    ScanCatalog(scan, 0, snapshot.num_slots(), top);
    const std::vector<CatalogHit> hits = top.Take(snapshot);
    if (hits.size() != kTopK || hits[0].name == NameMatch::kNone) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * count);
}
void BM_Search_NamesBeginWithQuery(benchmark::State& state) {
  SearchNames(state, "a title of");
}
BENCHMARK(BM_Search_NamesBeginWithQuery)->Arg(63'666)->Apply(AlsoMillion);
void BM_Search_NamesEqualQuery(benchmark::State& state) {
  SearchNames(state, "a title of some words");
}
BENCHMARK(BM_Search_NamesEqualQuery)->Arg(63'666)->Apply(AlsoMillion);
// The query ends within a word, which only the texts show.
void BM_Search_NamesContinueQuery(benchmark::State& state) {
  SearchNames(state, "a title of so");
}
BENCHMARK(BM_Search_NamesContinueQuery)->Arg(63'666)->Apply(AlsoMillion);

// Documents of 32 tags that a filter of range(0) included and as many excluded
// tags does not know, so that every tag is compared with the whole filter.
void BM_TagMatcher_Keeps(benchmark::State& state) {
  const auto tags_of = [](std::string_view prefix, std::int64_t count) {
    std::vector<std::string> tags;
    for (std::int64_t i = 0; i < count; ++i) {
      tags.push_back(absl::StrFormat("%s%06d", prefix, i));
    }
    return tags;
  };
  const std::vector<std::string> include = tags_of("size", state.range(0));
  const std::vector<std::string> exclude = tags_of("shop", state.range(0));
  const std::vector<std::string> own = tags_of("item", kMaxTagsPerDocument);
  const std::vector<std::string_view> views(own.begin(), own.end());
  const std::string packed = PackTags(views);
  const TagMatcher matcher({.include = {include.begin(), include.end()},
                            .exclude = {exclude.begin(), exclude.end()}});
  for (auto _ : state) {
    if (matcher.Keeps(packed)) std::abort();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_TagMatcher_Keeps)->Arg(1)->Arg(16)->Arg(256);

// Runs a search slice by slice; each slice queues behind the other waiting
// work.
void RunSlices(WorkerPool& pool, SharedScan& scan,
               absl::BlockingCounter& unfinished) {
  pool.Submit([&] {
    if (!scan.RunSlice()) return RunSlices(pool, scan, unfinished);
    scan.Stop();
    unfinished.DecrementCount();
  });
}

// Several searches in flight, on all processors.
void SearchInFlight(benchmark::State& state, VectorPrecision precision,
                    int num_in_flight) {
  const int count = static_cast<int>(state.range(0));
  const CatalogSnapshot snapshot = Catalog(count, precision).TakeSnapshot();
  std::vector<float> rows = RandomRows(num_in_flight, 2);
  for (int i = 0; i < num_in_flight; ++i) {
    RoundVector(precision, std::span(rows).subspan(i * kDim, kDim));
  }
  const auto group = std::make_shared<ScanGroup>();
  WorkerPool pool(NumUsableProcessors());
  for (auto _ : state) {
    std::deque<ScanQuery> queries;  // they cannot be moved
    std::vector<std::shared_ptr<SharedScan>> scans;
    absl::BlockingCounter unfinished(num_in_flight);
    for (int i = 0; i < num_in_flight; ++i) {
      const ScanQuery& query = queries.emplace_back(
          &snapshot, ScanQuery::Input{.row = &rows[i * kDim]});
      scans.push_back(std::make_shared<SharedScan>(
          group, &query,
          SharedScan::Options{.top_k = kTopK,
                              .min_score = -1,
                              .piece_slots = 16'384,
                              .slice_slots = 65'536}));
      scans.back()->Start(&pool);
      RunSlices(pool, *scans.back(), unfinished);
    }
    unfinished.Wait();
    for (const auto& scan : scans) {
      if (scan->TakeHits().size() != kTopK) std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * num_in_flight);
}
void BM_Search_InFlight(benchmark::State& state) {
  SearchInFlight(state, VectorPrecision::kFloat32, 32);
}
BENCHMARK(BM_Search_InFlight)
    ->Arg(63'666)
    ->Apply(AlsoMillion)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
void BM_Search_InFlightInInt8(benchmark::State& state) {
  SearchInFlight(state, VectorPrecision::kInt8, 32);
}
BENCHMARK(BM_Search_InFlightInInt8)
    ->Arg(63'666)
    ->Apply(AlsoTenMillion)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
void BM_Search_AloneInInt8(benchmark::State& state) {
  SearchInFlight(state, VectorPrecision::kInt8, 1);
}
BENCHMARK(BM_Search_AloneInInt8)
    ->Arg(63'666)
    ->Apply(AlsoTenMillion)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// A catalog under a model with a lexical part: 256 dimensions, titles of eight
// words with the frequencies of natural language (Zipf), 45 n-grams each.
class JoinedCatalog {
 public:
  static constexpr int kJoinedDim = 256;

  // The benchmarks share one catalog of each size.
  static const JoinedCatalog& Of(int count) {
    static std::map<int, std::unique_ptr<JoinedCatalog>>& all =
        *new std::map<int, std::unique_ptr<JoinedCatalog>>;
    std::unique_ptr<JoinedCatalog>& catalog = all[count];
    if (catalog == nullptr) catalog.reset(new JoinedCatalog(count));
    return *catalog;
  }

  const DocumentCatalog& documents() const { return documents_; }
  const TwoTowerModel& model() const { return *served_->model; }

 private:
  explicit JoinedCatalog(int count) {
    if (!documents_.BeginModel(served_).ok()) std::abort();
    std::mt19937 random(3);
    std::vector<std::string> words(20'000);
    for (std::string& word : words) word = Word(random);
    std::vector<float> row_values(std::size_t{kBatch} * kJoinedDim);
    std::normal_distribution<float> normal;
    for (int first = 0; first < count; first += kBatch) {
      std::vector<CatalogRecord::Pointer> records;
      const int size = std::min(kBatch, count - first);
      for (int i = 0; i < size; ++i) {
        records.push_back(CatalogRecord::Make(
            static_cast<std::uint64_t>(first + i), Title(words, random), ""));
      }
      for (float& value : row_values) value = normal(random);
      NormalizeRows(kBatch, kJoinedDim, row_values.data());
      const DocumentCatalog::Rows rows = {served_, row_values.data()};
      if (!documents_.Put(records, {&rows, 1}).ok()) std::abort();
    }
  }

  static std::string Word(std::mt19937& random) {
    std::string word;
    for (auto syllables = random() % 3 + 1; syllables > 0; --syllables) {
      word += "bcdfghklmnprstvw"[random() % 16];
      word += "aeiou"[random() % 5];
      if (random() % 2 == 0) word += "nrst"[random() % 4];
    }
    return word;
  }
  static std::string Title(const std::vector<std::string>& words,
                           std::mt19937& random) {
    std::uniform_real_distribution<double> uniform(0, 1);
    std::string title;
    for (int i = 0; i < 8; ++i) {
      // The rank of a word is the power of a uniform number: P(rank) ~ 1/rank.
      const double rank = std::pow(words.size() - 1.0, uniform(random));
      title += words[static_cast<std::size_t>(rank)] + " ";
    }
    return title;
  }
  static ServedModelPtr MakeServed() {
    const auto tiny = MakeTinyModel({.embedding_dim = kJoinedDim});
    const auto idf =
        std::make_shared<std::vector<float>>(kMaxLexicalBuckets, 5);
    std::shared_ptr<const LexicalPart> lexical =
        LexicalPart::Create({.idf = idf->data(), .weight = 0.3}, idf).value();
    return std::make_shared<ServedModel>(ServedModel{
        .model = TwoTowerModel::Create(tiny->version(), tiny->config(),
                                       tiny->featurizer(),
                                       {tiny, &tiny->tower(Side::kQuery)},
                                       {tiny, &tiny->tower(Side::kDocument)},
                                       {.lexical = lexical})
                     .value()});
  }

  const ServedModelPtr served_ = MakeServed();
  DocumentCatalog documents_{std::size_t{64} << 20};
};

// A query is a title of the catalog, or three words of one.
void SearchJoined(benchmark::State& state, ModelParts parts, int num_words,
                  bool by_name = true) {
  const int count = static_cast<int>(state.range(0));
  const JoinedCatalog& catalog = JoinedCatalog::Of(count);
  const CatalogSnapshot snapshot = catalog.documents().TakeSnapshot();
  std::string_view text = snapshot.record(5).title();
  std::size_t end = 0;
  for (int word = 0; word < num_words; ++word) end = text.find(' ', end) + 1;
  text = text.substr(0, end - 1);
  LexicalBatch entries;
  catalog.model().lexical()->AppendText(text, entries);
  LexicalQuery lexical;
  lexical.Prepare(entries[0]);
  const NameQuery name(text, text);
  const std::vector<float> query = snapshot.vector(7);
  const ScanQuery::Input input = {
      .row = query.data(),
      .lexical = parts == ModelParts::kSemantic ? nullptr : &lexical,
      .name = by_name ? &name : nullptr};
  for (auto _ : state) {
    const ScanQuery scan(&snapshot, input);
    TopDocuments top(kTopK, -1);
    ScanCatalog(scan, 0, snapshot.num_slots(), top);
    const std::vector<CatalogHit> hits = top.Take(snapshot);
    // The document of that name must be the first hit.
    if (hits.size() != kTopK || (hits[0].name != NameMatch::kNone) != by_name) {
      std::abort();
    }
  }
  state.counters["ngrams"] = static_cast<double>(lexical.entries().size());
  state.SetItemsProcessed(state.iterations() * count);
}
void BM_Search_DensePart(benchmark::State& state) {
  SearchJoined(state, ModelParts::kSemantic, 3);
}
BENCHMARK(BM_Search_DensePart)->Arg(63'666)->Apply(AlsoMillion);
void BM_Search_BothPartsOfThreeWords(benchmark::State& state) {
  SearchJoined(state, ModelParts::kBoth, 3);
}
BENCHMARK(BM_Search_BothPartsOfThreeWords)->Arg(63'666)->Apply(AlsoMillion);
// Measures what name matching with one edit adds to a search.
void BM_Search_BothPartsWithoutNames(benchmark::State& state) {
  SearchJoined(state, ModelParts::kBoth, 3, /*by_name=*/false);
}
BENCHMARK(BM_Search_BothPartsWithoutNames)->Arg(63'666)->Apply(AlsoMillion);
void BM_Search_BothPartsOfEightWords(benchmark::State& state) {
  SearchJoined(state, ModelParts::kBoth, 8);
}
BENCHMARK(BM_Search_BothPartsOfEightWords)->Arg(63'666)->Apply(AlsoMillion);

#if defined(SEMRANK_HAVE_FAISS)
void BM_Search_FaissFlat(benchmark::State& state) {
  omp_set_num_threads(1);
  const int count = static_cast<int>(state.range(0));
  faiss::IndexFlatIP index(kDim);
  for (int first = 0; first < count; first += kBatch) {
    const std::vector<float> batch = DocumentBatch(first, count);
    index.add(static_cast<int>(batch.size()) / kDim, batch.data());
  }
  const std::vector<float> query = RandomRows(1, 2);
  std::vector<float> scores(kTopK);
  std::vector<faiss::Index::idx_t> ids(kTopK);
  for (auto _ : state) {
    index.search(1, query.data(), kTopK, scores.data(), ids.data());
  }
  state.counters["best"] = scores[0];
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(BM_Search_FaissFlat)->Arg(63'666)->Apply(AlsoMillion);
#endif

}  // namespace
}  // namespace semrank
