#include "model/text/name_match.h"

namespace semrank {

NameMatch MatchName(std::string_view query, std::string_view id,
                    std::string_view title) {
  if (query.empty()) return NameMatch::kNone;
  if (id == query || title == query) return NameMatch::kName;
  const bool title_begins = title.starts_with(query);
  // Single blanks separate the words of a normalised text.
  if (title_begins && title[query.size()] == ' ') {
    return NameMatch::kLeadingWords;
  }
  return title_begins || id.starts_with(query) ? NameMatch::kPrefix
                                               : NameMatch::kNone;
}

}  // namespace semrank
