#include "model/text/word_fingerprint.h"

namespace semrank {

Fingerprint WordFingerprint(std::string_view word) {
  // Never destroyed: threads may still embed while the process ends.
  static const Fingerprinter* const fingerprinter =
      new Fingerprinter(Fingerprinter::RandomSecret());
  return (*fingerprinter)(word);
}

}  // namespace semrank
