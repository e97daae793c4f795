#include "model/text/normalizer_v2.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "model/base/status_macros.h"
#include "model/text/character_table.h"
#include "model/text/further_words.h"
#include "model/text/normalized_text.h"
#include "model/text/normalizer_v1.h"
#include "model/text/unicode.h"

namespace semrank {
namespace {

// What decides how a text is read.
struct TextKind {
  bool is_ascii = true;
  // Whether an ASCII text may have signs, or a grave accent for an apostrophe.
  bool has_signs = false;
};

// Compilers turn the loops over a block into a few vector instructions.
constexpr std::size_t kBlockBytes = 16;
using Block = std::array<unsigned char, kBlockBytes>;

void LookAt(const Block& text, Block& bytes, Block& signs) {
  for (std::size_t i = 0; i < kBlockBytes; ++i) {
    const unsigned char c = text[i];
    bytes[i] |= c;
    // From " to /, but for the comma, which nearly always ends a word.
    const bool sign = (c >= '"') & (c <= '/') & (c != ',');
    signs[i] |= sign | (c == '_') | (c == '`');
  }
}

TextKind KindOf(std::string_view text) {
  Block bytes = {}, signs = {}, block = {};
  const auto look_at = [&](const char* begin, std::size_t size) {
    std::memcpy(block.data(), begin, size);
    LookAt(block, bytes, signs);
  };
  if (text.size() < kBlockBytes) {
    // An empty view may have no data, which memcpy must not get.
    if (!text.empty()) look_at(text.data(), text.size());
  } else {
    for (std::size_t i = kBlockBytes; i < text.size(); i += kBlockBytes) {
      look_at(text.data() + i - kBlockBytes, kBlockBytes);
    }
    // Some bytes twice, rather than a part of a block.
    look_at(text.data() + text.size() - kBlockBytes, kBlockBytes);
  }
  unsigned char any_byte = 0, any_sign = 0;
  for (std::size_t k = 0; k < kBlockBytes; ++k) {
    any_byte |= bytes[k];
    any_sign |= signs[k];
  }
  return {any_byte < 0x80, any_sign != 0};
}

// Writes the words of folded characters.
class WordWriter {
 public:
  // Every character takes at most five bytes at `out`.
  WordWriter(WordForm form, char* out)
      : splits_scripts_(form == WordForm::kFeatures), begin_(out), out_(out) {}

  void Add(std::int32_t code_point, TextClass text_class) {
    switch (text_class) {
      case TextClass::kIgnored:
        dropped_ = true;
        return;
      case TextClass::kMark:
        return AddMark(code_point);
      case TextClass::kApostrophe:
        // It is inside a word only if a letter follows.
        if (after_apostrophe_) EndWord();
        after_apostrophe_ = in_word_;
        return;
      case TextClass::kSign:
        has_signs_ = true;
        return EndWord();
      case TextClass::kBlank:
        return EndWord();
      default:
        return AddLetter(code_point, text_class);
    }
  }

  // The end of the words.
  char* Finish() {
    if (out_ != begin_ && out_[-1] == ' ') --out_;
    return out_;
  }

  // Whether further words may be needed.
  bool has_signs() const { return has_signs_; }
  bool has_hangul() const { return has_hangul_; }
  bool has_accents() const { return has_accents_; }
  // Whether characters that are now neighbours may compose.
  bool dropped() const { return dropped_; }

 private:
  void EndWord() {
    if (in_word_) *out_++ = ' ';
    in_word_ = after_apostrophe_ = flag_is_open_ = false;
  }

  void AddMark(std::int32_t mark) {
    // An apostrophe before a mark is not inside: the mark belongs to it.
    if (after_apostrophe_) EndWord();
    // The dot of the Turkish capital I is that of the small one.
    const bool is_dot = mark == 0x307 && last_ == 'i';
    if (!in_word_ || class_ >= TextClass::kEmoji || is_dot) {
      dropped_ = true;
      return;
    }
    Write(mark);
  }

