// SpelledRuns writes the characters of a run into run_ as they come. The first
// kept_bytes_ of them, up to the last letter or kept sign, belong to the run;
// signs after them only if another letter follows. EndRun drops the rest, and
// the whole run if it has no sign that makes it more than a word.
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

// Writes two or three letters and returns their bytes. A syllable is
// kFirstSyllable + (initial * 21 + vowel) * 28 + final (The Unicode
// Standard, 3.12).
int WriteSyllable(std::int32_t syllable, char* out) {
  const int index = syllable - kFirstSyllable;
  const std::int32_t final = kFinals[index % kNumFinals];
  int size = EncodeTo(kInitials[index / (kNumVowels * kNumFinals)], out);
  size += EncodeTo(kFirstVowel + index / kNumFinals % kNumVowels, out + size);
  return final == 0 ? size : size + EncodeTo(final, out + size);
}

// Writes the word with each syllable in letters. Returns its end, or null if it
// has no syllable.
char* WriteHangulLetters(std::string_view word, char* out) {
  bool has_syllable = false;
  for (std::size_t i = 0; i < word.size();) {
    // Syllables have three bytes, and so says the first of them.
    if ((word[i] & 0xF0) != 0xE0) {
      *out++ = word[i++];
      continue;
    }
    const std::int32_t code_point = (word[i] & 0xF) << 12 |
                                    (word[i + 1] & 0x3F) << 6 |
                                    (word[i + 2] & 0x3F);
    const bool is_syllable =
        code_point >= kFirstSyllable && code_point <= kLastSyllable;
    has_syllable |= is_syllable;
    out += is_syllable ? WriteSyllable(code_point, out)
                       : EncodeTo(code_point, out);
    i += 3;
  }
  return has_syllable ? out : nullptr;
}

}  // namespace

void AppendFurtherWords(std::string_view words, std::string& normalized) {
  if (words.empty()) return;
  const bool is_first = normalized.find(kFurtherWords) == std::string::npos;
  normalized += is_first ? kFurtherWords : ' ';
  normalized += words;
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
  // Signs precede this letter. Signs that only join words make no further word,
  // unless they join digits ("3.5").
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
  // After a digit the mark is the sign of inches; elsewhere it quotes.
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
  // A sign after the letters is kept only if no dropped one is between.
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

bool RemoveAccents(std::string_view words, std::string& plain) {
  plain.clear();
  bool changed = false;
  for (std::size_t i = 0; i < words.size();) {
    std::int32_t code_point;
    const int length = DecodeFirstOf(words.substr(i), code_point);
    if (length < 1) return false;
    i += static_cast<std::size_t>(length);
    const std::int32_t letter = WithoutAccent(code_point);
    changed |= letter != code_point;
    if (letter != 0) AppendUtf8(letter, plain);
  }
  return changed && !plain.empty();
}

void AppendHangulLetters(std::string& normalized) {
  const std::size_t size = normalized.size();
  // Three letters of three bytes for each syllable of three.
  normalized.resize(size + 1 + 3 * size);
  char* out = normalized.data() + size;
  char separator = kFurtherWords;
  ForEachWord({normalized.data(), size}, [&](std::string_view word) {
    *out = separator;
    char* const end = WriteHangulLetters(word, out + 1);
    if (end == nullptr) return;
    out = end;
    separator = ' ';
  });
  normalized.resize(static_cast<std::size_t>(out - normalized.data()));
}

}  // namespace semrank
