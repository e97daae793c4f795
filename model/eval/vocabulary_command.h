// `semrank-eval vocabulary`: Table 1 of the DSSM paper for a word list: how
// many distinct letter n-grams it has, and how many words have the same n-gram
// counts as another word.
#ifndef SEMRANK_MODEL_EVAL_VOCABULARY_COMMAND_H_
#define SEMRANK_MODEL_EVAL_VOCABULARY_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/eval/evaluate_options.h"

namespace semrank {

class CommandLine;

struct VocabularyCommandOptions {
  // One word or text per line; each distinct word counts once.
  std::string words;
  // One row each, in [kMinNgramLength, kMaxNgramLength].
  std::vector<int> ngram_lengths = {2, 3};
  OutputFormat output = OutputFormat::kTable;
  BadLineLimit max_bad_lines = {};
};

// The distinct words of a file of texts, the most frequent first.
// FailedPrecondition when there is none.
absl::StatusOr<std::vector<std::string>> ReadWords(const std::string& path,
                                                   int normalizer_version,
                                                   BadLines& bad_lines);

// The flags of the command; form of the output and bad lines are the program's.
void AddVocabularyOptions(CommandLine& flags,
                          VocabularyCommandOptions& options);

// FlagError without words.
absl::Status RunVocabularyCommand(const VocabularyCommandOptions& options,
                                  std::ostream& out);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_VOCABULARY_COMMAND_H_
