#include "model/text/word_vocabulary.h"

#include <xxhash.h>

#include <bit>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/word_fingerprint.h"

namespace semrank {
namespace {

// Returns what is wrong with an entry, or null.
const char* WordProblem(std::string_view word) {
  if (word.empty()) return "is empty";
  if (word.find_first_of(" \r\n") != word.npos) {
    return "contains a blank or line break";
  }
  return nullptr;
}

const char* BigramProblem(std::string_view bigram) {
  const std::size_t blank = bigram.find(' ');
  if (blank == bigram.npos || WordProblem(bigram.substr(0, blank)) != nullptr ||
      WordProblem(bigram.substr(blank + 1)) != nullptr) {
    return "is not two words with one blank between them";
  }
  return nullptr;
}

Fingerprint KeyOf(std::string_view entry) {
  const std::size_t blank = entry.find(' ');
  if (blank == entry.npos) return WordFingerprint(entry);
  return BigramFingerprint(WordFingerprint(entry.substr(0, blank)),
                           WordFingerprint(entry.substr(blank + 1)));
}

}  // namespace

absl::StatusOr<WordVocabulary> WordVocabulary::FromList(
    std::vector<std::string> words) {
  return Make(std::move(words), /*bigrams=*/false);
}

absl::StatusOr<WordVocabulary> WordVocabulary::FromBigramList(
    std::vector<std::string> bigrams) {
  return Make(std::move(bigrams), /*bigrams=*/true);
}

absl::StatusOr<WordVocabulary> WordVocabulary::Make(
    std::vector<std::string> words, bool bigrams) {
  const char* const name = bigrams ? "bigram" : "word";
  if (words.empty() || words.size() > kMaxVocabularySize) {
    return absl::InvalidArgumentError(
        absl::StrFormat("number of %ss %d is not in [1, %d]", name,
                        words.size(), kMaxVocabularySize));
  }
  WordVocabulary vocabulary;
  // At most half full, so that a probe ends soon.
  vocabulary.slots_.resize(std::bit_ceil(2 * words.size()));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char* const problem =
        bigrams ? BigramProblem(words[i]) : WordProblem(words[i]);
    if (problem != nullptr) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s \"%s\" in line %d %s", name, words[i], i + 1, problem));
    }
    // If a word had two rows, only one would ever be read.
    const Fingerprint key = KeyOf(words[i]);
    Slot& slot = vocabulary.slots_[vocabulary.Place(key)];
    if (slot.index != kFree) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s \"%s\" occurs in line %d and in line %d", name,
                          words[i], slot.index + 1, i + 1));
    }
    slot = {key.lo, static_cast<std::uint32_t>(key.hi),
            static_cast<std::uint32_t>(i)};
  }
  vocabulary.words_ = std::move(words);
  return vocabulary;
}

std::optional<std::uint32_t> WordVocabulary::Find(
    std::string_view entry) const {
  return Find(entry, KeyOf(entry));
}

std::uint32_t WordVocabulary::Bucket(std::string_view entry) const {
  // This hash is part of the model format, as the hash of n-grams is. Buckets
  // follow the listed words, so that an unknown word is never taken for a
  // listed one.
  const XXH64_hash_t hash = XXH3_64bits(entry.data(), entry.size());
  return static_cast<std::uint32_t>(
      words_.size() + hash % static_cast<std::uint32_t>(num_buckets_));
}

}  // namespace semrank
