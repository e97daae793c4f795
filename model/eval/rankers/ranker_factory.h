// Rankers by name: "model", "tower" (the model without its lexical part),
// "model:DIR", "bm25", "letter_tfidf", "word_tfidf", "ulm", "mrf", "qe", "wtm",
// "ptm" (see the headers of the rankers), or two of them joined by '+'; each
// with or without "+name_match" after it (combined_rankers.h).
#ifndef SEMRANK_MODEL_EVAL_RANKERS_RANKER_FACTORY_H_
#define SEMRANK_MODEL_EVAL_RANKERS_RANKER_FACTORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/thread_pool.h"
#include "model/data/collection.h"
#include "model/eval/rankers/bm25_ranker.h"
#include "model/eval/rankers/language_model_rankers.h"
#include "model/eval/rankers/ranker.h"
#include "model/eval/rankers/tfidf_ranker.h"
#include "model/eval/rankers/translation_rankers.h"
#include "model/eval/translation/translation_model.h"
#include "model/nn/lexical_part.h"

namespace semrank {

struct RankerOptions {
  // The directory of "model" and its version; 0 = the highest.
  std::string model_dir;
  std::int64_t model_version = 0;
  // The parts that "model" and "model:DIR" score by. A model without a lexical
  // part has only the semantic one.
  ModelParts parts = ModelParts::kBoth;
  Bm25Options bm25;
  // mu of "ulm" and "mrf", in words.
  double dirichlet_mu = 20;
  DependenceOptions mrf;
  QueryExpansionOptions qe;
  // The smoothing of "wtm" and "ptm", and the translations that they use; null
  // if neither is named.
  TranslationSmoothing translation;
  std::shared_ptr<const TranslationModel> translation_model;
  // Code points in an n-gram of "letter_tfidf".
  int tfidf_ngram_length = 3;
  // Weight of the second ranker of a pair. For a model with BM25, the best
  // weights on three collections were 0.05 to 0.4, higher for weaker models;
  // 0.2 lost at most 4 % of NDCG@10 against them. Tune it on held-out queries.
  double hybrid_weight = 0.2;
};

// InvalidArgument, with the reason, if `name` is not the name of a ranker.
absl::Status CheckRankerName(std::string_view name);

// Whether `name` needs model_dir.
bool UsesModelDir(std::string_view name);

// The version of the rules by which a collection is normalised for `names`:
// that of the models among them, or else the newest. Fails as LoadModel;
// InvalidArgument if two models have different versions.
absl::StatusOr<int> NormalizerVersionOf(const std::vector<std::string>& names,
                                        const RankerOptions& options);

// Whether `name` needs a translation model.
bool UsesTranslations(std::string_view name);

// Whether `single`, such as "bm25", is `name` or a part of it.
bool HasRanker(std::string_view name, std::string_view single);

// Whether `name` joins two rankers.
bool IsPair(std::string_view name);

// Makes a ranker for the documents of `collection`, which must outlive it.
// Fails as LoadModel or as the functions that create the rankers.
absl::StatusOr<std::unique_ptr<Ranker>> CreateRanker(
    std::string_view name, const RankerOptions& options,
    const Collection& collection, ThreadPool& pool);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_RANKERS_RANKER_FACTORY_H_
