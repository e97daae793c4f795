#include "model/eval/rankers/translation_ranker.h"

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
    : ListRanker(documents.size()), vocabulary_(model, documents) {
  DocumentTranslator translator(model, vocabulary_, smoothing);
  BagBatch bags;
  for (const std::string& document : documents) {
    if (Interrupted()) return;  // Create drops what is there
    translator.AppendWords(document, bags);
    bags.EndBag();
  }
  lists_ = InvertedLists(vocabulary_.size(), bags);
}

void TranslationRanker::ScoreQuery(std::string_view query,
                                   float* scores) const {
  ForEachWord(query, [&](std::string_view text) {
    const auto word = vocabulary_.Find(text);
    // The logarithm of the product over the query's words, word by word. A
    // word that neither log nor documents have says nothing of any document.
    if (word) lists_.AddScaled(*word, 1, scores);
  });
}

}  // namespace semrank
