#include "model/eval/rankers/translation_ranker.h"

#include <algorithm>

#include "model/base/interrupt.h"
#include "model/eval/rankers/document_translator.h"
#include "model/text/normalizer.h"

namespace semrank {
absl::StatusOr<std::unique_ptr<TranslationRanker>> TranslationRanker::Create(
    const TranslationModel& model, const std::vector<std::string>& documents,
    const TranslationSmoothing& smoothing) {
  auto ranker = std::unique_ptr<TranslationRanker>(
      new TranslationRanker(model, documents, smoothing));
  if (Interrupted()) {
    return absl::CancelledError("interrupted while documents were translated");
  }
  return ranker;
}

TranslationRanker::TranslationRanker(const TranslationModel& model,
                                     const std::vector<std::string>& documents,
                                     const TranslationSmoothing& smoothing)
    : vocabulary_(model, documents), num_documents_(documents.size()) {
  DocumentTranslator translator(model, vocabulary_, smoothing);
  BagBatch bags;
  for (const std::string& document : documents) {
    if (Interrupted()) return;  // Create drops what is there
    translator.AppendWords(document, bags);
    bags.offsets.push_back(static_cast<std::uint32_t>(bags.indices.size()));
  }
  lists_ = InvertedLists(vocabulary_.size(), bags);
}

void TranslationRanker::ScoreAll(std::span<const std::string_view> queries,
                                 float* scores) const {
  std::fill_n(scores, queries.size() * num_documents_, 0.0f);
  for (const std::string_view query : queries) {
    ForEachWord(query, [&](std::string_view text) {
      const auto word = vocabulary_.Find(text);
      // The logarithm of the product over the query's words, word by word. A
      // word that neither log nor documents have says nothing of any document.
      if (word) lists_.AddScaled(*word, 1, scores);
    });
    scores += num_documents_;
  }
}

}  // namespace semrank
