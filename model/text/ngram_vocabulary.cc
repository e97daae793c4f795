#include "model/text/ngram_vocabulary.h"

#include <xxhash.h>

#include <array>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/base/strings.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// No n-gram has this index, since kMaxVocabularySize is far below.
constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

// Trigrams of ASCII letters and digits, nearly all of ordinary text, are found
// without hashing. Each byte becomes one of 38 symbols, the last of which
// stands for all other bytes, and three symbols are an index into a table of
// 38^3 entries (214 KiB).
constexpr std::string_view kAsciiSymbols =
    "#abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::uint32_t kNumSymbols = kAsciiSymbols.size() + 1;
constexpr std::uint8_t kOtherSymbol = kAsciiSymbols.size();

constexpr std::array<std::uint8_t, 256> MakeSymbolTable() {
  std::array<std::uint8_t, 256> table{};
  table.fill(kOtherSymbol);
  // The separators around a word serve as its marks.
  table[' '] = 0;
  table[static_cast<unsigned char>(kFurtherWords)] = 0;
  for (std::size_t i = 1; i < kAsciiSymbols.size(); ++i) {
    table[static_cast<unsigned char>(kAsciiSymbols[i])] =
        static_cast<std::uint8_t>(i);
  }
  return table;
}

constexpr std::array<std::uint8_t, 256> kSymbolTable = MakeSymbolTable();

std::uint32_t Symbol(char byte) {
  return kSymbolTable[static_cast<unsigned char>(byte)];
}

std::uint32_t TrigramCode(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return (a * kNumSymbols + b) * kNumSymbols + c;
}

absl::Status CheckLength(int ngram_length) {
  if (ngram_length >= kMinNgramLength && ngram_length <= kMaxNgramLength) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("n-gram length %d is not in [%d, %d]", ngram_length,
                      kMinNgramLength, kMaxNgramLength));
}

absl::Status CheckSize(std::string_view what, std::int64_t size) {
  if (size >= 1 && size <= kMaxVocabularySize) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s %d is not in [1, %d]", what, size, kMaxVocabularySize));
}

absl::Status CheckNgram(std::string_view ngram, int ngram_length,
                        std::size_t line) {
  const char* problem = nullptr;
  if (ngram.empty()) problem = "is empty";
  if (ngram.find_first_of("\r\n") != ngram.npos)
    problem = "contains a line break";
  if (CountCodePoints(ngram) > static_cast<std::size_t>(ngram_length)) {
    problem = "is too long";
  }
  if (problem == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("n-gram \"%s\" in line %d %s (n-gram length %d)", ngram,
                      line, problem, ngram_length));
}

}  // namespace

std::vector<std::string> LetterNgrams(std::string_view word, int ngram_length) {
  std::vector<std::string> ngrams;
  if (word.empty() || !CheckLength(ngram_length).ok()) return ngrams;
  ForEachLetterWindow(word, ngram_length, [&](std::string_view ngram) {
    ngrams.emplace_back(ngram);
  });
  return ngrams;
}

absl::StatusOr<NgramVocabulary> NgramVocabulary::FromList(
    int ngram_length, std::vector<std::string> ngrams) {
  if (auto s = CheckLength(ngram_length); !s.ok()) return s;
  const auto size = static_cast<std::int64_t>(ngrams.size());
  if (auto s = CheckSize("number of n-grams", size); !s.ok()) return s;
  NgramVocabulary vocabulary(ngram_length, static_cast<int>(size));
  vocabulary.index_of_.reserve(ngrams.size());
  for (std::size_t i = 0; i < ngrams.size(); ++i) {
    if (auto s = CheckNgram(ngrams[i], ngram_length, i + 1); !s.ok()) return s;
    const auto [entry, added] =
        vocabulary.index_of_.emplace(ngrams[i], static_cast<std::uint32_t>(i));
    if (!added) {
      return absl::InvalidArgumentError(
          absl::StrFormat("n-gram \"%s\" occurs in line %d and in line %d",
                          ngrams[i], entry->second + 1, i + 1));
    }
  }
  // The list is stored before the table is filled: with an empty list Find
  // would take this for a hashed vocabulary.
  vocabulary.ngrams_ = std::move(ngrams);
  vocabulary.FillAsciiTrigrams();
  return vocabulary;
}

