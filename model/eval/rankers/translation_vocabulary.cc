#include "model/eval/rankers/translation_vocabulary.h"

#include <numeric>

#include "model/base/strings.h"
#include "model/text/normalizer.h"

namespace semrank {

TranslationVocabulary::TranslationVocabulary(
    const TranslationModel& model, const std::vector<std::string>& documents)
    : number_of_(model.number_of), background_(model.query_counts) {
  for (const std::string& document : documents) {
    ForEachWord(document, [&](std::string_view word) {
      // Words that the log does not have are numbered on, behind the model's.
      const auto [entry, is_new] = number_of_.try_emplace(
          std::string(word), static_cast<std::uint32_t>(background_.size()));
      if (is_new) background_.push_back(0);
      ++background_[entry->second];
    });
  }
  const double total =
      std::accumulate(background_.begin(), background_.end(), 0.0);
  // Clicks count in the queries, as each click is a query that was asked.
  for (double& count : background_) count /= total;
}

std::optional<std::uint32_t> TranslationVocabulary::Find(
    std::string_view word) const {
  const auto found = number_of_.find(ToAbsl(word));
  if (found == number_of_.end()) return std::nullopt;
  return found->second;
}

}  // namespace semrank
