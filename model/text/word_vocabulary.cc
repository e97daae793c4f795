#include "model/text/word_vocabulary.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "model/text/ngram_vocabulary.h"

namespace semrank {
namespace {

absl::Status CheckWord(std::string_view word, std::size_t line) {
  const char* problem = nullptr;
  if (word.empty()) problem = "is empty";
  if (word.find_first_of(" \r\n") != word.npos) {
    problem = "contains a blank or line break";
  }
  if (problem == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("word \"%s\" in line %d %s", word, line, problem));
}

}  // namespace

absl::StatusOr<WordVocabulary> WordVocabulary::FromList(
    std::vector<std::string> words) {
  if (words.empty() || words.size() > kMaxVocabularySize) {
    return absl::InvalidArgumentError(
        absl::StrFormat("number of words %d is not in [1, %d]", words.size(),
                        kMaxVocabularySize));
  }
  WordVocabulary vocabulary;
  vocabulary.index_of_.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (auto s = CheckWord(words[i], i + 1); !s.ok()) return s;
    const auto [entry, added] =
        vocabulary.index_of_.emplace(words[i], static_cast<std::uint32_t>(i));
    if (!added) {
      return absl::InvalidArgumentError(
          absl::StrFormat("word \"%s\" occurs in line %d and in line %d",
                          words[i], entry->second + 1, i + 1));
    }
  }
  vocabulary.words_ = std::move(words);
  return vocabulary;
}

std::optional<std::uint32_t> WordVocabulary::Find(std::string_view word) const {
  const auto entry = index_of_.find(ToAbsl(word));
  if (entry == index_of_.end()) return std::nullopt;
  return entry->second;
}

}  // namespace semrank