absl::StatusOr<NgramVocabulary> NgramVocabulary::Hashed(int ngram_length,
                                                        int num_buckets) {
  if (auto s = CheckLength(ngram_length); !s.ok()) return s;
  if (auto s = CheckSize("number of hash buckets", num_buckets); !s.ok()) {
    return s;
  }
  NgramVocabulary vocabulary(ngram_length, num_buckets);
  vocabulary.FillAsciiTrigrams();
  return vocabulary;
}

std::uint32_t NgramVocabulary::Find(std::string_view ngram) const {
  // Weights that are published depend on this hash. XXH3 promises its values
  // since version 0.8; absl::Hash differs from process to process.
  if (hashed()) {
    return static_cast<std::uint32_t>(XXH3_64bits(ngram.data(), ngram.size()) %
                                      static_cast<std::uint64_t>(size_));
  }
  const auto entry = index_of_.find(ToAbsl(ngram));
  return entry == index_of_.end() ? kUnknown : entry->second;
}

void NgramVocabulary::FillAsciiTrigrams() {
  if (ngram_length_ != 3) return;
  ascii_trigrams_.assign(kNumSymbols * kNumSymbols * kNumSymbols, kUnknown);
  // b begins after "#": no trigram has a mark in the middle. Such trigrams, and
  // all with the symbol of other bytes, stay unknown.
  for (std::uint32_t a = 0; a < kAsciiSymbols.size(); ++a) {
    for (std::uint32_t b = 1; b < kAsciiSymbols.size(); ++b) {
      for (std::uint32_t c = 0; c < kAsciiSymbols.size(); ++c) {
        const char ngram[] = {kAsciiSymbols[a], kAsciiSymbols[b],
                              kAsciiSymbols[c]};
        ascii_trigrams_[TrigramCode(a, b, c)] =
            Find(std::string_view(ngram, 3));
      }
    }
  }
}

bool NgramVocabulary::AppendAsciiTrigrams(
    std::string_view normalized, std::vector<std::uint32_t>& indices) const {
  // Each letter gives one trigram, the one with it in the middle. Trigrams with
  // a mark in the middle are unknown, so that blanks need no branch. A text
  // never has more trigrams than bytes: one resize makes room for all. An
  // unknown trigram is written too, and then overwritten by the next. Other
  // letters are noticed at the end, which is cheaper than a branch for each
  // byte; the work on such a text is then discarded.
  if (normalized.empty()) return true;
  const std::size_t old_size = indices.size();
  indices.resize(old_size + normalized.size());
  std::uint32_t* out = indices.data() + old_size;
  std::uint32_t before = 0, letter = Symbol(normalized[0]);
  bool other = letter == kOtherSymbol;
  for (std::size_t i = 1; i <= normalized.size(); ++i) {
    const std::uint32_t after =
        i < normalized.size() ? Symbol(normalized[i]) : 0;
    other |= after == kOtherSymbol;
    *out = ascii_trigrams_[TrigramCode(before, letter, after)];
    out += *out != kUnknown;
    before = letter;
    letter = after;
  }
  indices.resize(other ? old_size
                       : static_cast<std::size_t>(out - indices.data()));
  return !other;
}

void NgramVocabulary::AppendIndices(std::string_view normalized,
                                    std::vector<std::uint32_t>& indices) const {
  const bool direct = ngram_length_ == 3;
  // Most words are ASCII, even if further words have signs or other letters.
  const std::string_view words = MainWords(normalized);
  if (direct && AppendAsciiTrigrams(words, indices)) {
    normalized.remove_prefix(words.size());
  }
  ForEachWord(normalized, [&](std::string_view word) {
    // The text has other letters, but most of its words may not.
    if (direct && AppendAsciiTrigrams(word, indices)) return;
    ForEachLetterWindow(word, ngram_length_, [&](std::string_view ngram) {
      const std::uint32_t index = Find(ngram);
      if (index != kUnknown) indices.push_back(index);
    });
  });
}

}  // namespace semrank
