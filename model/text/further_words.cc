#include "model/text/further_words.h"

#include <array>

#include "model/text/letter_windows.h"
#include "model/text/normalized_text.h"
#include "model/text/unicode.h"

namespace semrank {
namespace {

constexpr std::int32_t kSharp = 0x266F;  // music sharp sign
constexpr std::int32_t kFractionSlash = 0x2044;

// How a run writes a sign: "#" marks the ends of words in n-grams.
std::int32_t SpelledSign(std::int32_t sign) {
  if (sign == '#') return kSharp;
  return sign == kFractionSlash ? '/' : sign;
}

bool IsCurrency(std::int32_t sign) {
  return sign == '$' || (sign >= 0x80 && sign != kSharp);
}

bool IsJoint(std::int32_t sign) {
  return sign == '-' || sign == '.' || sign == '/' || sign == '_';
}

bool IsKeptBefore(std::int32_t sign) {
  return sign == '.' || sign == kSharp || IsCurrency(sign);
}

bool IsKeptBehind(std::int32_t sign) {
  return sign == '+' || sign == '%' || sign == '*' || sign == '"' ||
         sign == kSharp || IsCurrency(sign);
}

// The letters of Hangul as keyboards and dictionaries write them.
constexpr std::int32_t kFirstSyllable = 0xAC00;
constexpr std::int32_t kLastSyllable = 0xD7A3;
constexpr int kNumVowels = 21;
constexpr int kNumFinals = 28;
constexpr std::int32_t kFirstVowel = 0x314F;
constexpr std::array<std::int32_t, 19> kInitials = {
    0x3131, 0x3132, 0x3134, 0x3137, 0x3138, 0x3139, 0x3141,
    0x3142, 0x3143, 0x3145, 0x3146, 0x3147, 0x3148, 0x3149,
    0x314A, 0x314B, 0x314C, 0x314D, 0x314E};
constexpr std::array<std::int32_t, kNumFinals> kFinals = {
    0,      0x3131, 0x3132, 0x3133, 0x3134, 0x3135, 0x3136,
    0x3137, 0x3139, 0x313A, 0x313B, 0x313C, 0x313D, 0x313E,
    0x313F, 0x3140, 0x3141, 0x3142, 0x3144, 0x3145, 0x3146,
    0x3147, 0x3148, 0x314A, 0x314B, 0x314C, 0x314D, 0x314E};

void AppendSyllable(std::int32_t syllable, std::string& letters) {
  const int index = syllable - kFirstSyllable;
  AppendUtf8(kInitials[index / (kNumVowels * kNumFinals)], letters);
  AppendUtf8(kFirstVowel + index / kNumFinals % kNumVowels, letters);
  const std::int32_t final = kFinals[index % kNumFinals];
  if (final != 0) AppendUtf8(final, letters);
}

}  // namespace

void AppendFurtherWord(std::string_view word, std::string& normalized) {
  const bool is_first = normalized.find(kFurtherWords) == std::string::npos;
  normalized += is_first ? kFurtherWords : ' ';
  normalized += word;
}

void SpelledRuns::Add(std::int32_t code_point, TextClass text_class) {
  switch (text_class) {
    case TextClass::kIgnored:
      return;
    case TextClass::kApostrophe:
      if (!after_letter_) EndRun();
      after_apostrophe_ = after_letter_;
      after_letter_ = false;
      return;
    case TextClass::kSign:
      if (after_apostrophe_) EndRun();
      AddSign(SpelledSign(code_point));
      return;
    case TextClass::kMark:
      if (after_letter_) AddLetter(code_point);
      return;
    case TextClass::kLetter:
      AddLetter(code_point);
      return;
    default:
      EndRun();
  }
}

void SpelledRuns::AddLetter(std::int32_t letter) {
  const bool is_digit = letter >= '0' && letter <= '9';
  const bool is_number = joins_digit_ && is_digit;
  if (kept_bytes_ != run_.size()) {
    has_sign_ |= with_joined_ || is_number || !after_joint_;
  }
  AppendUtf8(letter, run_);
  kept_bytes_ = run_.size();
  after_letter_ = true;
  after_digit_ = is_digit;
  after_apostrophe_ = false;
}

void SpelledRuns::AddSign(std::int32_t sign) {
  if (sign == '"' && !after_digit_) return EndRun();
  if (after_letter_) {
    after_joint_ = true;
    joins_digit_ = after_digit_;
  }
  after_joint_ &= IsJoint(sign);
  after_letter_ = after_digit_ = false;
  if (kept_bytes_ == 0) {  // before the letters
    after_joint_ = false;
    run_.clear();
    if (IsKeptBefore(sign)) AppendUtf8(sign, run_);
    return;
  }
  const bool is_next = kept_bytes_ == run_.size();
  AppendUtf8(sign, run_);
  if (!is_next || !IsKeptBehind(sign)) return;
  kept_bytes_ = run_.size();
  has_sign_ = true;
}

void SpelledRuns::EndRun() {
  if (has_sign_) {
    if (!runs_.empty()) runs_ += ' ';
    runs_.append(run_, 0, kept_bytes_);
  }
  run_.clear();
  kept_bytes_ = 0;
  has_sign_ = after_joint_ = joins_digit_ = false;
  after_letter_ = after_digit_ = after_apostrophe_ = false;
}

bool RemoveAccents(std::string_view word, std::string& plain) {
  plain.clear();
  bool changed = false;
  for (std::size_t i = 0; i < word.size();) {
    std::int32_t code_point;
    i += static_cast<std::size_t>(DecodeFirstOf(word.substr(i), code_point));
    const std::int32_t letter = WithoutAccent(code_point);
    changed |= letter != code_point;
    if (letter != 0) AppendUtf8(letter, plain);
  }
  return changed && !plain.empty();
}

bool SpellHangul(std::string_view word, std::string& letters) {
  letters.clear();
  bool has_syllable = false;
  for (std::size_t i = 0; i < word.size();) {
    std::int32_t code_point;
    i += static_cast<std::size_t>(DecodeFirstOf(word.substr(i), code_point));
    if (code_point < kFirstSyllable || code_point > kLastSyllable) {
      AppendUtf8(code_point, letters);
      continue;
    }
    has_syllable = true;
    AppendSyllable(code_point, letters);
  }
  return has_syllable;
}

}  // namespace semrank
