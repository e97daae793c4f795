// The further words of version 2 of the normalizer: how a text was spelled, and
// other spellings of its words.
#ifndef SEMRANK_MODEL_TEXT_FURTHER_WORDS_H_
#define SEMRANK_MODEL_TEXT_FURTHER_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/text/character_table.h"

namespace semrank {

// Appends words, with a blank between two, as further words of `normalized`.
void AppendFurtherWords(std::string_view words, std::string& normalized);

// Collects runs of letters and signs such as c++, .net, at&t, 3.5 and 5", as
// they are spelled. Signs that end a sentence or bracket a word are not part of
// a run: before the letters it keeps one of . $ #, after them + # % * and the
// quotation mark after a digit, and inside any sign. A currency sign is kept in
// every place. "#" is written as U+266F, since it marks the ends of words.
//
// The signs - . / _ join words that stand in the text already. Between letters
// they make a run only if `with_joined`: as features such runs cost more than
// they gave (tldr, letter tf-idf: NDCG@10 .306 for .309).
class SpelledRuns {
 public:
  explicit SpelledRuns(bool with_joined) : with_joined_(with_joined) {}

  // Takes the characters of a text, folded, in order.
  void Add(std::int32_t code_point, TextClass text_class);
  // Ends the text.
  void Finish() { EndRun(); }

  // The runs with signs so far, joined by blanks.
  const std::string& runs() const { return runs_; }

 private:
  void AddLetter(std::int32_t letter);
  void AddSign(std::int32_t sign);
  void EndRun();

  const bool with_joined_;
  std::string run_;
  // The bytes of run_ up to its last letter or kept sign; 0 before a letter.
  std::size_t kept_bytes_ = 0;
  bool has_sign_ = false;  // among the kept bytes, one that makes a run
  // Whether all signs since the last letter join words, and the letter is a
  // digit.
  bool after_joint_ = false;
  bool joins_digit_ = false;
  bool after_letter_ = false;
  bool after_digit_ = false;
  bool after_apostrophe_ = false;
  std::string runs_;
};

// Replaces `plain` by the words without their accents. False if they have none,
// or are not valid UTF-8.
bool RemoveAccents(std::string_view words, std::string& plain);

// Appends each word with Hangul syllables once more as a further word, in
// letters as they are typed: 한 is ㅎㅏㄴ. `normalized`, which is valid UTF-8,
// has no further words yet.
void AppendHangulLetters(std::string& normalized);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_FURTHER_WORDS_H_