  void AddLetter(std::int32_t letter, TextClass text_class) {
    if (in_word_ && BeginsWord(text_class)) EndWord();
    flag_is_open_ = text_class == TextClass::kFlag && !flag_is_open_;
    dropped_ |= after_apostrophe_;
    after_apostrophe_ = false;
    has_hangul_ |= text_class == TextClass::kHangul;
    in_word_ = true;
    class_ = text_class;
    Write(letter);
  }

  bool BeginsWord(TextClass text_class) const {
    if (text_class == TextClass::kFlag) return !flag_is_open_;
    if (std::max(text_class, class_) >= TextClass::kEmoji) return true;
    return splits_scripts_ &&
           (text_class != class_ || text_class == TextClass::kIdeograph);
  }

  void Write(std::int32_t code_point) {
    last_ = code_point;
    if (code_point < 0x80) {
      *out_++ = static_cast<char>(code_point);
      return;
    }
    if (!splits_scripts_) {  // a name
      has_accents_ |= WithoutAccent(code_point) != code_point;
    }
    out_ += EncodeTo(code_point, out_);
  }

  bool splits_scripts_;
  char* begin_;
  char* out_;
  bool in_word_ = false;
  bool after_apostrophe_ = false;
  bool flag_is_open_ = false;
  TextClass class_ = TextClass::kBlank;  // of the word's last letter
  std::int32_t last_ = 0;
  bool has_signs_ = false;
  bool has_hangul_ = false;
  bool has_accents_ = false;
  bool dropped_ = false;
};

// Calls visit(code point, class) for each character of a text of simple
// characters. Returns false at the first other one, or at invalid UTF-8.
template <typename Visitor>
bool ForEachSimple(std::string_view text, Visitor visit) {
  const TextCharacter* const characters = TextCharacters().data();
  for (std::size_t i = 0; i < text.size();) {
    std::int32_t code_point = static_cast<unsigned char>(text[i]);
    int size = 1;
    if (code_point >= 0x80) size = DecodeFirstOf(text.substr(i), code_point);
    if (size < 1 || code_point >= kTabledCharacters) return false;
    const TextCharacter character = characters[code_point];
    if (!character.is_simple) return false;
    visit(static_cast<std::int32_t>(character.folded), character.text_class);
    i += static_cast<std::size_t>(size);
  }
  return true;
}

// Removes the accents that writers may omit.
void OmitAccents(CodePoints& text) {
  auto out = text.begin();
  bool omits = false;
  for (const std::int32_t c : text) {
    if (TextClassOf(c) != TextClass::kMark) omits = OmitsAccents(c);
    const std::int32_t letter = omits ? WithoutAccent(c) : c;
    if (letter != 0) *out++ = letter;
  }
  text.erase(out, text.end());
}

// The characters of any text, folded.
absl::Status FoldText(std::string_view text, CodePoints& folded) {
  CodePoints code_points;
  SEMRANK_RETURN_IF_ERROR(DecodeUtf8(text, code_points));
  folded.reserve(code_points.size());
  for (const std::int32_t code_point : code_points) {
    if (BeginsNumber(code_point)) folded.push_back(' ');
    const std::int32_t kept = ReplaceBeforeFolding(code_point);
    if (kept != 0) folded.push_back(kept);
  }
  FoldToFixedPoint(folded);
  OmitAccents(folded);
  return absl::OkStatus();
}

// A text as characters that are folded: visits them as often as needed.
class FoldedText {
 public:
  explicit FoldedText(std::string_view text) : text_(text) {}

  // The caller calls this when ForEach has returned false.
  absl::Status FoldFully() {
    is_simple_ = false;
    return FoldText(text_, folded_);
  }

  // The most bytes that WordWriter writes.
  std::size_t MaxBytes() const {
    // A simple character of n bytes gives at most 2 n - 1, and a blank.
    return is_simple_ ? 2 * text_.size() : 5 * folded_.size();
  }

