// Detects queries that are the name of a document. Search ranks such documents
// above better scores: a person who types "vim" means the package of that name,
// though titles that repeat the word score higher.
//
//   Texts    all from NormalizeName, the id too: "libreoffice-calc" is
//            "libreoffice calc". They are compared without further words, which
//            only order names that are equal.
//   Order    a document of a higher value ranks first; among equal values the
//            score decides.
//   Typos    one edit of a letter is forgiven in queries of four letters and
//            more, but for the first letter, which most people type right.
//            Shorter texts are one edit away from too many others.
#ifndef SEMRANK_MODEL_TEXT_NAME_MATCH_H_
#define SEMRANK_MODEL_TEXT_NAME_MATCH_H_

#include <cstdint>
#include <string_view>

namespace semrank {

enum class NameMatch : std::uint8_t {
  kNone,
  // The id, or the whole title, is one edit away from the query
  // (IsOneEditApart): "postgersql", postgresql.
  kOneEdit,
  // Id or title begins with the query: "postgres", postgresql 15.
  kPrefix,
  // As kPrefix, and the query reaches the last word of the name: "postgres",
  // postgresql. This ranks above kPrefix: a person who stops typing within a
  // name means that name rather than one of the many that add words to it.
  kUnfinishedName,
  // The first words of the title are the query.
  kLeadingWords,
  // The id, or the whole title, is the query.
  kName,
  // As kName, and signs and accents are the same too: "c++", C++ before C.
  kSameSpelling,
  // As kSameSpelling, and the texts are equal as they were typed
  // (IsSameText): "Apple", Apple before apple. MatchName, which has normalised
  // texts only, does not return it.
  kSameText,
};

// True if the texts begin with the same letter and become equal by inserting,
// deleting or replacing one letter, or by swapping two that are adjacent; false
// for equal ones. Letters are code points, and a blank is one; digits are not:
// they distinguish versions.
bool IsOneEditApart(std::string_view a, std::string_view b);

// As IsOneEditApart for two texts of which only the beginnings are known: false
// only if no ends make them equal or one edit apart.
bool MayBeOneEditApart(std::string_view a, std::string_view b);

// Whether MatchName forgives an edit in the query.
bool ForgivesEdit(std::string_view query);

// Returns kNone for an empty query.
NameMatch MatchName(std::string_view query, std::string_view id,
                    std::string_view title);

// Whether two valid texts, which are not normalised, are equal in Unicode's
// form NFC: bytes differ where keyboards compose accents differently. Blanks at
// the ends are ignored.
bool IsSameText(std::string_view a, std::string_view b);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_NAME_MATCH_H_
