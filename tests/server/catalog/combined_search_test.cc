// Searches of catalogs under models that score words beside vectors, against
// the definition of the score applied to every document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <semaphore>
#include <string>
#include <thread>
#include <tuple>

#include "model/nn/cosine_scorer.h"
#include "model/nn/lexical_query.h"
#include "model/text/normalizer.h"
#include "server/catalog/search/catalog_searcher.h"
#include "server/vectors/part_scorer.h"
#include "tests/support/fake_caller.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"
#include "tests/support/tiny_ssi_model.h"

namespace semrank {
namespace {

constexpr double kLexicalWeight = 0.4;

// The tiny model, with a lexical part of random idf.
std::shared_ptr<const TwoTowerModel> MakeLexicalModel(
    std::uint32_t seed, double weight = kLexicalWeight) {
  const auto tiny = MakeTinyModel({.seed = seed});
  const auto idf = std::make_shared<std::vector<float>>(1'000);
  std::mt19937 random(seed);
  for (float& value : *idf) value = static_cast<float>(random() % 900) / 100;
  std::shared_ptr<const LexicalPart> lexical =
      LexicalPart::Create({.num_buckets = static_cast<int>(idf->size()),
                           .idf = idf->data(),
                           .weight = weight},
                          idf)
          .value();
  v1::ModelConfig config = tiny->config();
  config.set_format_version(2);
  config.mutable_lexical()->set_weight(weight);
  config.mutable_lexical()->set_ngram_length(3);
  config.mutable_lexical()->set_num_buckets(1'000);
  return TwoTowerModel::Create(tiny->version(), config, tiny->featurizer(),
                               {tiny, &tiny->tower(Side::kQuery)},
                               {tiny, &tiny->tower(Side::kDocument)},
                               {.lexical = lexical})
      .value();
}

using Hit = std::tuple<std::string, float, NameMatch>;

std::string KeyText(const DocumentKeyView& key) {
  return key.index() == 0 ? std::to_string(std::get<0>(key))
                          : std::string(std::get<1>(key));
}

// A catalog under one model, and random changes of it.
class Catalog {
 public:
  explicit Catalog(std::shared_ptr<const TwoTowerModel> model)
      : Catalog(Serve(std::move(model))) {}
  explicit Catalog(const ServedModelPtr& model) {
    EXPECT_THAT(documents_.BeginModel(model), IsOk());
  }

  static ServedModelPtr Serve(std::shared_ptr<const TwoTowerModel> model) {
    static std::uint32_t number = 0;
    return std::make_shared<ServedModel>(
        ServedModel{.model = std::move(model), .number = ++number});
  }

  // Documents 0 to 2,999, half of them known by name, of words that they share.
  void PutSome(std::size_t count, std::mt19937& random) {
    std::vector<CatalogRecord::Pointer> records;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t id = random() % 3'000;
      const std::string name =
          Words(1 + random() % 2, random) + std::to_string(id);
      const std::vector<std::string_view> tags(random() % 3 == 0 ? 1 : 0, "t");
      records.push_back(CatalogRecord::Make(
          id % 2 == 0 ? DocumentKeyView(id) : DocumentKeyView(name),
          Words(random() % 6, random), "", PackTags(tags)));
    }
    std::vector<DocumentCatalog::Rows> rows;
    std::vector<std::vector<float>> values;
    for (const ServedModelPtr& model : documents_.Models()) {
      values.push_back(
          RandomRows(count * model->model->embedding_dim(), random));
      RoundVector(model->model->row_format().precision, values.back());
      rows.push_back({model, values.back().data()});
    }
    EXPECT_THAT(documents_.Put(records, rows).status(), IsOk());
  }
  void DeleteSome(std::size_t count, std::mt19937& random) {
    std::vector<DocumentKeyView> keys;
    for (std::size_t i = 0; i < count; ++i) {
      keys.emplace_back(std::uint64_t{random() % 3'000 / 2 * 2});
    }
    std::vector<bool> found;
    EXPECT_THAT(documents_.Delete(keys, found).status(), IsOk());
  }
  // Gives every document the vectors of another model, unless it has them.
  void ChangeModel(const ServedModelPtr& next, std::mt19937& random) {
    EXPECT_THAT(documents_.BeginModel(next), IsOk());
    const CommitNumber kept = documents_.NextModelCommit();
    const std::size_t dim = next->model->embedding_dim();
    for (std::uint32_t first = 0;; first += 300) {
      const CatalogSnapshot snapshot = documents_.TakeSnapshot();
      std::vector<std::uint32_t> slots;
      for (std::uint32_t i = first; i < first + 300; ++i) {
        if (i >= snapshot.num_slots() || !snapshot.IsVisible(i)) continue;
        if (snapshot.created_commit(i) > kept) slots.push_back(i);
      }
      std::vector<float> rows = RandomRows(slots.size() * dim, random);
      RoundVector(next->model->row_format().precision, rows);
      documents_.AddRows(snapshot, slots, rows.data());
      if (first >= snapshot.num_slots()) break;
      PutSome(50, random);
    }
    documents_.FinishModel();
  }

  SearchInput RandomSearch(std::mt19937& random, std::string& query) const {
    query = Words(1 + random() % 3, random);
    SearchInput input = {.query = query,
                         .top_k = static_cast<std::uint32_t>(random() % 50 + 1),
                         .offset = static_cast<std::uint32_t>(random() % 3)};
    if (random() % 3 == 0) input.min_score = 0.2f;
    if (random() % 3 == 0) input.filter.include = {"t"};
    if (random() % 3 == 0) input.filter.exclude = {"t"};
    input.name_match = random() % 2 == 0;
    input.with_parts = true;
    const ServedModelPtr served = documents_.TakeSnapshot().model();
    if (served->model->lexical() != nullptr) {
      input.parts = static_cast<ModelParts>(random() % 3);
    }
    return input;
  }

  std::vector<Hit> Search(const SearchInput& input, SearchResult& result,
                          WorkerPool* helpers = nullptr) const {
    SearchState state;
    searcher_.Begin(result);
    EXPECT_THAT(searcher_.Check(input, result), IsOk());
    while (true) {
      const auto progress =
          searcher_.RunSlice(input, FakeCaller(), helpers, state, result);
      EXPECT_THAT(progress, IsOk());
      if (!progress.ok() || *progress == Progress::kDone) break;
    }
    std::vector<Hit> hits;
    for (const CatalogHit& hit : result.hits) {
      hits.emplace_back(KeyText(result.snapshot.record(hit.slot).key()),
                        hit.score, hit.name);
    }
    return hits;
  }

  // The definition, for each document that the search saw.
  std::vector<Hit> Expect(const SearchInput& input,
                          const SearchResult& result) const;

  const DocumentCatalog& documents() const { return documents_; }

 private:
  static std::string Words(std::size_t count, std::mt19937& random) {
    constexpr const char* kWords[] = {"w1", "w2", "w11",  "edit", "editor",
                                      "ed", "w3", "foto", "x",    "photos"};
    std::string words;
    for (std::size_t i = 0; i < count; ++i) {
      words += (i == 0 ? "" : " ") + std::string(kWords[random() % 10]);
    }
    return words;
  }
  static std::vector<float> RandomRows(std::size_t size, std::mt19937& random) {
    std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
    std::vector<float> rows(size);
    for (float& value : rows) value = uniform(random);
    return rows;
  }
  // The score of one document, from its title and vector.
  static float Score(const TwoTowerModel& model, const std::string& query,
                     const float* query_row, const std::string& title,
                     const float* row, ModelParts parts);

  DocumentCatalog documents_{100'000};
  mutable Metrics metrics_;
  std::unique_ptr<DocumentVectorCache> cache_ =
      DocumentVectorCache::Create(0).value();
  const TextEmbedder embedder_{cache_.get(), &metrics_};
  const CatalogSearcher searcher_{Limits(), &documents_, &embedder_, &metrics_};
};

float Catalog::Score(const TwoTowerModel& model, const std::string& query,
                     const float* query_row, const std::string& title,
                     const float* row, ModelParts parts) {
  float score = 0;
  ScoreMatrix(query_row, row, model.embedding_dim(), {&score, 1});
  TextBatch titles;
  titles.AddNormalized(title);
  AddSparseScores(model, query, titles, {&score, 1});
  if (model.lexical() == nullptr || parts == ModelParts::kSemantic)
    return score;
  LexicalBatch texts;
  model.lexical()->AppendText(query, texts);
  model.lexical()->AppendText(title, texts);
  LexicalQuery prepared;
  prepared.Prepare(texts[0]);
  const float cosine = prepared.Cosine(texts[1]);
  return parts == ModelParts::kLexical
             ? cosine
             : model.lexical()->Combine(ModelParts::kBoth, score, cosine);
}

std::vector<Hit> Catalog::Expect(const SearchInput& input,
                                 const SearchResult& result) const {
  const CatalogSnapshot& snapshot = result.snapshot;
  const ServedModelPtr served = snapshot.model();
  TextBatch texts;
  EXPECT_THAT(texts.Add(input.query, kNormalizerVersion), IsOk());
  const std::string query(texts[0]);
  std::vector<float> query_row(served->model->embedding_dim());
  PhaseTimes times;
  EXPECT_THAT(embedder_.Embed({*served, FakeCaller(), times}, Side::kQuery,
                              texts, query_row.data()),
              IsOk());
  const TagMatcher tags(input.filter);
  std::vector<std::pair<CatalogHit, DocumentKeyView>> all;
  for (std::uint32_t slot = 0; slot < snapshot.num_slots(); ++slot) {
    if (!snapshot.IsVisible(slot)) continue;
    const CatalogRecord& record = snapshot.record(slot);
    if (!tags.Keeps(record.packed_tags())) continue;
    const std::string title = NormalizeText(record.title()).value();
    const DocumentKeyView key = record.key();
    CatalogHit hit = {slot,
                      Score(*served->model, query, query_row.data(), title,
                            snapshot.vector(slot).data(), input.parts)};
    if (input.name_match) {
      const std::string id = key.index() == 0 ? "" : KeyText(key);
      hit.name = MatchName(NormalizeName(input.query).value(),
                           NormalizeName(id).value(),
                           NormalizeName(record.title()).value());
      if (hit.name == NameMatch::kSameSpelling &&
          (input.query == id || input.query == record.title())) {
        hit.name = NameMatch::kSameText;
      }
    }
    if (hit.score >= input.min_score.value_or(-100)) all.emplace_back(hit, key);
  }
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return std::tuple(b.first.name, b.first.score, a.second) <
           std::tuple(a.first.name, a.first.score, b.second);
  });
  std::vector<Hit> hits;
  for (std::size_t i = input.offset;
       i < std::min<std::size_t>(all.size(), input.offset + input.top_k); ++i) {
    hits.emplace_back(KeyText(all[i].second), all[i].first.score,
                      all[i].first.name);
  }
  return hits;
}

struct ModelCase {
  std::string name;
  std::shared_ptr<const TwoTowerModel> (*make)();
};

// The tensors of an SSI model stay where they are.
template <v1::SsiVariant variant, std::uint32_t num_pair_buckets = 0>
std::shared_ptr<const TwoTowerModel> MakeSsi() {
  static const auto& model = *new TinySsiModel(
      {.variant = variant, .pair_hash_buckets = num_pair_buckets});
  return model.model();
}

class CombinedSearchTest : public ::testing::TestWithParam<ModelCase> {};

INSTANTIATE_TEST_SUITE_P(
    Models, CombinedSearchTest,
    ::testing::Values(
        ModelCase{"Dssm", [] { return MakeTinyModel(); }},
        ModelCase{"DssmInBf16",
                  [] {
                    return MakeTinyModel(
                        {.vector_precision = VectorPrecision::kBf16});
                  }},
        ModelCase{"DssmInInt8",
                  [] {
                    return MakeTinyModel(
                        {.vector_precision = VectorPrecision::kInt8});
                  }},
        ModelCase{"DssmWithLexicalPart", [] { return MakeLexicalModel(1); }},
        // Its dense part leaves few documents whose lexical part
        // must be known.
        ModelCase{"DssmWithSmallLexicalPart",
                  [] { return MakeLexicalModel(1, 0.03); }},
        ModelCase{"Ssi", &MakeSsi<v1::SSI_VARIANT_LOW_RANK>}),
    [](const auto& test) { return test.param.name; });

// Scores are compared bitwise.
TEST_P(CombinedSearchTest, FindsWhatTheDefinitionFindsThroughRandomChanges) {
  std::mt19937 random(5);
  Catalog catalog(GetParam().make());
  std::string query;
  for (int step = 0; step < 25; ++step) {
    catalog.PutSome(random() % 700, random);
    catalog.DeleteSome(random() % 200, random);
    for (int search = 0; search < 4; ++search) {
      const SearchInput input = catalog.RandomSearch(random, query);
      SearchResult result;
      const std::vector<Hit> hits = catalog.Search(input, result);
      ASSERT_EQ(hits, catalog.Expect(input, result)) << query;
    }
  }
}

TEST_P(CombinedSearchTest, AnotherModelsRowsTakeTheirPlace) {
  std::mt19937 random(6);
  Catalog catalog(MakeLexicalModel(7));
  catalog.PutSome(4'000, random);
  SearchResult before;
  std::string query;
  SearchInput input;
  input.query = "edit photos";
  input.top_k = 10;
  const std::vector<Hit> hits = catalog.Search(input, before);
  catalog.ChangeModel(Catalog::Serve(GetParam().make()), random);
  EXPECT_EQ(catalog.Expect(input, before), hits);
  for (int search = 0; search < 20; ++search) {
    const SearchInput next = catalog.RandomSearch(random, query);
    SearchResult result;
    const std::vector<Hit> found = catalog.Search(next, result);
    ASSERT_EQ(found, catalog.Expect(next, result));
  }
}

// The first answer still reads the rows that the rollback uses again.
TEST_P(CombinedSearchTest, ARollbackFindsThePreviousModelsRows) {
  std::mt19937 random(8);
  const ServedModelPtr first = Catalog::Serve(GetParam().make());
  Catalog catalog(first);
  catalog.PutSome(4'000, random);
  SearchResult before;
  std::string query;
  const SearchInput input = catalog.RandomSearch(random, query);
  const std::vector<Hit> hits = catalog.Search(input, before);
  for (int round = 0; round < 3; ++round) {
    catalog.ChangeModel(Catalog::Serve(MakeLexicalModel(9)), random);
    catalog.PutSome(700, random);
    catalog.DeleteSome(200, random);
    catalog.ChangeModel(first, random);
    EXPECT_EQ(catalog.Expect(input, before), hits);
    for (int search = 0; search < 10; ++search) {
      std::string words;
      const SearchInput next = catalog.RandomSearch(random, words);
      SearchResult result;
      const std::vector<Hit> found = catalog.Search(next, result);
      ASSERT_EQ(found, catalog.Expect(next, result));
    }
  }
}

// The writer may be ahead by a few puts only: without a limit it fills the
// catalog on a machine on which searches are slow.
TEST_P(CombinedSearchTest, SearchesBesideAWriterSeeOneCommit) {
  constexpr int kSearches = 30, kPutsPerSearch = 3;
  Catalog catalog(GetParam().make());
  std::counting_semaphore<> puts(0);
  std::thread writer([&] {
    std::mt19937 random(1);
    for (int put = 0; put < kSearches * kPutsPerSearch; ++put) {
      puts.acquire();
      catalog.PutSome(random() % 600, random);
      catalog.DeleteSome(50, random);
    }
  });
  std::mt19937 random(2);
  WorkerPool pool(2);
  std::string query;
  for (int search = 0; search < kSearches; ++search) {
    puts.release(kPutsPerSearch);
    const SearchInput input = catalog.RandomSearch(random, query);
    SearchResult result;
    const std::vector<Hit> hits = catalog.Search(input, result, &pool);
    EXPECT_EQ(hits, catalog.Expect(input, result));
  }
  writer.join();
}

TEST(CombinedSearchPartsTest, CosinesOfTheHitsAreThoseOfTheirParts) {
  std::mt19937 random(5);
  Catalog catalog(MakeLexicalModel(1));
  catalog.PutSome(2'000, random);
  SearchInput input;
  input.query = "edit photos";
  input.top_k = 10;
  input.with_parts = true;
  SearchResult result;
  catalog.Search(input, result);
  ASSERT_EQ(result.cosines.size(), result.hits.size());
  const auto served = result.snapshot.model();
  for (std::size_t i = 0; i < result.hits.size(); ++i) {
    EXPECT_EQ(served->model->lexical()->Combine(ModelParts::kBoth,
                                                result.cosines[i].semantic,
                                                result.cosines[i].lexical),
              result.hits[i].score);
  }
}

}  // namespace
}  // namespace semrank
