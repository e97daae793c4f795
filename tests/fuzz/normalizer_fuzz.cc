// Any bytes as text: refused, or words that obey the promises of normalizer.h
// and bags that obey those of featurizer.h.
#include <utf8proc.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_replace.h"
#include "model/base/fingerprint.h"
#include "model/text/featurizer.h"
#include "model/text/normalizer.h"
#include "model/text/vocabulary_builder.h"
#include "tests/fuzz/fuzz_check.h"

namespace semrank {
namespace {

bool IsUtf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t code_point;
    const auto length = utf8proc_iterate(bytes, left, &code_point);
    if (length <= 0) return false;
    bytes += length;
    left -= length;
  }
  return true;
}

void CheckWords(const std::string& normalized) {
  std::string joined;
  ForEachWord(normalized, [&](std::string_view word) {
    FUZZ_CHECK(!word.empty());
    FUZZ_CHECK(word.find_first_of(" \t\r\n'#") == word.npos);
    FUZZ_CHECK(word.find('\0') == word.npos);
    joined.append(joined.empty() ? "" : " ").append(word);
  });
  FUZZ_CHECK(joined == absl::StrReplaceAll(normalized, {{"\t", " "}}));
}

void CheckBag(const Featurizer& featurizer, const std::string& normalized) {
  static BagBatch batch;
  batch.Clear();
  featurizer.AppendBag(normalized, batch);
  FUZZ_CHECK(batch.num_texts() == 1);
  FUZZ_CHECK(batch.offsets[1] == batch.indices.size());
  FUZZ_CHECK(batch.counts.size() == batch.indices.size());
  for (std::size_t i = 0; i < batch.indices.size(); ++i) {
    FUZZ_CHECK(batch.indices[i] <
               static_cast<std::uint32_t>(featurizer.num_features()));
    FUZZ_CHECK(i == 0 || batch.indices[i - 1] < batch.indices[i]);
    FUZZ_CHECK(batch.counts[i] >= 1);
  }
}

std::vector<Featurizer> MakeFixedFeaturizers() {
  std::vector<Featurizer> featurizers;
  for (const int n : {1, 2, 3, 8}) {
    featurizers.push_back(
        *Featurizer::Create(*NgramVocabulary::Hashed(n, 100), std::nullopt));
  }
  featurizers.push_back(*Featurizer::Create(
      *NgramVocabulary::FromList(3, {"#go", "goo", "ood", "od#", "#a#"}),
      *WordVocabulary::FromList({"good", "a"})));
  return featurizers;
}

// A vocabulary made of the text knows all of it.
void CheckOwnVocabulary(const std::string& normalized) {
  VocabularyBuilder builder;
  builder.AddText(normalized);
  for (const int n : {2, 3, 4}) {
    const auto ngrams = NgramVocabulary::FromList(
        n, builder.LetterNgrams(n, /*max_size=*/0, /*min_count=*/1));
    FUZZ_CHECK(ngrams.ok());
    ForEachWord(normalized, [&](std::string_view word) {
      std::vector<std::uint32_t> indices;
      ngrams->AppendIndices(word, indices);
      FUZZ_CHECK(indices.size() == LetterNgrams(word, n).size());
    });
  }
}

void CheckText(std::string_view text, int version) {
  const absl::StatusOr<std::string> normalized = NormalizeText(text, version);
  FUZZ_CHECK(normalized.ok() == IsUtf8(text));
  if (!normalized.ok()) return;
  FUZZ_CHECK(IsUtf8(*normalized));
  FUZZ_CHECK(normalized->size() <= 16 * text.size());
  const std::string words(MainWords(*normalized));
  const absl::StatusOr<std::string> twice = NormalizeText(words, version);
  FUZZ_CHECK(twice.ok() && MainWords(*twice) == words);
  CheckWords(*normalized);
  static const std::vector<Featurizer> featurizers = MakeFixedFeaturizers();
  for (const Featurizer& featurizer : featurizers) {
    CheckBag(featurizer, *normalized);
  }
  // This takes a thousand times as long as the rest. The text alone decides
  // whether it is done, so that a failure repeats.
  if (!normalized->empty() && BytesFingerprint(text).lo % 256 == 0) {
    CheckOwnVocabulary(*normalized);
  }
}

// Names are matched by their words.
void CheckName(std::string_view text) {
  const absl::StatusOr<std::string> name = NormalizeName(text);
  FUZZ_CHECK(name.ok() == IsUtf8(text));
  if (!name.ok()) return;
  CheckWords(*name);
  const std::string words(MainWords(*name));
  const absl::StatusOr<std::string> twice = NormalizeName(words);
  FUZZ_CHECK(twice.ok() && MainWords(*twice) == words);
}

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (int version = 1; version <= semrank::kNormalizerVersion; ++version) {
    semrank::CheckText(text, version);
  }
  semrank::CheckName(text);
  return 0;
}
