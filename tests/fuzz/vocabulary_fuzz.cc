// Any bytes as ngrams.txt and words.txt: refused, or a vocabulary that finds
// its own entries, and lines that are written as they were read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/vocabulary_file.h"
#include "model/text/ngram_vocabulary.h"
#include "model/text/word_vocabulary.h"
#include "tests/fuzz/fuzz_check.h"

namespace semrank {
namespace {

void CheckVocabulary(std::string_view content) {
  const auto num_lines = std::count(content.begin(), content.end(), '\n');
  FUZZ_CHECK(!ParseLines(content, num_lines + 1).ok());
  const absl::StatusOr<std::vector<std::string>> lines =
      ParseLines(content, num_lines);
  if (!lines.ok()) return;
  FUZZ_CHECK(FormatLines(*lines) == content);
  for (const int n : {1, 3, 8}) {
    const auto ngrams = NgramVocabulary::FromList(n, *lines);
    if (ngrams.ok()) FUZZ_CHECK(ngrams->size() == num_lines);
  }
  const auto words = WordVocabulary::FromList(*lines);
  if (words.ok()) FUZZ_CHECK(words->size() == num_lines);
}

}  // namespace
}  // namespace semrank

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  semrank::CheckVocabulary({reinterpret_cast<const char*>(data), size});
  return 0;
}
