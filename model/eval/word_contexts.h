// One word in different contexts, as a CLSM tells them apart (table 2 of the
// paper): the cosine of the vectors h_t (eq. 2) of the windows around it.
#ifndef SEMRANK_MODEL_EVAL_WORD_CONTEXTS_H_
#define SEMRANK_MODEL_EVAL_WORD_CONTEXTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/input_lines.h"
#include "model/nn/clsm_tower.h"
#include "model/text/featurizer.h"

namespace semrank {

struct WordContext {
  std::string window;  // "free [office] 2000"
  float cosine = 0;    // with the first context
};

// The distinct windows around `word`, normalised, in the lines of a file: the
// first one, then the others by falling cosine with it, of equal ones in the
// order of the file. Empty when no line has the word. Fails as ForEachLine.
absl::StatusOr<std::vector<WordContext>> FindWordContexts(
    const std::string& path, std::string_view word, const ClsmTower& tower,
    const Featurizer& featurizer, BadLines& bad_lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVAL_WORD_CONTEXTS_H_
