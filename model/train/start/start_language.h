// Finds out whether the texts of a run are of the language of the model that
// it begins from, by the words and letter n-grams that the model knows.
//
//   Threads  one thread calls.
#ifndef SEMRANK_MODEL_TRAIN_START_START_LANGUAGE_H_
#define SEMRANK_MODEL_TRAIN_START_START_LANGUAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "model/data/pair_reader.h"
#include "model/text/featurizer.h"

namespace semrank {

// Counts over texts. What occurs twice counts twice.
struct KnownShare {
  std::int64_t num_ngrams = 0;
  std::int64_t num_known_ngrams = 0;
  std::int64_t num_words = 0;
  std::int64_t num_known_words = 0;

  // 1 without any n-grams, or words.
  double OfNgrams() const;
  double OfWords() const;
};

// Counts what a start knows of the texts that are added.
class StartLanguage {
 public:
  // `featurizer` outlives this. A word is known if the featurizer lists it or
  // the kept pairs have it.
  StartLanguage(const Featurizer& featurizer,
                const std::vector<ClickPair>& kept);

  void Add(std::string_view normalized);

  const KnownShare& share() const { return share_; }

  // InvalidArgument when so little of the added texts is known that they must
  // be of another language: less than half of the letter n-grams, of a start
  // that has kDecisiveNgrams; or, where kDecisiveWords words of the start are
  // known, less than half of the words and less than kMinNgramsOfLanguage of
  // the n-grams. A start that lists kWordsOfLanguage words has the n-grams of
  // many languages, so its words alone decide. `start` names the model.
  absl::Status Check(std::string_view start) const;

 private:
  const Featurizer& featurizer_;
  absl::flat_hash_set<std::string> words_;
  KnownShare share_;
};

// Two logs of a Latin script share .8 to .95 of their trigrams, whatever their
// languages; two parts of one log more than .97.
inline constexpr double kMinNgramsOfLanguage = 0.94;
// A smaller log says too little: half of what the next night has is new.
inline constexpr std::int64_t kDecisiveWords = 1000;
inline constexpr int kDecisiveNgrams = 500;
// The general model lists 30,000 words of its language, and so does a model
// that began from it.
inline constexpr std::size_t kWordsOfLanguage = 10'000;

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_START_START_LANGUAGE_H_
