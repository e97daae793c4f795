#include "model/train/data/unaccented_queries.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "model/text/further_words.h"

namespace semrank {

UnaccentedQueries FindUnaccentedQueries(
    std::span<const TextPair> pairs,
    std::initializer_list<std::span<const TextPair>> held_out,
    TextInterner& texts) {
  absl::flat_hash_set<TextId> queries;
  for (const TextPair& pair : pairs) queries.insert(pair.query);
  for (const std::span<const TextPair> held : held_out) {
    for (const TextPair& pair : held) queries.insert(pair.query);
  }
  UnaccentedQueries unaccented;
  std::string plain;
  // In the order of the pairs, so that all processes of a run number the new
  // texts alike.
  for (const TextPair& pair : pairs) {
    if (unaccented.contains(pair.query) ||
        !RemoveAccents(texts.text(pair.query), plain)) {
      continue;
    }
    const TextId id = texts.Intern(plain);
    if (!queries.contains(id)) unaccented[pair.query] = id;
  }
  return unaccented;
}

}  // namespace semrank
