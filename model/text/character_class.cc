#include "model/text/character_class.h"

#include <utf8proc.h>

namespace semrank {
namespace {

constexpr std::int32_t kRightSingleQuotationMark = 0x2019;

}  // namespace

CharacterClass Classify(std::int32_t code_point) {
  if (code_point == '\'' || code_point == kRightSingleQuotationMark) {
    return CharacterClass::kApostrophe;
  }
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharacterClass::kWord;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return CharacterClass::kMark;
    default:
      return CharacterClass::kBlank;
  }
}

}  // namespace semrank
