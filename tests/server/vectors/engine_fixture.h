// The engines over a tiny model, with calls as one-liners.
#ifndef SEMRANK_TESTS_SERVER_VECTORS_ENGINE_FIXTURE_H_
#define SEMRANK_TESTS_SERVER_VECTORS_ENGINE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/ranking/ranking_engine.h"
#include "server/vectors/embedding_engine.h"
#include "tests/support/fake_caller.h"
#include "tests/support/run_engines.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tiny_model.h"

namespace semrank {

inline std::vector<std::string> NumberedTitles(int count) {
  std::vector<std::string> titles;
  for (int i = 0; i < count; ++i) {
    titles.push_back("title number " + std::to_string(i * 7919));
  }
  return titles;
}

class EngineFixture : public ::testing::Test {
 protected:
  static constexpr int kDim = 16;
  static constexpr Limits kSmallLimits = {.max_texts_per_request = 2'000,
                                          .max_text_bytes = 60,
                                          .max_inflight_texts = 3'000};

  EngineFixture() { UseCache(8 << 20); }

  void UseCache(std::size_t capacity_bytes) {
    cache_ = DocumentVectorCache::Create(capacity_bytes).value();
    embedder_ =
        std::make_unique<TextEmbedder>(cache_.get(), &metrics_, stored_.get());
    ranking_ = std::make_unique<RankingEngine>(kSmallLimits, embedder_.get(),
                                               &metrics_);
    embedding_ = std::make_unique<EmbeddingEngine>(kSmallLimits,
                                                   embedder_.get(), &metrics_);
  }
  absl::Status Rank(std::string_view query,
                    const std::vector<std::string>& titles,
                    RankInput input = {}, const Caller& caller = FakeCaller()) {
    const std::vector<std::string_view> views(titles.begin(), titles.end());
    input.query = query;
    input.titles = views;
    return RankAll(*ranking_, served_, input, caller, result_);
  }
  absl::Status Embed(Side side, const std::vector<std::string>& texts,
                     const Caller& caller = FakeCaller()) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return EmbedAll(*embedding_, served_, {side, views}, caller, embedded_);
  }
  std::vector<float> VectorOf(Side side, const std::string& text) {
    EXPECT_THAT(Embed(side, {text}), IsOk());
    return embedded_.vectors;
  }
  std::vector<std::uint32_t> Indices() const {
    std::vector<std::uint32_t> indices;
    for (const RankedDocument& d : result_.ranking) indices.push_back(d.index);
    return indices;
  }
  // The score of each candidate by its number; NaN for an omitted one.
  std::vector<float> ScoresByCandidate(int count) const {
    std::vector<float> scores(count, std::nanf(""));
    for (const RankedDocument& d : result_.ranking) scores[d.index] = d.score;
    return scores;
  }

  Metrics metrics_;
  std::unique_ptr<DocumentVectorCache> cache_;
  std::unique_ptr<StoredVectors> stored_;  // null = no document store
  std::unique_ptr<TextEmbedder> embedder_;
  std::unique_ptr<RankingEngine> ranking_;
  std::unique_ptr<EmbeddingEngine> embedding_;
  ServedModel served_{.model = MakeTinyModel(), .number = 0};
  RankResult result_;
  EmbedResult embedded_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_SERVER_VECTORS_ENGINE_FIXTURE_H_
