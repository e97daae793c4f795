#include "model/train/data/unaccented_queries.h"

#include <string>

#include "model/text/further_words.h"

namespace semrank {

UnaccentedQueries FindUnaccentedQueries(std::span<const TextPair> pairs,
                                        TextInterner& texts) {
  UnaccentedQueries unaccented;
  std::string plain;
  // In the order of the pairs, so that all processes of a run number the new
  // texts alike.
  for (const TextPair& pair : pairs) {
    if (unaccented.contains(pair.query) ||
        !RemoveAccents(texts.text(pair.query), plain)) {
      continue;
    }
    unaccented[pair.query] = texts.Intern(plain);
  }
  return unaccented;
}

}  // namespace semrank
