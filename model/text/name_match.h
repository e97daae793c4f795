// Whether a query is the name of a document. Search lifts such documents above
// better scores: a person who types "vim" means the package of that name,
// though titles that repeat the word score higher.
//
//   Texts    all normalised (see normalizer.h), the id too: "libreoffice-calc"
//            is "libreoffice calc".
//   Order    a document of a higher value ranks first; among equal values the
//            score decides.
//   Index    every match begins with the query: in a sorted list of ids and
//            titles the matches are one range each.
//   Threads  thread-safe free function.
#ifndef SEMRANK_MODEL_TEXT_NAME_MATCH_H_
#define SEMRANK_MODEL_TEXT_NAME_MATCH_H_

#include <cstdint>
#include <string_view>

namespace semrank {

enum class NameMatch : std::uint8_t {
  kNone,
  // Id or title begins with the query: "postgres", postgresql 15.
  kPrefix,
  // The same, and the query reaches its last word: "postgres", postgresql.
  // Before kPrefix: a person who stops typing within a name means that name
  // rather than one of the many that add words to it.
  kUnfinishedName,
  // The first words of the title are the query.
  kLeadingWords,
  // The id, or the whole title, is the query.
  kName,
};

// kNone for an empty query.
NameMatch MatchName(std::string_view query, std::string_view id,
                    std::string_view title);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_NAME_MATCH_H_
