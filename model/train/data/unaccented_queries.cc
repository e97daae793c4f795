#include "model/train/data/unaccented_queries.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "model/text/further_words.h"

namespace semrank {

UnaccentedQueries FindUnaccentedQueries(
    std::span<const TextPair> pairs,
    std::initializer_list<std::span<const TextPair>> held_out,
    TextInterner& texts) {
  absl::flat_hash_set<TextId> omitted;
  for (const TextPair& pair : pairs) omitted.insert(pair.query);
  for (const std::span<const TextPair> held : held_out) {
    for (const TextPair& pair : held) omitted.insert(pair.query);
  }
  UnaccentedQueries unaccented;
  absl::flat_hash_map<TextId, TextId> accented;  // by the text without accents
  std::string plain;
  for (const TextPair& pair : pairs) {
    if (!RemoveAccents(texts.text(pair.query), plain)) continue;
    const TextId id = texts.Intern(plain);
    if (omitted.contains(id)) continue;
    const auto [first, is_new] = accented.try_emplace(id, pair.query);
    if (is_new) {
      unaccented[pair.query] = id;
    } else if (first->second != pair.query) {
      unaccented.erase(first->second);
    }
  }
  return unaccented;
}

}  // namespace semrank
