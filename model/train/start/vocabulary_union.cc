#include "model/train/start/vocabulary_union.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/base/status_macros.h"

namespace semrank {
namespace {

// A united vocabulary has the entries of the start first, in their order, and
// the new ones of the run after them. So each entry of the start keeps its
// place among those of its kind, and its row of weights can be copied as part
// of a range.

std::vector<std::string> UniteLists(const std::vector<std::string>& first,
                                    const std::vector<std::string>& second) {
  std::vector<std::string> united = first;
  const absl::flat_hash_set<absl::string_view> known(first.begin(),
                                                     first.end());
  for (const std::string& entry : second) {
    if (!known.contains(entry)) united.push_back(entry);
  }
  return united;
}

absl::StatusOr<std::optional<NgramVocabulary>> UniteNgrams(
    const std::optional<NgramVocabulary>& start,
    const std::optional<NgramVocabulary>& run) {
  if (!start || !run) return start ? start : run;
  if (start->hashed() != run->hashed() ||
      start->ngram_length() != run->ngram_length()) {
    return absl::InvalidArgumentError(
        "the letter n-grams of the model of --init_from and of this run are "
        "not of one kind");
  }
  // Buckets have no names: both sides already have the same ones.
  if (start->hashed()) return start;
  return NgramVocabulary::FromList(start->ngram_length(),
                                   UniteLists(start->ngrams(), run->ngrams()));
}

template <typename MakeVocabulary>
absl::StatusOr<std::optional<WordVocabulary>> UniteWords(
    const std::optional<WordVocabulary>& start,
    const std::optional<WordVocabulary>& run, MakeVocabulary make) {
  if (!start || !run) return start ? start : run;
  return make(UniteLists(start->words(), run->words()));
}

int SizeOf(const std::optional<NgramVocabulary>& ngrams) {
  return ngrams ? ngrams->size() : 0;
}
int SizeOf(const std::optional<WordVocabulary>& words) {
  return words ? words->size() : 0;
}

}  // namespace

absl::StatusOr<Featurizer> UniteFeatures(const Featurizer& start,
                                         const Featurizer& run) {
  SEMRANK_ASSIGN_OR_RETURN(auto ngrams,
                           UniteNgrams(start.ngrams(), run.ngrams()));
  SEMRANK_ASSIGN_OR_RETURN(auto words, UniteWords(start.words(), run.words(),
                                                  WordVocabulary::FromList));
  SEMRANK_ASSIGN_OR_RETURN(auto bigrams,
                           UniteWords(start.bigrams(), run.bigrams(),
                                      WordVocabulary::FromBigramList));
  // The normaliser of the start: with another one the same word could have
  // two spellings.
  return Featurizer::Create(std::move(ngrams), std::move(words),
                            std::move(bigrams), start.normalizer_version());
}

std::vector<FeatureRange> RangesOfStart(const Featurizer& start,
                                        const Featurizer& united) {
  // Features are numbered n-grams, words, bigrams. New n-grams move the words
  // of the start to higher numbers, so each kind is a range of its own.
  std::vector<FeatureRange> ranges;
  int from = 0, to = 0;
  const auto add = [&](int count, int united_count) {
    if (count > 0) ranges.push_back({from, to, count});
    from += count;
    to += united_count;
  };
  add(SizeOf(start.ngrams()), SizeOf(united.ngrams()));
  add(SizeOf(start.words()), SizeOf(united.words()));
  add(SizeOf(start.bigrams()), SizeOf(united.bigrams()));
  return ranges;
}

}  // namespace semrank
