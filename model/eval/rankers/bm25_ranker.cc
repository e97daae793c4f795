#include "model/eval/rankers/bm25_ranker.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/text/vocabulary_builder.h"
#include "model/text/word_vocabulary.h"

namespace semrank {
namespace {

absl::Status CheckOptions(const Bm25Options& options) {
  // Written so that NaN fails too.
  if (!(options.k1 >= 0 && options.k1 <= 1000)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("BM25's k1 is %g, not in [0, 1000]", options.k1));
  }
  if (!(options.b >= 0 && options.b <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("BM25's b is %g, not in [0, 1]", options.b));
  }
  return absl::OkStatus();
}

// In words; at least one document has one.
double MeanLength(const std::vector<std::string>& documents) {
  double num_words = 0;
  for (const std::string& document : documents) {
    if (document.empty()) continue;
    num_words += 1 + static_cast<double>(
                         std::count(document.begin(), document.end(), ' '));
  }
  return num_words / static_cast<double>(documents.size());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Bm25Ranker>> Bm25Ranker::Create(
    const std::vector<std::string>& documents, const Bm25Options& options) {
  SEMRANK_RETURN_IF_ERROR(CheckOptions(options));
  VocabularyBuilder builder;
  for (const std::string& document : documents) builder.AddText(document);
  if (builder.num_distinct_words() == 0) {
    return absl::InvalidArgumentError("BM25: no document has a word");
  }
  SEMRANK_ASSIGN_OR_RETURN(WordVocabulary words,
                           WordVocabulary::FromList(builder.Words(0, 1)));
  SEMRANK_ASSIGN_OR_RETURN(Featurizer featurizer,
                           Featurizer::Create(std::nullopt, std::move(words)));
  return std::unique_ptr<Bm25Ranker>(
      new Bm25Ranker(std::move(featurizer), documents, options));
}

Bm25Ranker::Bm25Ranker(Featurizer featurizer,
                       const std::vector<std::string>& documents,
                       const Bm25Options& options)
    : LexicalRanker(std::move(featurizer), documents) {
  const double mean_length = MeanLength(documents);
  // The tf factor depends on the document alone and is stored in the index; the
  // idf is applied to the query. So scoring costs one multiplication per
  // posting.
  BuildIndex(documents, [&](Bag bag) {
    // Every word of a document is known, so the counts add up to its length.
    const double length =
        std::accumulate(bag.values.begin(), bag.values.end(), 0.0);
    const double slowness =
        options.k1 * (1 - options.b + options.b * length / mean_length);
    for (float& value : bag.values) {
      value = static_cast<float>(value / (value + slowness));
    }
  });
}

void Bm25Ranker::WeighQuery(Bag bag) const {
  const auto total = static_cast<double>(num_documents());
  for (std::size_t i = 0; i < bag.features.size(); ++i) {
    const auto n = static_cast<double>(DocumentFrequency(bag.features[i]));
    bag.values[i] *=
        static_cast<float>(std::log1p((total - n + 0.5) / (n + 0.5)));
  }
}

}  // namespace semrank
