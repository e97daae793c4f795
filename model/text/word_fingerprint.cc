#include "model/text/word_fingerprint.h"

#include "model/text/normalizer.h"

namespace semrank {

Fingerprint WordFingerprint(std::string_view word) {
  // Never destroyed: threads may still embed while the process ends.
  static const Fingerprinter* const fingerprinter =
      new Fingerprinter(Fingerprinter::RandomSecret());
  return (*fingerprinter)(word);
}

void AppendTextWords(std::string_view normalized,
                     std::vector<TextWord>& words) {
  const char* before = nullptr;  // the word before, which begins here
  // Further words have no order.
  const char* const end = normalized.data() + MainWords(normalized).size();
  Fingerprint before_key;
  ForEachWord(normalized, [&](std::string_view text) {
    const Fingerprint key = WordFingerprint(text);
    // The element is filled in place: copying fields that were just written, by
    // wider loads, waits until they have reached the L1 cache.
    TextWord& word = words.emplace_back();
    word.word = text;
    word.key = key;
    if (before != nullptr && text.data() < end) {
      word.bigram = {before, text.data() + text.size()};
      word.bigram_key = BigramFingerprint(before_key, key);
    }
    before = text.data();
    before_key = key;
  });
}

}  // namespace semrank
