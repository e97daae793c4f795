#include "model/text/name_match.h"

#include <algorithm>

namespace semrank {
namespace {

// Single blanks separate the words of a normalised text.
constexpr char kBlank = ' ';

// kPrefix, kUnfinishedName or kNone.
NameMatch MatchStart(std::string_view query, std::string_view name) {
  if (!name.starts_with(query)) return NameMatch::kNone;
  return name.find(kBlank, query.size()) == std::string_view::npos
             ? NameMatch::kUnfinishedName
             : NameMatch::kPrefix;
}

}  // namespace

NameMatch MatchName(std::string_view query, std::string_view id,
                    std::string_view title) {
  if (query.empty()) return NameMatch::kNone;
  if (id == query || title == query) return NameMatch::kName;
  if (title.starts_with(query) && title[query.size()] == kBlank) {
    return NameMatch::kLeadingWords;
  }
  return std::max(MatchStart(query, id), MatchStart(query, title));
}

}  // namespace semrank