  template <typename Visitor>
  bool ForEach(Visitor visit) const {
    if (is_simple_) return ForEachSimple(text_, visit);
    for (const std::int32_t c : folded_) visit(c, TextClassOf(c));
    return true;
  }

 private:
  std::string_view text_;
  bool is_simple_ = true;
  CodePoints folded_;
};

// Characters that are neighbours since others were dropped may compose.
void FoldAgain(std::string& words) {
  CodePoints folded;
  // Cannot fail: the words are UTF-8.
  DecodeUtf8(words, folded).IgnoreError();
  FoldToFixedPoint(folded);
  EncodeUtf8(folded, words);
}

template <typename ForEachCharacter>
std::string RunsOf(WordForm form, ForEachCharacter for_each) {
  SpelledRuns runs(/*with_joined=*/form == WordForm::kName);
  for_each(
      [&](std::int32_t c, TextClass text_class) { runs.Add(c, text_class); });
  runs.Finish();
  return runs.runs();
}

// The name in words without accents; those with accents are further words.
void SwapAccents(std::string& words) {
  std::string plain_words, accented_words, plain;
  const auto append = [](std::string_view word, std::string& to) {
    if (!to.empty()) to += ' ';
    to += word;
  };
  ForEachWord(words, [&](std::string_view word) {
    const bool has_accents = RemoveAccents(word, plain);
    append(has_accents ? plain : word, plain_words);
    if (has_accents) append(word, accented_words);
  });
  words = std::move(plain_words);
  FoldAgain(words);
  // At once: each call searches the further words from the start of the text.
  AppendFurtherWords(accented_words, words);
}

absl::Status NormalizeOther(std::string_view text, WordForm form,
                            std::string& normalized) {
  FoldedText folded(text);
  normalized.resize(folded.MaxBytes());
  WordWriter writer(form, normalized.data());
  const auto write = [&](std::int32_t c, TextClass text_class) {
    writer.Add(c, text_class);
  };
  // At the first character that is not simple the whole text is folded by the
  // full algorithms and written anew.
  if (!folded.ForEach(write)) {
    if (absl::Status status = folded.FoldFully(); !status.ok()) {
      normalized.clear();
      return status;
    }
    normalized.resize(folded.MaxBytes());
    writer = WordWriter(form, normalized.data());
    folded.ForEach(write);
  }
  normalized.resize(writer.Finish() - normalized.data());
  if (writer.dropped()) FoldAgain(normalized);
  // The words end at signs, so runs of both are collected in a pass of
  // their own.
  std::string runs;
  if (writer.has_signs()) {
    runs = RunsOf(form, [&](auto visit) { folded.ForEach(visit); });
    if (writer.dropped()) FoldAgain(runs);
  }
  if (form == WordForm::kName) {
    if (writer.has_accents()) SwapAccents(normalized);
  } else if (writer.has_hangul()) {
    AppendHangulLetters(normalized);
  }
  AppendFurtherWords(runs, normalized);
  return absl::OkStatus();
}

}  // namespace

absl::Status NormalizeTextV2(std::string_view text, WordForm form,
                             std::string& normalized) {
  const TextKind kind = KindOf(text);
  if (!kind.is_ascii) return NormalizeOther(text, form, normalized);
  // The rules of version 1 do not take a grave accent for an apostrophe.
  if (kind.has_signs && text.find('`') != std::string_view::npos) {
    return NormalizeOther(text, form, normalized);
  }
  // The rules for ASCII are those of version 1, and its loops are fast.
  if (!kind.has_signs) {
    NormalizePlainAscii(text, normalized);
    return absl::OkStatus();
  }
  SEMRANK_RETURN_IF_ERROR(NormalizeTextV1(text, normalized));
  AppendFurtherWords(
      RunsOf(form, [&](auto visit) { ForEachSimple(text, visit); }),
      normalized);
  return absl::OkStatus();
}

}  // namespace semrank
