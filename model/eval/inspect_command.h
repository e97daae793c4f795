// `semrank-eval inspect`: what the units of a model stand for.
//
//   * With a word list: the words that excite each unit of the output layer
//     most, each word embedded as a text of its own (table 7 of the DSSM
//     paper).
//   * With a query and a title, for a CLSM: the units of the max-pooling layer
//     that are most active in both, by the product of their activations, and
//     the words that won them (figure 4 and tables 3 and 8 of the CLSM paper).
//   * With a word and texts, for a CLSM: the cosine of the word's convolution
//     vectors in different contexts (table 2 of the CLSM paper).
//   * With words and texts, without a model: the words that occur in the same
//     texts most, by DICE (SSI 2.2.1).
#ifndef SEMRANK_MODEL_EVAL_INSPECT_COMMAND_H_
#define SEMRANK_MODEL_EVAL_INSPECT_COMMAND_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/eval/evaluate_options.h"
#include "model/nn/two_tower_model.h"

namespace semrank {

class CommandLine;

struct InspectCommandOptions {
  // The model and its version; 0 = the highest.
  std::string model_dir;
  std::int64_t model_version = 0;
  // One word or text per line. Either this, or query and title.
  std::string words;
  Side side = Side::kDocument;  // the tower that embeds the words
  int num_words = 6;  // printed for each unit or correlated word, at least 1
  // At most one of them, with `words`.
  std::string context_word;
  std::vector<std::string> correlated;
  std::string query;
  std::string title;
  int num_units = 5;  // printed for a query and a title, at least 1
  OutputFormat output = OutputFormat::kTable;
  // Figure 4 of the CLSM paper, for a query and a title; empty = none.
  std::string svg_out;
  BadLineLimit max_bad_lines = {};
};

// The flags of the command; model, form of the output, figure and bad lines are
// the program's.
void AddInspectOptions(CommandLine& flags, InspectCommandOptions& options);

// FlagError for flags that are missing or exclude each other, for what needs a
// CLSM with another model, and for a word that no text has; otherwise fails as
// LoadModel does.
absl::Status RunInspectCommand(const InspectCommandOptions& options,
                               std::ostream& out);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_INSPECT_COMMAND_H_
